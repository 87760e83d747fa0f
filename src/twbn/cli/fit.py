"""The command that fits the parameters of a structure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out
from twbn.cli.files import check_target, like_result, read_data
from twbn.cli.options import Out
from twbn.errors import OptionError
from twbn.search import read_result

__all__ = ["fit"]


def fit(
    result: Annotated[Path, typer.Argument(help="Result file (JSON).", metavar="RESULT")],
    data: Annotated[Path, typer.Option("--data", help="The table.", metavar="DATA")],
    out_file: Out,
    ess: Annotated[
        float, typer.Option(help="Equivalent sample size of the prior; 0: maximum likelihood.")
    ] = 1.0,
) -> None:
    """Fit the parameters of a learned structure; -o writes the network."""
    check_target(out_file)
    learned = read_result(result)
    table = read_data(data, learned.data_options, like_result(learned))
    if learned.names != table.names:
        odd = next((n for n in learned.names if n not in table.names), None)
        detail = "" if odd is None else f": {odd!r} is no column"
        if odd == "0":  # scores without names
            detail += "; write the scores with names (twbn score --names), or learn from the table"
        msg = f"{result} has other variables than {data}, or in another order{detail}"
        raise OptionError(msg)
    network = twbn.fit(learned, table, ess=ess)
    twbn.write_network(network, out_file)
    out.print(f"{network.n_parameters:,} parameters; written to {escape(str(out_file))}")
