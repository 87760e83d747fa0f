"""Readers of table files: delimited text, Parquet, BLIP `.dat` (ARFF in `arff.py`)."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twbn.data.arff import read_arff
from twbn.data.columns import RawColumn, plain_cell
from twbn.errors import FileFormatError, MemoryLimitError, MissingDependencyError, OptionError
from twbn.files import read_text, require_file
from twbn.numerals import is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

__all__ = ["ReadOptions", "read_columns"]

DELIMITERS = ",;\t|"
#: States that a `.dat` file may declare for one column, and for all of them beyond its own length.
MAX_STATES, MAX_ALL_STATES = 2**16, 2**20
#: Cells of a Parquet file, which may be packed to almost nothing.
MAX_CELLS = 2**31


@dataclass(frozen=True)
class ReadOptions:
    """How to read a text file; None means: find out."""

    delimiter: str | None = None
    header: bool | None = None
    missing: tuple[str, ...] = ()


def read_columns(path: Path, options: ReadOptions) -> list[RawColumn]:
    """Return the columns of a file, or raise FileFormatError naming the line."""
    if options.delimiter is not None and len(options.delimiter) != 1:
        msg = f"delimiter must be one character, got {options.delimiter!r}"
        raise OptionError(msg)
    require_file(path)
    endings = [ending.lower() for ending in path.suffixes]
    kind = next((ending for ending in reversed(endings) if ending != ".gz"), "")
    if kind == ".parquet":
        return _read_parquet(path, options)
    text = read_text(path, encodings=("utf-8-sig",))
    if kind == ".arff":
        return read_arff(path, text, options.missing)
    if kind == ".dat":
        return _read_dat(path, text, options)
    return _read_delimited(path, text, options)


# Delimited text


def _read_delimited(path: Path, text: str, options: ReadOptions) -> list[RawColumn]:
    if not text.strip():
        msg = f"{path} is empty"
        raise FileFormatError(msg)
    delimiter = options.delimiter or _sniff_delimiter(text)
    lines, rows = _rows(path, text, delimiter)
    if not rows:
        msg = f"{path} has no rows, only blanks"
        raise FileFormatError(msg)
    header = options.header if options.header is not None else _sniff_header(rows, options.missing)
    if not header:
        names = [f"x{v}" for v in range(1, len(rows[0]) + 1)]
        return _columns(names, rows, options.missing)
    if len(rows) == 1:
        msg = f"{path}, line {lines[0]}: a header but no rows below it"
        raise FileFormatError(msg)
    for position, name in enumerate(rows[0], start=1):
        if not name:
            msg = f"{path}, line {lines[0]}: column {position} has no name"
            raise FileFormatError(msg)
    return _columns(rows[0], rows[1:], options.missing)


def _rows(path: Path, text: str, delimiter: str) -> tuple[list[int], list[list[str]]]:
    """Return the non-blank rows with their line numbers; all have the length of the first."""
    lines: list[int] = []
    rows: list[list[str]] = []
    # Strict, so that a quote that is not closed is an error and does not swallow rows.
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
                raise FileFormatError(msg)
            lines.append(reader.line_num)
            rows.append([cell.strip() for cell in row])
    except csv.Error as error:
        after = f"after line {lines[-1]}" if lines else "line 1"
        msg = f"{path}, {after}: {error}; is a quote not closed?"
        raise FileFormatError(msg) from None
    return lines, rows


def _columns(
    names: Sequence[str], rows: Sequence[Sequence[str]], missing: Iterable[str]
) -> list[RawColumn]:
    gaps = frozenset(missing)
    return [
        RawColumn.from_cells(name, cells, missing=gaps)
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]


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
    # Blanks also stand inside names and cells: they separate only if they do so in most lines.
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

    Text above a column of numbers does. Without such a column, numbers in the first row mean that
    it does not; neither does a text that occurs again in its own column.
    """
    first = rows[0]
    if len(rows) == 1:
        return not any(is_number(cell) for cell in first)
    gaps = frozenset(missing)
    below = [{row[v] for row in rows[1:]} - gaps for v in range(len(first))]
    for name, cells in zip(first, below, strict=True):
        if name and not is_number(name) and cells and all(is_number(cell) for cell in cells):
            return True
    if any(is_number(cell) or not cell for cell in first):
        return False
    return not any(name in cells for name, cells in zip(first, below, strict=True))


# Parquet


def _read_parquet(path: Path, options: ReadOptions) -> list[RawColumn]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        msg = "reading Parquet needs pyarrow: pip install pyarrow"
        raise MissingDependencyError(msg) from None
    try:
        size = pq.read_metadata(path)
        if size.num_rows * size.num_columns > MAX_CELLS:
            msg = (
                f"{path}: {size.num_rows:,} rows of {size.num_columns:,} columns are more than "
                f"{MAX_CELLS:,} cells"
            )
            raise MemoryLimitError(msg)
        frame = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        msg = f"{path}: not a whole Parquet file ({error})"
        raise FileFormatError(msg) from None
    gaps = frozenset(options.missing)
    return [
        RawColumn.from_cells(name, map(plain_cell, frame.column(i).to_pylist()), missing=gaps)
        for i, name in enumerate(frame.column_names)
    ]


# BLIP .dat


def _read_dat(path: Path, text: str, options: ReadOptions) -> list[RawColumn]:
    """Names, numbers of states, then rows of codes; `?` is missing and `#` starts a comment."""
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
    columns = _columns(names, [row for _, row in content[2:]], {"?", *options.missing})
    return [
        _with_cardinality(path, line, column, cardinality)
        for column, cardinality in zip(columns, content[1][1], strict=True)
    ]


def _check_cardinalities(
    path: Path, line: int, names: Sequence[str], texts: Sequence[str], length: int
) -> None:
    """Refuse numbers of states that are none, or too large for what the file holds."""
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
