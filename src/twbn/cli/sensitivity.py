"""The command that says on which parameters a posterior depends most."""

from __future__ import annotations

from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out, print_json
from twbn.cli.options import AsJson, Evidence, Net, evidence_of
from twbn.errors import OptionError

__all__ = ["sensitivity"]


def sensitivity(
    net: Net,
    target: Annotated[
        str,
        typer.Option("-q", "--query", help="State of interest.", metavar="VARIABLE=STATE"),
    ],
    evidence: Evidence = None,
    n: Annotated[int, typer.Option("-n", help="Parameters to print.", min=1)] = 10,
    as_json: AsJson = False,
) -> None:
    """Print the parameters that a posterior depends on most, with its derivatives."""
    variable, equals, state = target.partition("=")
    if not equals:
        msg = f"--query must be VARIABLE=STATE, got {target!r}"
        raise OptionError(msg)
    engine = twbn.Inference(twbn.read_network(net))
    found = engine.sensitivity(variable, state, evidence_of(evidence))
    rows = found.top(n)
    if as_json:
        parameters = [row._asdict() for row in rows]
        print_json({"posterior": found.posterior, "parameters": parameters})
        return
    out.print(f"P({escape(target)}) = {found.posterior:.6f}; derivative, value and parameter")
    for row in rows:
        given = ", ".join(f"{name}={state}" for name, state in row.parents.items())
        text = f"{row.variable}={row.state}" + (f" | {given}" if given else "")
        out.print(f"  {row.derivative:+.6f}  {row.value:.6f}  {escape(text)}")
