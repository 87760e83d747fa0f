"""Delimited text: CSV, TSV and their kin."""

from __future__ import annotations

import csv
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from twbn.data.columns import MISSING, RawColumn
from twbn.data.read.engines import MAX_ABOVE, Cells, split_cells
from twbn.errors import FileFormatError, Setting
from twbn.numerals import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from twbn.data.read.options import ReadOptions

__all__ = ["columns_of_rows", "read_delimited", "sniff_delimiter"]

DELIMITERS = ",;\t|"
#: Rows below a title that are looked at.
ROWS_BELOW = 200


def read_delimited(path: Path, content: bytes, options: ReadOptions) -> list[RawColumn]:
    """Return the columns of a text in UTF-8; the name of one that has none is empty."""
    if not content[:1000].strip() and not content.strip():
        msg = f"{path} is empty"
        raise FileFormatError(msg, path=str(path))
    if options.skip_rows:
        content = _blanked(path, content, options.skip_rows)
    delimiter = options.delimiter or sniff_delimiter(content)
    cells = split_cells(path, content, delimiter, options.engine)
    if not cells.n_rows:
        msg = f"{path} has no rows, only blank lines"
        raise FileFormatError(msg, path=str(path))
    if options.header is None and not options.skip_rows:
        _refuse_title(path, cells)
    header = options.header if options.header is not None else _sniff_header(cells)
    if not header:
        return [column.renamed(f"x{v}") for v, column in enumerate(cells.columns, start=1)]
    if cells.n_rows == 1:
        msg = f"{path}, line {cells.line(0)}: a header but no rows below it"
        raise FileFormatError(msg, path=str(path))
    names = cells.row(0)
    return [_below(column, name) for column, name in zip(cells.columns, names, strict=True)]


def _refuse_title(path: Path, cells: Cells) -> None:
    """Raise FileFormatError if the first rows are a title, padded with empty cells to full length.

    That is so if at least half of their cells are empty, and the first full row below them consists
    of texts above a column of numbers.
    """
    width = len(cells.columns)
    for row in range(min(MAX_ABOVE, cells.n_rows - 2)):
        filled = sum(map(bool, cells.row(row)))
        if filled == width:
            last = min(row + ROWS_BELOW, cells.n_rows)
            below = Cells(columns_of_rows([""] * width, [cells.row(r) for r in range(row, last)]))
            if row and not any(map(is_number, cells.row(row))) and _sniff_header(below):
                line = cells.line(row)
                text = f"{path}, line 1: mostly empty cells, but line {line} is full; to leave out "
                what = Setting("skip_rows", line - 1)
                raise FileFormatError(text, "what stands above the table, give ", what)
            return
        if 2 * filled > width:
            return


def _blanked(path: Path, content: bytes, n_lines: int) -> bytes:
    """Return a text with its first lines empty, so that those below keep their numbers."""
    lines = content.split(b"\n", n_lines)
    if len(lines) <= n_lines or not lines[-1].strip():
        msg = f"{path} has nothing below its first {n_lines} lines"
        raise FileFormatError(msg, path=str(path))
    return b"\n" * n_lines + lines[-1]


def _below(column: RawColumn, name: str) -> RawColumn:
    """Return a column without its first row, which names it."""
    positions = column.positions[1:]
    first = int(column.positions[0])
    if (positions == first).any():
        return RawColumn(name, column.values, positions)
    if first == 0:  # as it is where values are numbered as they appear
        return RawColumn(name, column.values[1:], positions - np.int32(1))
    gone = np.arange(len(column.values)) == first
    return RawColumn(name, column.values, positions).dropping(gone)


def sniff_delimiter(content: bytes) -> str:
    """Return the delimiter that splits the first lines most evenly; a space if only that does."""
    text = content[:100_000].decode("utf-8", errors="replace")
    lines = [line for line in text.splitlines()[:50] if line.strip()]
    best, best_key = "", (0.0, 0)
    for delimiter in DELIMITERS:
        key = _evenness(lines, delimiter)
        if key > best_key:
            best, best_key = delimiter, key
    if best:
        return best
    # Spaces also occur within names and cells: they are a delimiter only if they split most lines.
    return " " if _evenness(lines, " ")[0] > 0.5 else ","


def _evenness(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """Return the share of lines with the most frequent number of cells, and that number."""
    try:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True)]
    except csv.Error:
        return (0.0, 0)
    if not widths:
        return (0.0, 0)
    width, times = Counter(widths).most_common(1)[0]
    return (times / len(widths), width) if width > 1 else (0.0, 0)


def _sniff_header(cells: Cells) -> bool:
    """Say whether the first row names the columns.

    It does if one of its texts is above a column of numbers. Otherwise, it does not if it contains
    a number or an empty cell (but for the first one, above row names), or a text that occurs again
    in the same column.
    """
    first = cells.row(0)
    if cells.n_rows == 1:
        return not any(is_number(cell) for cell in first)
    below = [_texts_below(column) for column in cells.columns]
    for name, texts in zip(first, below, strict=True):
        if name and not is_number(name) and texts and all(map(is_number, texts)):
            return True
    if any(map(is_number, first)) or not all(first[1:]):
        return False
    return not any(name in texts for name, texts in zip(first, below, strict=True) if name)


def _texts_below(column: RawColumn) -> set[str]:
    """Return the texts of a column below its first row, but for those that mean a missing cell."""
    texts = {str(value) for value in column.values}
    first = int(column.positions[0])
    if not (column.positions[1:] == first).any():
        texts.discard(str(column.values[first]))
    return texts - set(MISSING) - {"?"}


def columns_of_rows(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[RawColumn]:
    """Return the columns of rows of texts."""
    return [
        RawColumn.from_cells(name, cells)
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]
