"""Distinct numbers of long columns, without sorting where few values or a small range allow it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["counted_values", "distinct_numbers", "positions_in", "quantiles"]

#: Integers that span no more than this are counted in a table.
MAX_SPAN = 2**16
#: Numbers looked at first: if these have too many values, so has the column.
FIRST = 4096


def distinct_numbers(numbers: NDArray[Any], limit: int | None = None) -> NDArray[Any] | None:
    """Return the sorted distinct numbers, or None if there are more than `limit`.

    None of the numbers may be NaN. Linear for integers of a small span and for few values,
    otherwise O(n log n).
    """
    if not len(numbers):
        return numbers
    if limit is not None and len(np.unique(numbers[:FIRST])) > limit:
        return None
    counts = _counts(numbers)
    if counts is not None:
        low, table = counts
        values = low + np.flatnonzero(table)
    elif limit is None:
        values = np.unique(numbers)
    else:
        values = np.unique(numbers[:FIRST])
        while True:
            rest = numbers[positions_in(numbers, values) < 0]
            if not len(rest):
                break
            values = np.union1d(values, np.unique(rest[:FIRST]))
            if len(values) > limit:
                return None
    return None if limit is not None and len(values) > limit else values


def positions_in(numbers: NDArray[Any], values: NDArray[Any]) -> NDArray[np.int32]:
    """Return the position of each number in sorted distinct `values`; -1 if it is not there."""
    if not len(values):
        return np.full(len(numbers), -1, dtype=np.int32)
    whole = numbers.dtype.kind in "iu" and values.dtype.kind in "iu"
    if whole and int(values[-1]) - int(values[0]) < MAX_SPAN:
        low, high = int(values[0]), int(values[-1])
        table = np.full(high - low + 2, -1, dtype=np.int32)
        table[values - low] = np.arange(len(values), dtype=np.int32)
        if numbers.min() >= low and numbers.max() <= high:
            return np.asarray(table[numbers - low])
        inside = (numbers >= low) & (numbers <= high)
        return np.asarray(table[np.where(inside, numbers - low, high - low + 1)])
    found = np.searchsorted(values, numbers)
    found[found == len(values)] = 0
    return np.where(values[found] == numbers, found, -1).astype(np.int32)


def counted_values(
    numbers: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int32]] | None:
    """Return the values of integers, how often each occurs, and each number's position in them.

    Linear; None if the integers span too much, or hardly repeat.
    """
    counts = _counts(numbers)
    if counts is None:
        return None
    low, table = counts
    values = np.flatnonzero(table)
    if 2 * len(values) > len(numbers):
        return None
    if len(values) == len(table):
        return low + values, table, (numbers - low).astype(np.int32)
    position = np.zeros(len(table), dtype=np.int32)
    position[values] = np.arange(len(values), dtype=np.int32)
    return low + values, table[values], position[numbers - low]


def quantiles(
    numbers: NDArray[Any], shares: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the numbers below which the given shares of the rows, or of their weight, lie.

    Without weights these are NumPy's quantiles (linear interpolation); with whole-number weights,
    those of the rows repeated as often.
    """
    counts = _counts(numbers) if weights is None else None
    if counts is not None:
        low, table = counts
        values, times = low + np.arange(len(table)), table.astype(np.float64)
    elif weights is None:
        return np.asarray(np.quantile(numbers.astype(np.float64), shares), dtype=np.float64)
    else:
        order = np.argsort(numbers, kind="stable")
        values, times = numbers[order], weights[order]
    ends = np.cumsum(times)
    ranks = (max(ends[-1] - 1, 0.0)) * shares
    lower, upper = np.floor(ranks), np.ceil(ranks)
    top = len(values) - 1
    below = values[np.minimum(np.searchsorted(ends, lower, side="right"), top)].astype(np.float64)
    above = values[np.minimum(np.searchsorted(ends, upper, side="right"), top)].astype(np.float64)
    return np.asarray(below + (ranks - lower) * (above - below))


def _counts(numbers: NDArray[Any]) -> tuple[int, NDArray[np.int64]] | None:
    """Return the smallest number and how often each from there on occurs, if the span allows."""
    if numbers.dtype.kind not in "iu" or not len(numbers):
        return None
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= MAX_SPAN:
        return None
    return low, np.bincount(numbers - low, minlength=high - low + 1)
