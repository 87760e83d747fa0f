"""Tables larger than memory: files read in chunks, rows collapsed to weighted distinct ones."""

from __future__ import annotations

import gzip
import math
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.build import build_table, coded_by
from twbn.data.columns import NumberColumn, RawColumn
from twbn.data.names import renamed, with_names
from twbn.data.read.delimited import read_delimited, sniff_delimiter
from twbn.data.read.parquet import parquet_chunks
from twbn.data.table import Table
from twbn.errors import DataError, FileFormatError, MemoryLimitError, Option, OptionError
from twbn.files import require_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from twbn.data.coding_options import CodingOptions
    from twbn.data.columns import Column
    from twbn.data.read.options import ReadOptions

__all__ = ["distinct_table"]

#: Rows, and characters of text, that are read at a time.
ROWS_AT_ONCE, CHARACTERS_AT_ONCE = 2**18, 2**25
#: A row is not longer than so many blocks of text.
MAX_REST = 4
#: Distinct values of a column that are told apart; numbers beyond are thinned out.
MAX_DISTINCT = 2**18
#: Distinct rows collected before they are merged, and the most that a table may have.
PENDING_ROWS, MAX_CELLS = 2**21, 2**29


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
    rows = _Rows(like)
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
            reading = replace(reading, header=False, delimiter=mark)
        if len(found) != len(names):
            msg = f"{path}: expected {len(names)} values in every row, found {len(found)}"
            raise FileFormatError(msg, path=str(path))
        yield done, renamed(found, names)


def _blocks_of_text(path: Path, reading: ReadOptions) -> Iterator[bytes]:
    """Yield blocks of whole rows; a line break between quotes ends none."""
    with ExitStack() as stack:
        opened: Any = gzip.open if path.suffix.lower() == ".gz" else open
        encoding = reading.encoding or "utf-8-sig"
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
            if first and text.count("\n", 0, cut) < 2:  # a header alone is no block
                cut = 0
            if len(text) - cut > MAX_REST * CHARACTERS_AT_ONCE:  # a quote that is never closed
                cut = len(text)
            rest = text[cut:]
            first = first and not cut
            if cut:
                yield text[:cut].encode("utf-8")
        if rest.strip():
            yield rest.encode("utf-8")


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


class _Rows:
    """The distinct rows so far, as mixed-radix numbers, and how often each occurs."""

    def __init__(self, like: Table) -> None:
        self.like = like
        self.sizes = [int(n) + 1 for n in like.n_states]  # one more for a missing cell
        if math.prod(self.sizes) >= 2**63:
            self.groups = _groups(self.sizes)
        else:
            self.groups = [list(range(len(self.sizes)))]
        self.keys: list[NDArray[np.int64]] = []
        self.weights: list[NDArray[np.float64]] = []
        self.n_pending = 0

    def add(self, table: Table) -> None:
        """Add the rows of a chunk."""
        keys = np.empty((table.n_rows, len(self.groups)), dtype=np.int64)
        for g, group in enumerate(self.groups):
            key = np.zeros(table.n_rows, dtype=np.int64)
            for v in group:
                key = key * self.sizes[v] + (table.codes[:, v] + 1)
            keys[:, g] = key
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        self.keys.append(keys)
        self.weights.append(weights)
        self._merge(1)
        self.n_pending += len(self.keys[-1])
        if self.n_pending > PENDING_ROWS:
            self._merge(len(self.keys))
            self.n_pending = 0

    def _merge(self, last: int) -> None:
        """Merge the last parts into one."""
        keys = np.concatenate(self.keys[-last:])
        weights = np.concatenate(self.weights[-last:])
        order = np.lexsort(keys.T[::-1]) if keys.shape[1] > 1 else np.argsort(keys[:, 0])
        keys = keys[order]
        new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
        if int(new.sum()) * len(self.sizes) > MAX_CELLS:
            msg = (
                f"more than {MAX_CELLS // len(self.sizes):,} distinct rows of {len(self.sizes)} "
                "columns; use fewer bins, max_categories, or fewer columns"
            )
            raise MemoryLimitError(msg)
        self.keys[-last:] = [keys[new]]
        self.weights[-last:] = [np.add.reduceat(weights[order], np.flatnonzero(new))]

    def table(self) -> Table:
        """Return the distinct rows with their weights."""
        self._merge(len(self.keys))
        keys, weights = self.keys[0], self.weights[0]
        codes = np.empty((len(keys), len(self.sizes)), dtype=np.int32, order="F")
        for g, group in enumerate(self.groups):
            key = keys[:, g]
            for v in reversed(group):
                key, code = np.divmod(key, self.sizes[v])
                codes[:, v] = code - 1
        codes.setflags(write=False)
        like = self.like
        return Table(like.names, like.codings, codes, weights, like.findings)


def _groups(sizes: Sequence[int]) -> list[list[int]]:
    """Return the columns in groups whose combinations fit into a number each."""
    groups: list[list[int]] = [[]]
    product = 1
    for v, size in enumerate(sizes):
        if product * size >= 2**63:
            groups.append([])
            product = 1
        groups[-1].append(v)
        product *= size
    return groups
