"""The command that prints the most probable explanation."""

from __future__ import annotations

from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out, print_json
from twbn.cli.files import engine_of, read_model
from twbn.cli.options import AsJson, Do, Evidence, Net, evidence_of

__all__ = ["mpe"]


def mpe(
    net: Net,
    evidence: Evidence = None,
    do: Do = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds, for a mixture: its answer may need a search.")
    ] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Print the most probable states of all variables, given evidence and interventions."""
    model = read_model(net)
    engine = engine_of(model)
    known = evidence_of(evidence)
    if do:
        engine = engine.under(evidence_of(do, "--do"), known)
    if isinstance(model, twbn.Mixture):
        found = engine.explanation(known, time_limit=time_limit)
        best, log_probability = found.states, found.log_probability
        bound = None if found.exact else found.bound
    else:
        best, bound = engine.most_probable(known), None
        log_probability = engine.log_evidence(best)
    if as_json:
        proof = {"exact": bound is None, "bound": log_probability if bound is None else bound}
        print_json({"log_probability": log_probability, "states": best, **proof})
        return
    for name, state in best.items():
        out.print(f"{escape(name)}={escape(str(state))}")
    out.print(f"log probability {log_probability:.6f}")
    if bound is not None:
        out.print(f"not proved: others may have up to {bound:.6f}; --time-limit gives it longer")
