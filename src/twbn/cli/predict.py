"""The command that predicts one variable in every row."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from twbn.cli.console import escape, out
from twbn.cli.files import check_target, coded_rows, engine_of, read_model, write_csv
from twbn.cli.options import Data, Do, OptionalOut, evidence_of
from twbn.files import writing

__all__ = ["predict"]


def predict(
    data: Data,
    net: Annotated[Path, typer.Option("--net", help="The network.", metavar="NET")],
    target: Annotated[str, typer.Option("-q", "--query", help="Variable to predict.")],
    reading: dict[str, Any],
    do: Do = None,
    out_file: OptionalOut = None,
) -> None:
    """Predict one variable in every row: its most probable state and all probabilities."""
    check_target(out_file)
    network = read_model(net)
    states = network.states[network.index(target)]
    rows_read = coded_rows(data, network, reading, target)
    set_to = evidence_of(do, "--do") if do else None
    values = engine_of(network).predict_proba(rows_read, target, do=set_to)
    rows = [[states[int(row.argmax())], *row.tolist()] for row in values]
    names = [target, *(f"P({target}={state})" for state in states)]
    if out_file is None:
        write_csv(sys.stdout, names, rows)
        return
    with writing(out_file) as file:
        write_csv(file, names, rows)
    out.print(f"{len(rows):,} rows; written to {escape(str(out_file))}")
