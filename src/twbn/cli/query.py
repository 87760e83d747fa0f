"""The command that prints posteriors."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out, print_json
from twbn.cli.files import engine_of, read_model
from twbn.cli.options import AsJson, Do, Evidence, MemoryText, Net, Query, evidence_of
from twbn.errors import OptionError

__all__ = ["query"]

Explain = Annotated[
    bool, typer.Option("--explain", help="Also print which variables matter, and the cost.")
]


def query(
    net: Net,
    variables: Query,
    evidence: Evidence = None,
    do: Do = None,
    explain: Explain = False,
    memory_limit: MemoryText = None,
    as_json: AsJson = False,
) -> None:
    """Print the posterior of each queried variable, given evidence and interventions."""
    network = read_model(net)
    engine = engine_of(network, memory_limit=memory_limit)
    if explain and isinstance(network, twbn.Mixture):
        msg = f"--explain is for single networks; {net} is a mixture of {network.n_components}"
        raise OptionError(msg)
    known = evidence_of(evidence)
    if do:
        engine = engine.under(evidence_of(do, "--do"), known)
    costs = {name: engine.cost([name], known) for name in variables if explain}
    answers = {name: engine.query([name], known).to_dict() for name in variables}
    if as_json:
        found = {name: {str(s): p for s, p in a.items()} for name, a in answers.items()}
        about = {name: asdict(cost) for name, cost in costs.items()}
        print_json({"posteriors": found, "costs": about} if explain else found)
        return
    for name, answer in answers.items():
        out.print(f"{escape(name)}")
        for state, probability in answer.items():
            out.print(f"  {probability:.6f}  {escape(str(state))}")
        if explain:
            relevant = costs[name].relevant
            out.print(f"  {costs[name]}")
            out.print(f"  of {network.n_variables}: {escape(', '.join(relevant))}")
