"""The command that says what would tell most about a variable."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out, print_json
from twbn.cli.options import AsJson, Evidence, Net, evidence_of

__all__ = ["influence"]


def influence(
    net: Net,
    target: Annotated[str, typer.Option("-q", "--query", help="The variable of interest.")],
    evidence: Evidence = None,
    n: Annotated[int, typer.Option("-n", help="Variables to print.", min=1)] = 10,
    as_json: AsJson = False,
) -> None:
    """Print what observing each variable would tell about one, and what each finding has told."""
    engine = twbn.Inference(twbn.read_network(net))
    found = engine.influence(target, evidence_of(evidence))
    if as_json:
        print_json(asdict(found))
        return
    out.print(f"information about {escape(target)} to expect, in nats")
    for name, nats in list(found.information.items())[:n]:
        out.print(f"  {nats:.6f}  {escape(name)}")
    if found.contributions:
        out.print("how far each finding has moved its posterior, in nats")
    for name, nats in found.contributions.items():
        out.print(f"  {nats:.6f}  {escape(name)}")
