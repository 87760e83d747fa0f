"""Tables larger than memory: files read in chunks, rows collapsed to weighted distinct ones."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.build import build_table, coded_by
from twbn.data.columns import NumberColumn, RawColumn
from twbn.data.distinct_rows import DistinctRows
from twbn.data.names import renamed, with_names
from twbn.data.read.delimited import read_delimited, sniff_delimiter
from twbn.data.read.parquet import parquet_chunks
from twbn.errors import DataError, FileFormatError, Option, OptionError
from twbn.files import require_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from twbn.data.coding_options import CodingOptions
    from twbn.data.columns import Column
    from twbn.data.read.options import ReadOptions
    from twbn.data.table import Table

__all__ = ["distinct_table"]

#: Rows, and characters of text, that are read at a time.
ROWS_AT_ONCE, CHARACTERS_AT_ONCE = 2**18, 2**25
#: A row is not longer than so many blocks of text.
MAX_REST = 4
#: Distinct values of a column that are told apart; numbers beyond are thinned out.
MAX_DISTINCT = 2**18


def distinct_table(
    paths: Sequence[Path],
    reading: ReadOptions,
    options: CodingOptions,
    names: Sequence[str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Table:
    """Return the distinct rows of files, weighted by how often they occur.

    The files are read twice: once to choose the codings, once to code. Cut points are those of all
    rows, up to a column of more than 262,144 different numbers, of which as many are kept, evenly
    spread. Memory holds one chunk and the distinct rows.
    """
    total = 2 * sum(require_file(path).stat().st_size for path in paths)

    def chunks(passed: int) -> Iterator[list[Column]]:
        done = passed
        for path in paths:
            for n_bytes, columns in _chunks(path, reading):
                kept = columns if names is None else renamed(columns, names)
                yield with_names(kept)[0]
                if on_progress is not None:
                    on_progress(done + min(n_bytes, path.stat().st_size), total)
            done += path.stat().st_size

    if options.like is None:
        options = _with_codings(chunks(0), options, source=str(paths[0]))
    like = options.like
    assert like is not None
    rows = DistinctRows(like)
    for columns in chunks(total // 2):
        rows.add(build_table(columns, options, source=str(paths[0])))
    return rows.table()


def _chunks(path: Path, reading: ReadOptions) -> Iterator[tuple[int, list[Column]]]:
    """Yield chunks of a file, each with the bytes read so far."""
    if path.suffix.lower() == ".parquet":
        size = path.stat().st_size
        for number, columns in enumerate(parquet_chunks(path, ROWS_AT_ONCE), start=1):
            yield min(number * ROWS_AT_ONCE, size), columns
        return
    if path.suffix.lower() in {".arff", ".dat"}:
        problem = f" reads delimited text and Parquet in chunks, not {path.suffix}"
        raise OptionError(Option("distinct"), problem)
    names: list[str] | None = None
    done = 0
    for content in _blocks_of_text(path, reading):
        done += len(content)
        found = read_delimited(path, content, reading)
        if names is None:
            names = [column.name for column in found]
            mark = reading.delimiter or sniff_delimiter(content)
            reading = replace(reading, header=False, delimiter=mark, skip_rows=0)
        if len(found) != len(names):
            msg = f"{path}: expected {len(names)} values in every row, found {len(found)}"
            raise FileFormatError(msg, path=str(path))
        yield done, renamed(found, names)


def _blocks_of_text(path: Path, reading: ReadOptions) -> Iterator[bytes]:
    """Yield blocks of whole rows; a line break between quotes ends none."""
    with ExitStack() as stack:
        opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
        encoding = reading.encoding or _marked_encoding(path, opened)
        file = stack.enter_context(opened(path, "rt", encoding=encoding, newline=""))
        rest, first = "", True
        while True:
            try:
                text = file.read(CHARACTERS_AT_ONCE)
            except (UnicodeDecodeError, OSError, EOFError) as error:
                msg = f"{path}: not a whole text file in {encoding} ({error})"
                raise FileFormatError(msg, path=str(path)) from None
            if not text:
                break
            text = rest + text
            cut = text.rfind("\n") + 1
            if text.count('"', 0, cut) % 2:  # inside quotes: the row began before the last quote
                cut = text.rfind("\n", 0, text.rfind('"', 0, cut)) + 1
            if first and text.count("\n", 0, cut) < 2 + reading.skip_rows:  # only a header
                cut = 0
            if len(text) - cut > MAX_REST * CHARACTERS_AT_ONCE:  # a quote that is never closed
                cut = len(text)
            rest = text[cut:]
            first = first and not cut
            if cut:
                yield text[:cut].encode("utf-8")
        if rest.strip():
            yield rest.encode("utf-8")


def _marked_encoding(path: Path, opened: Any) -> str:
    """Return UTF-16 for a file that begins with its byte order mark, otherwise UTF-8."""
    with opened(path, "rb") as file:
        return "utf-16" if file.read(2) in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"


def _with_codings(
    chunks: Iterator[list[Column]], options: CodingOptions, *, source: str
) -> CodingOptions:
    """Return options with the codings chosen from all rows of a first pass."""
    tallies: dict[str, _Tally] = {}
    for columns in chunks:
        for column in columns:
            tallies.setdefault(column.name, _Tally()).add(column)
    if not tallies:
        msg = f"{source} has no rows"
        raise DataError(msg)
    return coded_by([tally.column(name) for name, tally in tallies.items()], options, source=source)


class _Tally:
    """How often each value of a column occurs, over all chunks."""

    def __init__(self) -> None:
        self.times: dict[Any, int] = {}
        self.numbers: NDArray[Any] = np.empty(0)
        self.counts: NDArray[np.float64] = np.empty(0)
        self.unit = ""
        self.ordered = False

    def add(self, column: Column) -> None:
        """Count the values of one chunk."""
        others = self.times if isinstance(column, NumberColumn) else self.numbers
        values_here = column.known if isinstance(column, NumberColumn) else column.values
        if len(others) and len(values_here):
            msg = f"column {column.name!r} holds texts in one part and numbers in another"
            raise DataError(msg, column=column.name)
        if isinstance(column, RawColumn):
            self.ordered |= column.ordered
            for value, times in zip(column.values, column.counts.tolist(), strict=True):
                self.times[value] = self.times.get(value, 0) + times
            if len(self.times) > MAX_DISTINCT:
                msg = (
                    f"column {column.name!r} has more than {MAX_DISTINCT:,} different texts, like "
                    "an identifier; leave it out"
                )
                raise DataError(msg, column=column.name)
            return
        self.unit = column.unit
        values, counts = np.unique(column.known, return_counts=True)
        merged = np.concatenate([self.numbers, values])
        weights = np.concatenate([self.counts, counts.astype(np.float64)])
        self.numbers, inverse = np.unique(merged, return_inverse=True)
        self.counts = np.bincount(inverse.reshape(-1), weights=weights).astype(np.float64)
        if len(self.numbers) > 2 * MAX_DISTINCT:
            self._thin()

    def _thin(self) -> None:
        """Keep numbers that are evenly spread over the rows."""
        ends = np.cumsum(self.counts)
        kept = np.searchsorted(ends, np.linspace(0, ends[-1], MAX_DISTINCT), side="left")
        kept = np.unique(np.minimum(kept, len(ends) - 1))
        self.numbers = self.numbers[kept]
        self.counts = np.diff(ends[kept], prepend=0.0)

    def column(self, name: str) -> Column:
        """Return the column of distinct values, with how often each occurs."""
        if self.times:
            positions = np.arange(len(self.times), dtype=np.int32)
            tally = np.fromiter(self.times.values(), np.int64, len(self.times))
            return RawColumn(name, tuple(self.times), positions, self.ordered, tally)
        return NumberColumn(name, self.numbers, self.unit, self.counts)
