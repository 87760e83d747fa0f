"""The command that writes the page of a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from twbn.cli.console import escape, out
from twbn.cli.files import (
    check_page,
    is_mixture_file,
    like_result,
    read_data,
    read_model,
    read_result_or_network,
)
from twbn.errors import OptionError
from twbn.network import Network
from twbn.report import write_report
from twbn.search import SearchResult

__all__ = ["report"]


def report(
    source: Annotated[
        Path,
        typer.Argument(help="Result, network (.json, .bif, …) or mixture.", metavar="RESULT|NET"),
    ],
    page: Annotated[Path, typer.Option("-o", "--out", help="Page to write.", metavar="PAGE.html")],
    data: Annotated[
        Path | None,
        typer.Option(help="Data to fit a result's parameters.", metavar="DATA"),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
) -> None:
    """Write one HTML file with the network, its proof, and a panel that answers queries."""
    check_page(page, source, data)
    found = read_model(source) if is_mixture_file(source) else read_result_or_network(source)
    table = None
    if data is not None:
        if not isinstance(found, SearchResult):
            kind = "network" if isinstance(found, Network) else "mixture"
            msg = f"--data gives a result its parameters; {source} is a {kind} and has its own"
            raise OptionError(msg)
        table = read_data(data, found.data_options, like_result(found))
    write_report(found, page, data=table, title=title or source.stem)
    out.print(f"written to {escape(str(page))}")
    if isinstance(found, SearchResult) and table is None:
        out.print("without parameters the page answers no queries; --data DATA gives it some")
