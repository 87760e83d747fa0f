"""The command that fills missing cells."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer

from twbn.cli.console import escape, out
from twbn.cli.files import (
    check_target,
    check_writes_csv,
    engine_of,
    read_model,
    remembered,
    write_csv,
)
from twbn.cli.options import Data, Out, Seed
from twbn.data.columns import MISSING, NumberColumn
from twbn.data.interpret import Parsing
from twbn.data.read import ReadOptions, delimiter_of, read_columns
from twbn.files import writing
from twbn.inference.fill import HOW, fill_columns

__all__ = ["impute"]


def impute(
    data: Data,
    net: Annotated[Path, typer.Option("--net", help="The network.", metavar="NET")],
    out_file: Out,
    reading: dict[str, Any],
    how: Annotated[
        str, typer.Option(help=f"What to fill in: {', '.join(HOW)} of the posterior.")
    ] = "mean",
    seed: Seed = 0,
) -> None:
    """Fill the missing cells of every row, given the row's other cells; writes text like DATA."""
    check_target(out_file)
    check_writes_csv(out_file)
    engine = engine_of(read_model(net))
    reading = remembered(reading, engine.network)
    options = ReadOptions(
        reading["delimiter"], reading["header"], reading["encoding"], reading["skip_rows"]
    )
    columns = read_columns(data, options)
    missing = (*MISSING, *reading["missing"])
    parsing = Parsing(missing, reading["decimal"], reading["thousands"])
    found = fill_columns(engine, columns, how=how, seed=seed, parsing=parsing)
    # Known cells stay as they are in the file, including columns that the network lacks.
    cells: list[list[Any]] = []
    for column in columns:
        if isinstance(column, NumberColumn):
            texts = ["" if isnan(x) else x for x in column.numbers.tolist()]
        else:
            of_column = [*column.values, ""]
            texts = [of_column[position] for position in column.positions.tolist()]
        if column.name in found:
            for row, value in zip(*found[column.name], strict=True):
                texts[row] = value
        cells.append(texts)
    delimiter = "\t" if ".tsv" in out_file.suffixes else delimiter_of(data, options)
    names = [column.name for column in columns]
    with writing(out_file, encoding=options.encoding or "utf-8") as file:
        write_csv(file, names, zip(*cells, strict=True), delimiter)
    n_filled = sum(len(rows) for rows, _ in found.values())
    out.print(
        f"{n_filled:,} cell{'s' * (n_filled != 1)} filled; written to {escape(str(out_file))}"
    )
