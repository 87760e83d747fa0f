"""BLIP's `.dat` files: names, numbers of states, then rows of codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twbn.data.columns import MISSING, RawColumn
from twbn.data.read.delimited import columns_of_rows
from twbn.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["read_dat"]

#: Most states that a file may declare for one column, and for all columns together on top of the
#: length of the file.
MAX_STATES, MAX_ALL_STATES = 2**16, 2**20


def read_dat(path: Path, text: str) -> list[RawColumn]:
    """Return the columns of a `.dat` file; `?` is missing and `#` starts a comment."""
    content = [
        (line, [cell.strip() for cell in (raw.split(",") if "," in raw else raw.split())])
        for line, raw in enumerate(text.splitlines(), start=1)
        if raw.strip() and not raw.lstrip().startswith("#")
    ]
    if len(content) < 3:
        msg = f"{path}: expected a line of names, a line of numbers of states, and rows"
        raise FileFormatError(msg)
    names = content[0][1]
    for line, row in content[1:]:
        if len(row) != len(names):
            msg = f"{path}, line {line}: expected {len(names)} values, found {len(row)}"
            raise FileFormatError(msg)
    line = content[1][0]
    _check_cardinalities(path, line, names, content[1][1], len(text))
    columns = columns_of_rows(names, [row for _, row in content[2:]])
    columns = [column.without({"?", *MISSING}) for column in columns]
    return [
        _with_cardinality(path, line, column, cardinality)
        for column, cardinality in zip(columns, content[1][1], strict=True)
    ]


def _check_cardinalities(
    path: Path, line: int, names: Sequence[str], texts: Sequence[str], length: int
) -> None:
    """Refuse state counts that are not numbers, or are too large for the size of the file."""
    total = 0
    for name, text in zip(names, texts, strict=True):
        if not _is_code(text):
            msg = f"{path}, line {line}: expected the number of states of {name!r}, found {text!r}"
            raise FileFormatError(msg)
        total += int(text)
        if int(text) > MAX_STATES or total > MAX_ALL_STATES + length:
            msg = (
                f"{path}, line {line}: {name!r} is declared with {int(text):,} states; at most "
                f"{MAX_STATES:,} are read for one column, and {MAX_ALL_STATES + length:,} for all"
            )
            raise FileFormatError(msg)


def _with_cardinality(path: Path, line: int, column: RawColumn, text: str) -> RawColumn:
    n_states = int(text)
    if not all(_is_code(str(value)) for value in column.values):
        if len(column.values) > n_states:
            msg = (
                f"{path}, line {line}: {column.name!r} is declared with {n_states} states "
                f"but has {len(column.values)}"
            )
            raise FileFormatError(msg)
        return column  # named states, as GOBNILP allows
    codes = [int(str(value)) for value in column.values]
    if codes and max(codes) >= n_states:
        msg = (
            f"{path}, line {line}: {column.name!r} is declared with {n_states} states "
            f"but holds the value {max(codes)}"
        )
        raise FileFormatError(msg)
    positions = np.array([*codes, -1], dtype=np.int32)[column.positions]
    return RawColumn(column.name, tuple(range(n_states)), positions, ordered=True)


def _is_code(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 8
