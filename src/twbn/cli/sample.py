"""The command that draws rows from a network."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from twbn.cli.console import escape, out
from twbn.cli.files import cells_of, check_target, read_model, write_csv
from twbn.cli.options import Net, OptionalOut, Seed
from twbn.files import writing

__all__ = ["sample"]


def sample(
    net: Net,
    n_rows: Annotated[int, typer.Option("-n", "--n-rows", help="Number of rows.")] = 100,
    seed: Seed = 0,
    out_file: OptionalOut = None,
) -> None:
    """Draw rows from a network."""
    check_target(out_file)
    table = read_model(net).sample(n_rows, seed=seed)
    if out_file is None:
        write_csv(sys.stdout, table.names, cells_of(table))
        return
    with writing(out_file) as file:
        write_csv(file, table.names, cells_of(table))
    out.print(f"{n_rows:,} rows; written to {escape(str(out_file))}")
