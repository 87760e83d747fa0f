"""Engines that split delimited text into cells: pyarrow, polars or pandas, or Python's own reader.

All give the same cells. What one of the fast engines might read otherwise than Python's csv module
(quotes that are not plain, blanks before quotes, rows of unequal length) is left to that module,
which also finds the line at fault.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.columns import RawColumn
from twbn.errors import FileFormatError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = ["ENGINES", "Cells", "split_cells"]

#: Rows that Python's own reader collects at a time.
ROWS_AT_ONCE = 50_000
#: Bytes whose delimiters are counted at a time.
BYTES_AT_ONCE = 2**24
#: Shorter texts are read as fast by Python as another engine starts.
SMALL = 200_000
#: Lines of another length on top of a file that are taken for a title.
MAX_ABOVE = 20
#: So many rows from the end, a row of another length is taken for a note.
MAX_BELOW = 5


class Cells:
    """The cells of a text, column by column, with the lines on which rows end where known."""

    def __init__(self, columns: list[RawColumn], lines: Sequence[int] | None = None) -> None:
        self.columns = columns
        self._lines = lines

    @property
    def n_rows(self) -> int:
        """Number of rows, the header included."""
        return self.columns[0].n_rows if self.columns else 0

    def line(self, row: int) -> int:
        """Return the line on which a row ends."""
        return row + 1 if self._lines is None else self._lines[row]

    def row(self, row: int) -> list[str]:
        """Return the cells of one row."""
        return [str(column.values[column.positions[row]]) for column in self.columns]


def split_cells(path: Path, content: bytes, delimiter: str, engine: str | None = None) -> Cells:
    """Return the cells of a text in UTF-8, without blanks around them; blank lines are left out."""
    if engine is None and len(content) < SMALL:
        engine = "python"
    if engine != "python" and _is_plain(content, delimiter):
        for name, split in ENGINES.items():
            if engine in {None, name} and find_spec(name) is not None:
                columns = split(content, delimiter)
                if columns is None:
                    break
                return Cells([_stripped(column) for column in columns])
    return _by_python(path, content, delimiter)


def _is_plain(content: bytes, delimiter: str) -> bool:
    """Say whether every engine reads a text alike.

    No line is blank but for spaces, and there are no quotes, or only such as enclose a whole cell
    without delimiter, quote or line break inside.
    """
    if delimiter == " " or not delimiter.isascii() or b"\0" in content:
        return False
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        return False
    mark = re.escape(delimiter.encode())
    quotes = content.count(b'"')
    if quotes:
        cell = re.compile(
            rb"(?:^|(?<=" + mark + rb'))"[^"\r\n' + mark + rb']*"(?=' + mark + rb"|\r?$)", re.M
        )
        if 2 * sum(1 for _ in cell.finditer(content)) != quotes:
            return False
    indented = b"\n " in content or b"\n\t" in content or content[:1] in b" \t"
    return not indented or re.search(rb"(?m)^[ \t]+\r?$", content) is None


def _are_equally_long(content: bytes, delimiter: str) -> bool:
    """Say whether all lines but empty ones have as many delimiters as the first."""
    array = np.frombuffer(content, dtype=np.uint8)
    expected, first = -1, 0
    while first < len(array):
        last = min(first + BYTES_AT_ONCE, len(array))
        if last < len(array):
            cut = content.rfind(b"\n", first, last)
            if cut < 0:
                return False
            last = cut + 1
        block = array[first:last]
        ends = np.flatnonzero(block == ord("\n"))
        if not len(ends) or ends[-1] != len(block) - 1:
            ends = np.append(ends, len(block))
        marks = np.flatnonzero(block == ord(delimiter))
        counts = np.diff(np.searchsorted(marks, ends), prepend=0)
        starts = np.append(0, ends[:-1] + 1)
        full = ends > starts  # a line with a carriage return only has a delimiter less: not plain
        if expected < 0 and full.any():
            expected = int(counts[full][0])
        empty = (ends == starts + 1) & (block[np.minimum(starts, len(block) - 1)] == ord("\r"))
        if np.any(counts[full & ~empty] != expected):
            return False
        first = last
    return expected > 0


def _stripped(column: RawColumn) -> RawColumn:
    """Return a column with blanks around its cells removed."""
    texts = ["" if value is None else str(value).strip() for value in column.values]
    if len(texts) == len(set(texts)):
        values: tuple[Any, ...] = tuple(texts)
        return RawColumn(column.name, values, column.positions)
    distinct = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    moved = np.array([distinct[text] for text in texts], dtype=np.int32)
    return RawColumn(column.name, tuple(distinct), moved[column.positions])


def _by_pyarrow(content: bytes, delimiter: str) -> list[RawColumn] | None:
    import pyarrow as pa
    from pyarrow import csv as arrow

    from twbn.data.series import column_of_arrow

    width = content.lstrip(b"\r\n").partition(b"\n")[0].count(delimiter.encode()) + 1
    texts = pa.dictionary(pa.int32(), pa.string())  # twice as fast as texts that are counted later
    try:
        table = arrow.read_csv(
            pa.py_buffer(content),
            read_options=arrow.ReadOptions(autogenerate_column_names=True),
            parse_options=arrow.ParseOptions(delimiter=delimiter),
            convert_options=arrow.ConvertOptions(
                column_types={f"f{v}": texts for v in range(width)},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:  # rows of unequal length
        return None
    return [column_of_arrow(table.column(v), "") for v in range(table.num_columns)]  # type: ignore[misc]


def _by_polars(content: bytes, delimiter: str) -> list[RawColumn] | None:
    import polars as pl

    if not _are_equally_long(content, delimiter):
        return None
    content = re.sub(rb"(?m)^\r?\n", b"", content)  # polars takes an empty line for a row
    frame = pl.read_csv(content, separator=delimiter, has_header=False, infer_schema=False)
    frame = frame.with_columns(pl.all().fill_null(""))
    return [RawColumn.from_cells("", series.to_list()) for series in frame]


def _by_pandas(content: bytes, delimiter: str) -> list[RawColumn] | None:
    import pandas as pd

    if not _are_equally_long(content, delimiter):
        return None
    file = io.BytesIO(content)
    options = {"header": None, "dtype": str, "na_filter": False, "skip_blank_lines": True}
    frame = pd.read_csv(file, sep=delimiter, encoding="utf-8", **options)
    columns = []
    for v in range(frame.shape[1]):
        positions, values = frame.iloc[:, v].factorize()
        columns.append(RawColumn("", tuple(values.tolist()), positions.astype(np.int32)))
    return columns


#: The engines, in the order in which they are tried.
ENGINES: dict[str, Callable[[bytes, str], list[RawColumn] | None]] = {
    "pyarrow": _by_pyarrow,
    "polars": _by_polars,
    "pandas": _by_pandas,
}


def _by_python(path: Path, content: bytes, delimiter: str) -> Cells:
    """Split a text with Python's csv module; all rows must have the length of the first."""
    lines: list[int] = []
    parts: list[_Part] = []
    width = 0
    for first, rows in _blocks_of_rows(path, content.decode("utf-8"), delimiter, lines):
        if not parts:
            width = len(rows[0])
            parts = [_Part() for _ in range(width)]
        for i, row in enumerate(rows):
            if len(row) != width:
                raise _ragged(path, rows, lines[first:], i if first else 0, width)
        for part, cells in zip(parts, zip(*rows, strict=True), strict=True):
            part.add(cells)
    return Cells([_stripped(part.column()) for part in parts], lines)


def _ragged(
    path: Path, rows: Sequence[Sequence[str]], lines: Sequence[int], first: int, width: int
) -> FileFormatError:
    """Return the error about rows of unequal length; lines above a table are told as such."""
    usual = Counter(len(row) for row in rows).most_common(1)[0][0]
    start = next(i for i, row in enumerate(rows) if len(row) == usual)
    title = all(2 * len(row) <= usual for row in rows[:start])
    if first == 0 and 0 < start <= MAX_ABOVE and title:
        above = lines[start] - 1
        text = f"{path}, line 1: {len(rows[0])} value{'s' * (len(rows[0]) != 1)} where line "
        text += f"{lines[start]} and most below have {usual}; to leave out what stands above the "
        return FileFormatError(text, "table, give ", Setting("skip_rows", above), path=str(path))
    i = next(i for i, row in enumerate(rows) if i >= first and len(row) != width)
    msg = f"{path}, line {lines[i]}: expected {width} values, found {len(rows[i])}"
    if i >= len(rows) - MAX_BELOW and i > MAX_ABOVE:
        msg += "; a note below the table has to be removed"
    return FileFormatError(msg, path=str(path), line=lines[i])


class _Part:
    """One column, collected block by block."""

    def __init__(self) -> None:
        self.position_of: dict[str, int] = {}
        self.blocks: list[np.ndarray[Any, np.dtype[np.int32]]] = []

    def add(self, cells: Sequence[str]) -> None:
        known = self.position_of
        for text in dict.fromkeys(cells):
            known.setdefault(text, len(known))
        self.blocks.append(np.fromiter(map(known.__getitem__, cells), np.int32, len(cells)))

    def column(self) -> RawColumn:
        return RawColumn("", tuple(self.position_of), np.concatenate(self.blocks))


def _blocks_of_rows(
    path: Path, text: str, delimiter: str, lines: list[int]
) -> Iterator[tuple[int, list[list[str]]]]:
    """Yield blocks of non-blank rows and the number of rows before; `lines` gets their lines."""
    # Strict, so that an unclosed quote is an error and does not swallow rows.
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True
    )
    rows: list[list[str]] = []
    first = 0
    try:
        for row in reader:
            if not row or (len(row) == 1 and not row[0].strip()):
                continue
            lines.append(reader.line_num)
            rows.append(row)
            if len(rows) == ROWS_AT_ONCE:
                yield first, rows
                first, rows = first + len(rows), []
    except csv.Error as error:
        after = f"after line {lines[-1]}" if lines else "line 1"
        msg = f"{path}, {after}: {error}; is a quote not closed?"
        raise FileFormatError(msg, path=str(path)) from None
    if rows:
        yield first, rows
