"""From raw columns to a coded table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twbn.checks import unknown
from twbn.data.coding import Bins, Categories
from twbn.data.discretize import Discretize
from twbn.data.names import check_misnamed
from twbn.data.table import Table, checked_weights
from twbn.errors import DataError, OptionError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from twbn.data.coding import Coding, State
    from twbn.data.columns import RawColumn

__all__ = ["CodingOptions", "build_table"]


@dataclass(frozen=True)
class CodingOptions:
    """How to code raw columns; see `twbn.as_table`."""

    discretize: Discretize
    drop: tuple[str, ...] = ()
    weights: str | ArrayLike | None = None
    like: Table | None = None
    absent_ok: bool = False  # an absent column of `like` is all missing
    target: str | None = None  # the column that is expected to be absent

    @classmethod
    def of(
        cls,
        discretize: str | Discretize,
        drop: Sequence[str],
        weights: str | ArrayLike | None,
        like: Table | None,
        *,
        absent_ok: bool,
        target: str | None,
    ) -> CodingOptions:
        """Return the options of `twbn.as_table` and `twbn.read_table`, checked."""
        columns = (drop,) if isinstance(drop, str) else tuple(drop)
        rule = discretize if isinstance(discretize, Discretize) else Discretize(discretize)  # type: ignore[arg-type]
        return cls(rule, columns, weights, like, absent_ok, target)


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
            raise OptionError(unknown("column", name, names))
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
        raise OptionError(unknown("column", unused[0], names))
    codes = [_encode(column, coding) for column, coding in zip(kept, codings, strict=True)]
    return Table(tuple(c.name for c in kept), tuple(codings), np.column_stack(codes), weights)


def _code_like(
    columns: Sequence[RawColumn], options: CodingOptions, weights: NDArray[np.float64] | None
) -> Table:
    like = options.like
    assert like is not None
    by_name = {column.name: column for column in columns}
    if not by_name.keys() & set(like.names):
        raise DataError(unknown("column", like.names[0], list(by_name)), column=like.names[0])
    if options.absent_ok:
        check_misnamed(list(by_name), like.names, options.target)
    n_rows = len(columns[0].positions)
    codes = []
    for name, coding in zip(like.names, like.codings, strict=True):
        if name not in by_name and options.absent_ok:
            codes.append(np.full(n_rows, -1, dtype=np.int32))
            continue
        if name not in by_name:
            raise DataError(unknown("column", name, list(by_name)), column=name)
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
        raise _to_drop(name, "has no values, all its cells are missing")
    if len(observed) == 1:
        raise _to_drop(name, f"is constant (every value is {column.values[observed[0]]!r})")
    if column.is_numeric and not column.ordered:
        numbers = np.array(column.values, dtype=float)
        if not np.all(np.isfinite(numbers)):
            bad = column.values[int(np.flatnonzero(~np.isfinite(numbers))[0])]
            row = int(np.flatnonzero(column.positions == column.values.index(bad))[0]) + 1
            msg = f"column {name!r}, row {row}: numbers must be finite, got {bad}"
            raise DataError(msg, column=name)
        if name in discretize.cut_points:
            return Bins(tuple(discretize.cut_points[name]), discretize.at_least)
        if len(numbers) > discretize.max_categories:
            return discretize.fit(numbers[column.positions[column.positions >= 0]])
    elif name in discretize.cut_points:
        msg = f"column {name!r} has cut points but holds states such as {column.values[0]!r}"
        raise DataError(msg, column=name)
    if len(observed) == n_rows > 2 and not column.ordered:
        raise _to_drop(name, f"has as many states as rows ({n_rows}), like an identifier")
    if column.ordered:
        return Categories(column.values)
    if len({str(value) for value in column.values}) < len(column.values):
        msg = f"column {name!r} mixes values that look alike, such as 1 and '1'; make them one type"
        raise DataError(msg, column=name)
    return Categories(tuple(sorted(column.values, key=_sort_key)))


def _to_drop(name: str, problem: str) -> DataError:
    return DataError(
        f"column {name!r} {problem}; drop it with ", Setting("drop", [name]), column=name
    )


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
        raise DataError(msg, column=name)
    values = np.array(column.values, dtype=float)[column.positions]
    return checked_weights(values, len(values))
