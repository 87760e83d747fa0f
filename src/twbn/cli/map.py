"""The command that answers marginal MAP queries."""

from __future__ import annotations

from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out, print_json
from twbn.cli.options import AsJson, Do, Evidence, Net, Query, evidence_of

__all__ = ["map_states"]


def map_states(
    net: Net,
    variables: Query,
    evidence: Evidence = None,
    do: Do = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds, if the query is too wide for an exact answer.")
    ] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Print the most probable states of some variables, the others summed out (marginal MAP)."""
    engine = twbn.Inference(twbn.read_network(net))
    known = evidence_of(evidence)
    if do:
        engine = engine.under(evidence_of(do, "--do"), known)
    found = engine.marginal_map(variables, known, time_limit=time_limit)
    if as_json:
        print_json(
            {
                "states": found.states,
                "log_probability": found.log_probability,
                "bound": found.bound,
                "exact": found.exact,
            }
        )
        return
    for name, state in found.states.items():
        out.print(f"{escape(name)}={escape(str(state))}")
    standing = "exact" if found.exact else f"upper bound {found.bound:.6f}"
    out.print(
        f"log probability {found.log_probability:.6f} ({standing}; constrained width "
        f"{found.cost.width}, {found.cost.n_entries:,} entries)"
    )
