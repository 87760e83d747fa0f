"""Delimited text: CSV, TSV and their kin."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from twbn.data.columns import RawColumn
from twbn.errors import FileFormatError
from twbn.numerals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from twbn.data.read.options import ReadOptions

__all__ = ["columns_of_rows", "read_delimited"]

DELIMITERS = ",;\t|"


def read_delimited(path: Path, text: str, options: ReadOptions) -> list[RawColumn]:
    """Return the columns of a text, whose delimiter and header are detected unless given."""
    if not text.strip():
        msg = f"{path} is empty"
        raise FileFormatError(msg, path=str(path))
    delimiter = options.delimiter or _sniff_delimiter(text)
    lines, rows = _rows(path, text, delimiter)
    if not rows:
        msg = f"{path} has no rows, only blank lines"
        raise FileFormatError(msg, path=str(path))
    header = options.header if options.header is not None else _sniff_header(rows, options.missing)
    if not header:
        names = [f"x{v}" for v in range(1, len(rows[0]) + 1)]
        return columns_of_rows(names, rows, options.missing)
    if len(rows) == 1:
        msg = f"{path}, line {lines[0]}: a header but no rows below it"
        raise FileFormatError(msg, path=str(path))
    for position, name in enumerate(rows[0], start=1):
        if not name:
            msg = f"{path}, line {lines[0]}: column {position} has no name"
            raise FileFormatError(msg, path=str(path))
    return columns_of_rows(rows[0], rows[1:], options.missing)


def _rows(path: Path, text: str, delimiter: str) -> tuple[list[int], list[list[str]]]:
    """Return the non-blank rows with their line numbers; all have the length of the first."""
    lines: list[int] = []
    rows: list[list[str]] = []
    # Strict, so that an unclosed quote is an error and does not swallow rows.
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            if rows and len(row) != len(rows[0]):
                msg = (
                    f"{path}, line {reader.line_num}: expected {len(rows[0])} values, "
                    f"found {len(row)}"
                )
                raise FileFormatError(msg, path=str(path), line=reader.line_num)
            lines.append(reader.line_num)
            rows.append([cell.strip() for cell in row])
    except csv.Error as error:
        after = f"after line {lines[-1]}" if lines else "line 1"
        msg = f"{path}, {after}: {error}; is a quote not closed?"
        raise FileFormatError(msg, path=str(path)) from None
    return lines, rows


def _sniff_delimiter(text: str) -> str:
    """Return the delimiter that splits the first lines most evenly; a space if only that does."""
    lines = [line for line in text[:100_000].splitlines()[:50] if line.strip()]
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
    """Return the share of lines that have as many cells as the first, and that number."""
    try:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True)]
    except csv.Error:
        return (0.0, 0)
    if not widths or widths[0] < 2:
        return (0.0, 0)
    return (sum(width == widths[0] for width in widths) / len(widths), widths[0])


def _sniff_header(rows: Sequence[Sequence[str]], missing: Sequence[str]) -> bool:
    """Say whether the first row names the columns.

    It does if one of its texts is above a column of numbers. Otherwise, it does not if it contains
    a number or an empty cell, or a text that occurs again in the same column.
    """
    first = rows[0]
    if len(rows) == 1:
        return not any(is_number(cell) for cell in first)
    texts = frozenset(missing)
    below = [{row[v] for row in rows[1:]} - texts for v in range(len(first))]
    for name, cells in zip(first, below, strict=True):
        if name and not is_number(name) and cells and all(is_number(cell) for cell in cells):
            return True
    if any(is_number(cell) or not cell for cell in first):
        return False
    return not any(name in cells for name, cells in zip(first, below, strict=True))


def columns_of_rows(
    names: Sequence[str], rows: Sequence[Sequence[str]], missing: Iterable[str]
) -> list[RawColumn]:
    """Return the columns of rows of texts."""
    texts = frozenset(missing)
    return [
        RawColumn.from_cells(name, cells, missing=texts)
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]
