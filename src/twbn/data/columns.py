"""From raw columns (text or numbers, with gaps) to a coded table."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.discretize import Bins, Categories, Coding, Discretize, State
from twbn.data.names import check_misnamed
from twbn.data.table import Table, checked_weights, unknown_name
from twbn.errors import DataError, OptionError
from twbn.numerals import as_number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["GAPS", "CodingOptions", "RawColumn", "build_table", "is_missing", "plain_cell"]

#: The texts that stand for a missing cell, unless told otherwise.
GAPS = ("", "NA", "NaN", "nan", "null")

# Longer numbers are floats, and refused if they overflow.
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
# Whole numbers are written without zeros in front; codes and labels (01234) may have them.
_PADDED = re.compile(r"[+-]?0[0-9]+")


@dataclass(frozen=True)
class RawColumn:
    """A column as distinct values and, for each row, which of them (-1: missing).

    `ordered` says that the order of the values means something (an ARFF declaration) and is kept;
    otherwise states are sorted.
    """

    name: str
    values: tuple[State, ...]
    positions: NDArray[np.int32]
    ordered: bool = False

    @classmethod
    def from_cells(
        cls, name: str, cells: Iterable[State | None], *, missing: Collection[str] = ()
    ) -> RawColumn:
        """Collect Python values; None, NaN and the texts in `missing` are gaps."""
        cells = list(cells)
        position_of: dict[State | None, int] = {}
        values: list[State] = []
        for value in dict.fromkeys(cells):
            if _is_gap(value, missing):
                position_of[value] = -1
            else:
                position_of[value] = len(values)
                values.append(value)  # type: ignore[arg-type]
        positions = np.fromiter(map(position_of.__getitem__, cells), np.int32, len(cells))
        return cls(name, tuple(values), positions)

    @property
    def is_numeric(self) -> bool:
        """All values are numbers (and not truth values)."""
        return all(isinstance(v, int | float) and not isinstance(v, bool) for v in self.values)

    def parsed(self) -> RawColumn:
        """Return the column with texts read as numbers, if every one of them is a number."""
        numbers: list[State] = []
        for value in self.values:
            number = _number(value) if isinstance(value, str) else value
            if number is None:
                return self
            numbers.append(number)
        # Different texts may be one number: "1" and "1.0".
        distinct = {number: i for i, number in enumerate(dict.fromkeys(numbers))}
        merged = np.array([distinct[number] for number in numbers] + [-1], dtype=np.int32)
        return RawColumn(self.name, tuple(distinct), merged[self.positions], self.ordered)

    def cells(self) -> list[State | None]:
        """Return the value of every row."""
        values: list[State | None] = [*self.values, None]
        return [values[p] for p in self.positions]


@dataclass(frozen=True)
class CodingOptions:
    """What the caller wants done with raw columns; see `twbn.as_table`."""

    discretize: Discretize
    drop: tuple[str, ...] = ()
    weights: str | ArrayLike | None = None
    like: Table | None = None
    absent_ok: bool = False  # a column of `like` that is not there is all missing
    target: str | None = None  # the one that is expected not to be there


def build_table(columns: Sequence[RawColumn], options: CodingOptions, *, source: str) -> Table:
    """Return the coded table of raw columns, or raise DataError naming the column at fault."""
    if not columns:
        msg = f"{source} has no columns"
        raise DataError(msg)
    if not len(columns[0].positions):
        msg = f"{source} has no rows"
        raise DataError(msg)
    names = [column.name for column in columns]
    for name in (*options.drop, *([options.weights] if isinstance(options.weights, str) else [])):
        if name not in names:
            raise OptionError(unknown_name(name, names))
        if names.count(name) > 1:
            msg = f"{names.count(name)} columns are called {name!r}; rename them, then choose one"
            raise OptionError(msg)
    kept = [c for c in columns if c.name not in options.drop and c.name != _weight_name(options)]
    weights = _weights(columns, options)
    if options.like is not None:
        return _code_like(kept, options, weights)
    if len(kept) < 2:
        names = [column.name for column in kept]
        msg = (
            f"{source} has {len(kept)} column{'' if kept else 's'} to use {names}, a network needs "
            "at least 2; is the delimiter right?"
        )
        raise DataError(msg)
    kept = [column.parsed() for column in kept]
    codings = [_fit_coding(column, options.discretize) for column in kept]
    unused = [name for name in options.discretize.cut_points if name not in names]
    if unused:
        raise OptionError(unknown_name(unused[0], names))
    codes = [_encode(column, coding) for column, coding in zip(kept, codings, strict=True)]
    return Table(tuple(c.name for c in kept), tuple(codings), np.column_stack(codes), weights)


def _code_like(
    columns: Sequence[RawColumn], options: CodingOptions, weights: NDArray[np.float64] | None
) -> Table:
    like = options.like
    assert like is not None
    by_name = {column.name: column for column in columns}
    if not by_name.keys() & set(like.names):
        raise DataError(unknown_name(like.names[0], list(by_name)))
    if options.absent_ok:
        check_misnamed(list(by_name), like.names, options.target)
    n_rows = len(columns[0].positions)
    codes = []
    for name, coding in zip(like.names, like.codings, strict=True):
        if name not in by_name and options.absent_ok:
            codes.append(np.full(n_rows, -1, dtype=np.int32))
            continue
        if name not in by_name:
            raise DataError(unknown_name(name, list(by_name)))
        column = by_name[name]
        if not all(isinstance(state, str) for state in coding.states) or isinstance(coding, Bins):
            column = column.parsed()
        codes.append(_encode(column, coding))
    return Table(like.names, like.codings, np.column_stack(codes), weights)


def _encode(column: RawColumn, coding: Coding) -> NDArray[np.int32]:
    of_values = np.append(coding.encode(column.values, column.name), np.int32(-1))
    return of_values[column.positions]


def _fit_coding(column: RawColumn, discretize: Discretize) -> Coding:
    name, n_rows = column.name, len(column.positions)
    observed = np.unique(column.positions[column.positions >= 0])
    if not len(observed):
        msg = f"column {name!r} has no values, only gaps; drop it with drop=[{name!r}]"
        raise DataError(msg)
    if len(observed) == 1:
        msg = (
            f"column {name!r} is constant (every value is {column.values[observed[0]]!r}); "
            f"drop it with drop=[{name!r}]"
        )
        raise DataError(msg)
    if column.is_numeric and not column.ordered:
        numbers = np.array(column.values, dtype=float)
        if not np.all(np.isfinite(numbers)):
            bad = column.values[int(np.flatnonzero(~np.isfinite(numbers))[0])]
            row = int(np.flatnonzero(column.positions == column.values.index(bad))[0]) + 1
            msg = f"column {name!r}, row {row}: numbers must be finite, got {bad}"
            raise DataError(msg)
        if name in discretize.cut_points:
            return Bins(tuple(discretize.cut_points[name]), discretize.at_least)
        if len(numbers) > discretize.max_categories:
            return discretize.fit(numbers[column.positions[column.positions >= 0]])
    elif name in discretize.cut_points:
        msg = f"column {name!r} has cut points but holds states such as {column.values[0]!r}"
        raise DataError(msg)
    if len(observed) == n_rows > 2 and not column.ordered:
        msg = (
            f"column {name!r} has as many states as rows ({n_rows}), like an identifier; "
            f"drop it with drop=[{name!r}]"
        )
        raise DataError(msg)
    if column.ordered:
        return Categories(column.values)
    if len({str(value) for value in column.values}) < len(column.values):
        msg = f"column {name!r} mixes values that look alike, such as 1 and '1'; make them one type"
        raise DataError(msg)
    return Categories(tuple(sorted(column.values, key=_sort_key)))


def _sort_key(state: State) -> tuple[bool, float, str]:
    if isinstance(state, str):
        return (True, 0.0, state)
    return (False, float(state), "")


def _weight_name(options: CodingOptions) -> str | None:
    return options.weights if isinstance(options.weights, str) else None


def _weights(columns: Sequence[RawColumn], options: CodingOptions) -> NDArray[np.float64] | None:
    if options.weights is None:
        return None
    if not isinstance(options.weights, str):
        return checked_weights(options.weights, len(columns[0].positions))
    name = options.weights
    column = next(c for c in columns if c.name == name).parsed()
    if not column.is_numeric or np.any(column.positions < 0):
        msg = f"column {name!r} is to hold row weights, but not all of its cells are numbers"
        raise DataError(msg)
    values = np.array(column.values, dtype=float)[column.positions]
    return checked_weights(values, len(values))


def plain_cell(value: object) -> Any:
    """Return a cell as text, number, truth value or None."""
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return (
            value if abs(value) < 2**63 else float(f"{value:e}" if abs(value) < 10**300 else "inf")
        )
    if isinstance(value, np.generic):
        return plain_cell(value.item())
    if type(value).__name__ in {"NAType", "NaTType"}:  # the gaps of pandas
        return None
    if type(value).__name__ == "Decimal":
        return float(value)  # type: ignore[arg-type]
    return str(value)


def is_missing(value: object) -> bool:
    """Say whether a value stands for nothing: None, NaN, the gaps of pandas, the texts in `GAPS`.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", "NA", 0, "no")]
    [True, True, True, True, False, False]
    """
    if value is np.ma.masked:
        return True
    plain = plain_cell(value)
    return _is_gap(plain.strip() if isinstance(plain, str) else plain, GAPS)


def _is_gap(value: State | None, missing: Collection[str]) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return value in missing
    return isinstance(value, float) and math.isnan(value)


def _number(text: str) -> int | float | None:
    text = text.strip()
    if _PADDED.fullmatch(text):
        return None
    return int(text) if _WHOLE.fullmatch(text) else as_number(text)
