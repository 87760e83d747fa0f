"""The command that fills missing cells."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import twbn
from twbn.cli.console import escape, out
from twbn.cli.files import check_target, coded_rows, write_csv
from twbn.cli.options import Data, Missing, Out
from twbn.data.columns import MISSING
from twbn.data.read import ReadOptions, read_columns
from twbn.files import writing

__all__ = ["impute"]


def impute(
    data: Data,
    net: Annotated[Path, typer.Option("--net", help="The network.", metavar="NET")],
    out_file: Out,
    missing: Missing = None,
) -> None:
    """Fill the missing cells of every row with their most probable states."""
    check_target(out_file)
    network = twbn.read_network(net)
    table = coded_rows(data, network, missing)
    filled = twbn.Inference(network).impute(table)
    # Known cells stay as they are in the file, including columns that the network lacks.
    columns = read_columns(data, ReadOptions(missing=(*MISSING, *(missing or []))))
    cells: list[list[Any]] = []
    n_filled = 0
    for column in columns:
        of_column = [*column.values, ""]
        texts = [of_column[position] for position in column.positions.tolist()]
        if column.name in network.names:
            v = network.index(column.name)
            empty = np.flatnonzero(column.positions < 0).tolist()
            n_filled += len(empty)
            for row in empty:
                texts[row] = network.states[v][filled.codes[row, v]]
        cells.append(texts)
    with writing(out_file) as file:
        write_csv(file, [column.name for column in columns], zip(*cells, strict=True))
    out.print(
        f"{n_filled:,} cell{'s' * (n_filled != 1)} filled; written to {escape(str(out_file))}"
    )
