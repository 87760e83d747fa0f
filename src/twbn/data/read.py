"""Readers of table files: delimited text, Parquet, ARFF, BLIP `.dat`."""

from __future__ import annotations

import csv
import gzip
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TextIO

import numpy as np

from twbn.data.columns import RawColumn
from twbn.errors import FileFormatError, MissingDependencyError, OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["ReadOptions", "read_columns"]

DELIMITERS = ",;\t| "


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
    if not path.exists():
        msg = f"{path}: no such file"
        raise FileFormatError(msg)
    if path.is_dir():
        msg = f"{path} is a folder, not a file"
        raise FileFormatError(msg)
    kind = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if kind == ".parquet":
        return _read_parquet(path, options)
    try:
        with _open_text(path) as file:
            if kind == ".arff":
                return _read_arff(path, file, options)
            if kind == ".dat":
                return _read_dat(path, file, options)
            return _read_delimited(path, file, options)
    except UnicodeDecodeError as error:
        msg = f"{path}: not a text file in UTF-8 ({error.reason} at byte {error.start})"
        raise FileFormatError(msg) from None


def _open_text(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


# Delimited text


def _read_delimited(path: Path, file: TextIO, options: ReadOptions) -> list[RawColumn]:
    sample = [line for _, line in zip(range(50), file, strict=False)]
    if not any(line.strip() for line in sample):
        msg = f"{path} is empty"
        raise FileFormatError(msg)
    file.seek(0)
    delimiter = options.delimiter or _sniff_delimiter(sample)
    lines, rows = _rows(path, csv.reader(file, delimiter=delimiter, skipinitialspace=True))
    header = options.header if options.header is not None else _sniff_header(rows)
    if not header:
        names = [f"x{v}" for v in range(1, len(rows[0]) + 1)]
        return _columns(names, rows, options.missing)
    if len(rows) == 1:
        msg = f"{path}, line {lines[0]}: a header but no rows below it"
        raise FileFormatError(msg)
    names = [name.strip() for name in rows[0]]
    for position, name in enumerate(names, start=1):
        if not name:
            msg = f"{path}, line {lines[0]}: column {position} has no name"
            raise FileFormatError(msg)
    return _columns(names, rows[1:], options.missing)


def _rows(path: Path, reader: Iterable[list[str]]) -> tuple[list[int], list[list[str]]]:
    """Return the non-blank rows with their line numbers; all have the length of the first."""
    lines: list[int] = []
    rows: list[list[str]] = []
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            line = getattr(reader, "line_num", len(lines) + 1)
            if rows and len(row) != len(rows[0]):
                msg = f"{path}, line {line}: expected {len(rows[0])} values, found {len(row)}"
                raise FileFormatError(msg)
            lines.append(line)
            rows.append(row)
    except csv.Error as error:
        msg = f"{path}, line {getattr(reader, 'line_num', '?')}: {error}"
        raise FileFormatError(msg) from None
    return lines, rows


def _columns(
    names: Sequence[str], rows: Sequence[Sequence[str]], missing: Iterable[str]
) -> list[RawColumn]:
    gaps = frozenset(missing)
    return [
        RawColumn.from_cells(name, [cell.strip() for cell in cells], missing=gaps)
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]


def _sniff_delimiter(sample: Sequence[str]) -> str:
    """Return the delimiter that splits the first lines most evenly; a comma if none does."""
    lines = [line.rstrip("\r\n") for line in sample if line.strip()]
    best, best_key = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True)]
        if not widths or widths[0] < 2:
            continue
        even = sum(width == widths[0] for width in widths) / len(widths)
        if (even, widths[0]) > best_key:
            best, best_key = delimiter, (even, widths[0])
    return best


def _sniff_header(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the first row names the columns.

    It does when its cells are distinct non-numbers and either some column below is all numbers
    or no cell occurs again in its own column.
    """
    first = [cell.strip() for cell in rows[0]]
    if len(set(first)) < len(first) and not any(_is_number(cell) for cell in first):
        # Repeated names are a mistake worth an error, not a row of data, if numbers follow.
        return len(rows) > 1 and all(_is_number(cell.strip()) for cell in rows[1])
    if any(_is_number(cell) or not cell for cell in first):
        return False
    if len(rows) == 1:
        return True
    for v, name in enumerate(first):
        below = {row[v].strip() for row in rows[1:]}
        if name in below:
            return False
    return True


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Parquet


def _read_parquet(path: Path, options: ReadOptions) -> list[RawColumn]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        msg = "reading Parquet needs pyarrow: pip install 'twbn[frames]'"
        raise MissingDependencyError(msg) from None
    try:
        frame = pq.read_table(path)
    except pa.ArrowInvalid as error:
        msg = f"{path}: not a Parquet file ({error})"
        raise FileFormatError(msg) from None
    gaps = frozenset(options.missing)
    return [
        RawColumn.from_cells(name, frame.column(i).to_pylist(), missing=gaps)
        for i, name in enumerate(frame.column_names)
    ]


# ARFF

_ATTRIBUTE = re.compile(
    r"@attribute\s+('(?:[^'\\]|\\.)*'|\"[^\"]*\"|\S+)\s+(.*)", re.IGNORECASE | re.DOTALL
)
_NUMERIC_TYPES = ("numeric", "real", "integer")


def _read_arff(path: Path, file: TextIO, options: ReadOptions) -> list[RawColumn]:
    names: list[str] = []
    domains: list[tuple[str, ...] | None] = []  # declared states; None for numbers
    numbered = enumerate(file, start=1)
    for line, text in numbered:
        stripped = text.strip()
        if stripped.lower().startswith("@data"):
            break
        if stripped.lower().startswith("@attribute"):
            name, domain = _arff_attribute(path, line, stripped)
            names.append(name)
            domains.append(domain)
    else:
        msg = f"{path}: no @data line, so no rows"
        raise FileFormatError(msg)
    lines = ((line, text) for line, text in numbered if text.strip() and text.lstrip()[0] != "%")
    rows = [_arff_row(path, line, text, len(names)) for line, text in lines]
    if not rows:
        msg = f"{path}: no rows after @data"
        raise FileFormatError(msg)
    columns = _columns(names, rows, {"?", *options.missing})
    return [
        column if domain is None else _declared(path, column, domain)
        for column, domain in zip(columns, domains, strict=True)
    ]


def _arff_attribute(path: Path, line: int, text: str) -> tuple[str, tuple[str, ...] | None]:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        msg = f"{path}, line {line}: expected '@attribute NAME TYPE', found {text!r}"
        raise FileFormatError(msg)
    name, kind = _unquoted(match[1]), match[2].strip()
    if kind.startswith("{"):
        body = kind[1:].rpartition("}")[0]
        return name, tuple(_unquoted(v) for v in next(_arff_cells([body]), []))
    if kind.lower().startswith(_NUMERIC_TYPES):
        return name, None
    msg = (
        f"{path}, line {line}: attribute {name!r} has type {kind!r}, expected numbers or {{states}}"
    )
    raise FileFormatError(msg)


def _arff_row(path: Path, line: int, text: str, n_columns: int) -> list[str]:
    if text.lstrip().startswith("{"):
        msg = f"{path}, line {line}: sparse ARFF rows are not supported"
        raise FileFormatError(msg)
    row = [_unquoted(cell) for cell in next(_arff_cells([text.strip()]))]
    if len(row) != n_columns:
        msg = f"{path}, line {line}: expected {n_columns} values, found {len(row)}"
        raise FileFormatError(msg)
    return row


def _arff_cells(lines: list[str]) -> Iterator[list[str]]:
    return csv.reader(lines, quotechar="'", skipinitialspace=True)


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1].replace("\\'", "'")
    return text


def _declared(path: Path, column: RawColumn, domain: tuple[str, ...]) -> RawColumn:
    position = {state: i for i, state in enumerate(domain)}
    for value in column.values:
        if value not in position:
            msg = f"{path}: attribute {column.name!r} holds {value!r}, declared are {list(domain)}"
            raise FileFormatError(msg)
    moved = np.array([position[str(value)] for value in column.values] + [-1], dtype=np.int32)
    return replace(column, values=domain, positions=moved[column.positions], ordered=True)


# BLIP .dat


def _read_dat(path: Path, file: TextIO, options: ReadOptions) -> list[RawColumn]:
    """Names, numbers of states, then rows of codes; `?` is missing and `#` starts a comment."""
    content = [
        (line, text.split(",") if "," in text else text.split())
        for line, text in enumerate(file, start=1)
        if text.strip() and not text.startswith("#")
    ]
    if len(content) < 3:
        msg = f"{path}: expected a line of names, a line of numbers of states, and rows"
        raise FileFormatError(msg)
    names = [name.strip() for name in content[0][1]]
    for line, row in content[1:]:
        if len(row) != len(names):
            msg = f"{path}, line {line}: expected {len(names)} values, found {len(row)}"
            raise FileFormatError(msg)
    columns = _columns(names, [row for _, row in content[2:]], {"?", *options.missing})
    line = content[1][0]
    return [
        _with_cardinality(path, line, column, text)
        for column, text in zip(columns, content[1][1], strict=True)
    ]


def _with_cardinality(path: Path, line: int, column: RawColumn, text: str) -> RawColumn:
    if not text.strip().isdigit():
        msg = (
            f"{path}, line {line}: expected the number of states of {column.name!r}, found {text!r}"
        )
        raise FileFormatError(msg)
    n_states = int(text)
    if not all(str(value).isdigit() for value in column.values):
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
