"""The command that writes the page of a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out
from twbn.cli.files import check_target, like_result, read_data
from twbn.errors import OptionError
from twbn.report import write_report
from twbn.report.template import require_packages
from twbn.search import SearchResult, read_result

__all__ = ["report"]


def report(
    source: Annotated[
        Path,
        typer.Argument(help="Result file, or network (.json, .bif, …).", metavar="RESULT|NET"),
    ],
    page: Annotated[Path, typer.Option("-o", "--out", help="Page to write.", metavar="PAGE.html")],
    data: Annotated[
        Path | None,
        typer.Option(help="Data to fit a result's parameters.", metavar="DATA"),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
) -> None:
    """Write one HTML file with the network, its proof, and a panel that answers queries."""
    check_target(page)
    require_packages()
    found = _read(source)
    table = None
    if data is not None:
        if not isinstance(found, SearchResult):
            msg = f"--data gives a result its parameters; {source} is a network and has its own"
            raise OptionError(msg)
        table = read_data(data, found.data_options, like_result(found))
    write_report(found, page, data=table, title=title or source.stem)
    out.print(f"written to {escape(str(page))}")
    if isinstance(found, SearchResult) and table is None:
        out.print("without parameters the page answers no queries; --data DATA gives it some")


def _read(path: Path) -> SearchResult | twbn.Network:
    """Read a result or a network, whichever the file says it is."""
    if path.suffix == ".json" and path.is_file():
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):  # the network reader reports what is wrong
            document = None
        if isinstance(document, dict) and document.get("format") == "twbn-result":
            return read_result(path)
    return twbn.read_network(path)
