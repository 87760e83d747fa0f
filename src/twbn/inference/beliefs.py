"""Tables of non-negative numbers for many rows at once, safe from underflow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Beliefs", "exact_product", "product", "quotient", "scaled"]

#: Range of binary exponents that a table of plain numbers, or a product of such, may span.
PLAIN_RANGE = 900
#: Entries of a product above this have lost no precision.
LEAST = 2.0**-PLAIN_RANGE
#: Stands for the exponent of zero.
NO_EXPONENT = -(2**40)


@dataclass(frozen=True)
class Beliefs:
    """A table over `variables` for every row, up to a factor per row whose logarithm is `log`.

    If the entries of a table span more than the range of a double, `exponents` holds an exponent
    for each entry, and the table is ``values * 2**exponents``; otherwise it is None.
    """

    variables: tuple[int, ...]  # ascending
    values: NDArray[np.float64]  # [rows or 1, states of each variable]
    log: NDArray[np.float64]  # [rows or 1]
    exponents: NDArray[np.int64] | None = None

    @cached_property
    def lowest(self) -> float:
        """The largest exponent e such that no non-zero entry is below 2**e."""
        if self.exponents is not None:
            return -math.inf
        least = float(self.values.min())
        if least <= 0:
            least = float(np.min(self.values, where=self.values > 0, initial=1.0))
        return math.frexp(least)[1] - 1

    @property
    def is_impossible(self) -> bool:
        """Whether the table of some row is all zero."""
        return bool(np.isneginf(self.log).any() or self.values.max() == 0)

    def plain(self) -> NDArray[np.float64]:
        """Return plain numbers; entries too small relative to the row's largest become zero."""
        if self.exponents is None:
            return self.values
        return np.asarray(np.ldexp(self.values, self.exponents))

    def at(self, index: tuple[Any, ...]) -> NDArray[np.float64]:
        """Return part of the table, each row (first axis) scaled by its own largest entry."""
        values = self.values[index]
        if self.exponents is None:
            return np.asarray(values)
        exponents = np.where(values > 0, self.exponents[index], NO_EXPONENT)
        axes = tuple(range(1, values.ndim))
        most = np.maximum(exponents.max(axis=axes, keepdims=True), NO_EXPONENT // 2)
        return np.asarray(np.ldexp(values, np.clip(exponents - most, -3000, 0)))

    def summed(self, kept: Sequence[int]) -> Beliefs:
        """Return the table over fewer variables, the others summed out."""
        return self._reduced(kept, maximise=False)

    def maximised(self, kept: Sequence[int]) -> Beliefs:
        """Return the table over fewer variables, the others maximised over."""
        return self._reduced(kept, maximise=True)

    def _reduced(self, kept: Sequence[int], *, maximise: bool) -> Beliefs:
        inside = set(kept)
        left = tuple(v for v in self.variables if v in inside)
        axes = tuple(1 + k for k, v in enumerate(self.variables) if v not in inside)
        if not axes:
            return self
        reduce = np.max if maximise else np.sum
        if self.exponents is None:
            return _rescaled(Beliefs(left, reduce(self.values, axis=axes), self.log))
        # Every entry of the result has its own exponent: the largest of the entries it combines.
        exponents = np.where(self.values > 0, self.exponents, NO_EXPONENT)
        most = np.maximum(exponents.max(axis=axes, keepdims=True), NO_EXPONENT // 2)
        aligned = np.ldexp(self.values, np.clip(exponents - most, -3000, 0))
        values = reduce(aligned, axis=axes)
        return _tidied(left, values, most.reshape(values.shape), self.log)


def product(factors: Sequence[Beliefs], variables: Sequence[int]) -> Beliefs:
    """Return the product of tables over `variables` (ascending), the largest entry near one."""
    found = exact_product(factors, variables)
    if found.exponents is None:
        return _rescaled(found)
    return _tidied(found.variables, found.values, found.exponents, found.log)


def exact_product(factors: Sequence[Beliefs], variables: Sequence[int]) -> Beliefs:
    """Return the product of tables without rescaling: no factor is moved into `log`."""
    log = np.zeros(1)
    for factor in factors:
        log = log + factor.log
    tables = [_spread(f.values, f.variables, variables) for f in factors]
    if all(factor.exponents is None for factor in factors):
        values = tables[0]
        for table in tables[1:]:
            values = values * table
        # No entry is tiny, except those that are zero in a factor.
        if values.min() > LEAST or sum(factor.lowest for factor in factors) > -PLAIN_RANGE:
            return Beliefs(tuple(variables), values, log)
    shape = np.broadcast_shapes(*(table.shape for table in tables))
    values, exponents = np.ones(shape), np.zeros(shape, dtype=np.int64)
    for factor, table in zip(factors, tables, strict=True):
        values, shift = np.frexp(values * np.frexp(table)[0])
        exponents += shift + np.frexp(table)[1]
        if factor.exponents is not None:
            exponents += _spread(factor.exponents, factor.variables, variables)
    return Beliefs(tuple(variables), values, log, np.where(values > 0, exponents, 0))


def scaled(variables: tuple[int, ...], values: NDArray[np.float64]) -> Beliefs:
    """Return numbers of any size as a table whose largest entry is near one, per row."""
    mantissas, exponents = np.frexp(values)
    return _tidied(variables, mantissas, exponents.astype(np.int64), np.zeros(1))


def quotient(above: Beliefs, below: Beliefs) -> Beliefs:
    """Divide one table by another over the same variables; division by zero gives zero."""
    shape = np.broadcast_shapes(above.values.shape, below.values.shape)
    if above.exponents is None and below.exponents is None:
        # No entry of a message exceeds one: the quotient can only grow.
        zeros = np.zeros(shape)
        with np.errstate(over="ignore"):
            values = np.divide(above.values, below.values, out=zeros, where=below.values > 0)
        if values.max() < math.inf:
            return Beliefs(above.variables, values, above.log)
    (a, i), (b, j) = (np.frexp(table.values) for table in (above, below))
    values = np.divide(a, b, out=np.zeros(shape), where=b > 0)
    exponents = np.zeros(shape, dtype=np.int64) + i - j
    for table, sign in ((above, 1), (below, -1)):
        if table.exponents is not None:
            exponents += sign * table.exponents
    return _tidied(above.variables, values, exponents, above.log)


def _spread(values: NDArray[Any], variables: Sequence[int], over: Sequence[int]) -> NDArray[Any]:
    """Return a table with axes of length one where `over` has more variables (both ascending)."""
    sizes = iter(values.shape[1:])
    present = set(variables)
    return values.reshape(values.shape[0], *(next(sizes) if v in present else 1 for v in over))


def _rescaled(belief: Beliefs) -> Beliefs:
    """Divide each row's table by its largest entry and move that into `log`, to avoid overflow."""
    values = belief.values
    if len(values) == 1:  # a single query: it spends half of its time here
        most = float(values.max())
        log = belief.log + (math.log(most) if most > 0 else -math.inf)
        return Beliefs(belief.variables, values / most if most > 0 else values, log)
    largest = values.reshape(len(values), -1).max(axis=1)
    safe = np.where(largest > 0, largest, 1.0)
    with np.errstate(divide="ignore"):
        log = belief.log + np.log(largest)
    return Beliefs(belief.variables, values / safe.reshape(-1, *([1] * (values.ndim - 1))), log)


def _tidied(
    variables: tuple[int, ...],
    values: NDArray[np.float64],
    exponents: NDArray[np.int64],
    log: NDArray[np.float64],
) -> Beliefs:
    """Return a table with its largest entry near one, in plain numbers if their range suffices."""
    values, shift = np.frexp(values)
    exponents = np.where(values > 0, exponents + shift, NO_EXPONENT)
    most = exponents.reshape(len(exponents), -1).max(axis=1)
    possible = most > NO_EXPONENT // 2
    most = np.where(possible, most, 0)
    exponents = exponents - most.reshape(-1, *([1] * (values.ndim - 1)))
    log = log + np.where(possible, most * np.log(2.0), -np.inf)
    exponents = np.where(values > 0, exponents, 0)
    if exponents.min(initial=0) > -PLAIN_RANGE:
        return _rescaled(Beliefs(variables, np.ldexp(values, exponents), log))
    return Beliefs(variables, values, log, np.clip(exponents, -(2**31), 0))
