"""ARFF files: declared attributes, then rows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from twbn.data.columns import MISSING, RawColumn
from twbn.errors import FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_arff"]

# A value is quoted with either quote, with backslash escapes, or runs to the next comma.
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
# None of these patterns backtracks (`*+`, `?>`), so that reading takes linear time.
_CELL = re.compile(rf"\s*+(?:((?>{_QUOTED}))\s*+|([^,'\"]*+))(,|$)")
_ATTRIBUTE = re.compile(
    rf"@attribute\s++((?>(?:{_QUOTED})(?=\s)|\S++))\s++(.*+)", re.IGNORECASE | re.DOTALL
)
_COMMENT = re.compile(rf"^((?>{_QUOTED}|[^%'\"])*+)%.*+$")
_NUMERIC_TYPES = ("numeric", "real", "integer")


def read_arff(path: Path, text: str) -> list[RawColumn]:
    """Return the columns of an ARFF file; ``?`` is missing, declared states keep their order."""
    names: list[str] = []
    domains: list[tuple[str, ...] | None] = []  # declared states; None for numbers
    rows: list[list[str]] | None = None
    for line, raw in enumerate(text.splitlines(), start=1):
        content = _COMMENT.sub(r"\1", raw).strip()
        if not content:
            continue
        if rows is not None:
            rows.append(_row(path, line, content, len(names)))
        elif content.lower().startswith("@data"):
            rows = []
        elif content.lower().startswith("@attribute"):
            name, domain = _attribute(path, line, content)
            names.append(name)
            domains.append(domain)
    if rows is None:
        msg = f"{path}: no @data line, so no rows"
        raise FileFormatError(msg)
    if not rows:
        msg = f"{path}: no rows after @data"
        raise FileFormatError(msg)
    columns = [
        RawColumn.from_cells(name, cells).without({"?"})
        for name, cells in zip(names, zip(*rows, strict=True), strict=True)
    ]
    return [
        column if domain is None else _declared(path, column, domain)
        for column, domain in zip(columns, domains, strict=True)
    ]


def _attribute(path: Path, line: int, text: str) -> tuple[str, tuple[str, ...] | None]:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        msg = f"{path}, line {line}: expected '@attribute NAME TYPE', found {text!r}"
        raise FileFormatError(msg)
    name, kind = _unquoted(match[1]), match[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        return name, tuple(_cells(path, line, kind[1:-1]))
    if kind.lower().startswith(_NUMERIC_TYPES):
        return name, None
    msg = (
        f"{path}, line {line}: attribute {name!r} has type {kind!r}, expected numbers or {{states}}"
    )
    raise FileFormatError(msg)


def _row(path: Path, line: int, text: str, n_columns: int) -> list[str]:
    if text.startswith("{"):
        msg = f"{path}, line {line}: sparse ARFF rows are not supported"
        raise FileFormatError(msg)
    row = _cells(path, line, text)
    if len(row) != n_columns:
        msg = f"{path}, line {line}: expected {n_columns} values, found {len(row)}"
        raise FileFormatError(msg)
    return row


def _cells(path: Path, line: int, text: str) -> list[str]:
    cells, position = [], 0
    while True:
        match = _CELL.match(text, position)
        if match is None:
            msg = f"{path}, line {line}: cannot read {text[position:]!r}; is a quote not closed?"
            raise FileFormatError(msg)
        cells.append(_unquoted(match[1] or match[2]))
        if not match[3]:
            return cells
        position = match.end()


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text


def _declared(path: Path, column: RawColumn, domain: tuple[str, ...]) -> RawColumn:
    position = {state: i for i, state in enumerate(domain)}
    column = column.without(frozenset(MISSING) - position.keys())
    for value in column.values:
        if value not in position:
            msg = f"{path}: attribute {column.name!r} holds {value!r}, declared are {list(domain)}"
            raise FileFormatError(msg)
    moved = np.array([position[str(value)] for value in column.values] + [-1], dtype=np.int32)
    return replace(column, values=domain, positions=moved[column.positions], ordered=True)
