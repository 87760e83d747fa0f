"""The command that adds rows to the parameters of a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import twbn
from twbn.cli.console import escape, out
from twbn.cli.files import check_target, coded_rows
from twbn.cli.options import Net, Out

__all__ = ["update"]


def update(
    net: Net,
    data: Annotated[Path, typer.Option("--data", help="More rows.", metavar="DATA")],
    out_file: Out,
    reading: dict[str, Any],
    forget: Annotated[float, typer.Option(help="Factor for the counts so far, from 0 to 1.")] = 1.0,
) -> None:
    """Add the counts of more rows to a fitted network; -o writes the result."""
    check_target(out_file)
    network = twbn.read_network(net)
    rows = coded_rows(data, network, reading)
    after = network.update(rows, forget=forget)
    twbn.write_network(after, out_file)
    out.print(f"{rows.n_rows:,} rows added; written to {escape(str(out_file))}")
