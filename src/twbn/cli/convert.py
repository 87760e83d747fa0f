"""The command that converts network files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import twbn
from twbn.cli.console import escape, out
from twbn.cli.files import check_target, read_model
from twbn.cli.options import Net
from twbn.errors import OptionError

__all__ = ["convert"]


def convert(
    source: Net,
    target: Annotated[Path, typer.Argument(help="Output; format by extension.", metavar="FILE")],
    dialect: Annotated[
        str | None, typer.Option(help="Dialect of a UAI input: uai, agrum or pgmpy.")
    ] = None,
) -> None:
    """Read a network in one format and write it in another."""
    check_target(target)
    if dialect is not None and ".uai" not in source.suffixes:
        msg = f"--dialect is for UAI files, {source} is not one"
        raise OptionError(msg)
    options = {} if dialect is None else {"dialect": dialect}
    network = twbn.read_network(source, **options) if options else read_model(source)
    if isinstance(network, twbn.Mixture):
        twbn.write_mixture(network, target)
    else:
        twbn.write_network(network, target)
    out.print(f"{escape(repr(network))}; written to {escape(str(target))}")
