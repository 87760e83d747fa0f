"""Mixed-integer programs as plain arrays, independent of any solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

__all__ = ["Program", "ProgramBuilder", "comparisons"]


@dataclass(frozen=True)
class Program:
    """Maximise ``objective @ x`` subject to bounds on columns and on rows of a sparse matrix.

    Row r has the columns ``columns[starts[r] : starts[r + 1]]``, and ``values`` in the same slice.
    """

    objective: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    integer: NDArray[np.bool_]
    starts: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]

    @property
    def n_columns(self) -> int:
        """Number of variables of the program."""
        return len(self.objective)

    @property
    def n_rows(self) -> int:
        """Number of constraints."""
        return len(self.row_lower)

    def rows(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64], float, float]]:
        """Yield the columns, values, lower and upper bound of every row."""
        for r in range(self.n_rows):
            entries = slice(self.starts[r], self.starts[r + 1])
            low, high = float(self.row_lower[r]), float(self.row_upper[r])
            yield self.columns[entries], self.values[entries], low, high

    def violation(self, x: NDArray[np.float64]) -> float:
        """Return the largest amount by which a point violates a row or a bound."""
        sums = np.zeros(self.n_rows)
        owner = np.repeat(np.arange(self.n_rows), np.diff(self.starts))
        np.add.at(sums, owner, self.values * x[self.columns])
        excess = [self.row_lower - sums, sums - self.row_upper, self.lower - x, x - self.upper]
        return float(max(by.max(initial=0.0) for by in excess))


def comparisons(terms: Any, low: float, high: float) -> Iterator[Any]:
    """Yield what a solver's expression has to satisfy to lie between two bounds."""
    if low == high:
        yield terms == low
        return
    if math.isfinite(low):
        yield terms >= low
    if math.isfinite(high):
        yield terms <= high


class ProgramBuilder:
    """Collects columns and families of rows."""

    def __init__(self) -> None:
        self._objective: list[NDArray[np.float64]] = []
        self._lower: list[NDArray[np.float64]] = []
        self._upper: list[NDArray[np.float64]] = []
        self._integer: list[NDArray[np.bool_]] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._columns: list[NDArray[np.int32]] = []
        self._values: list[NDArray[np.float64]] = []
        self._row_lower: list[NDArray[np.float64]] = []
        self._row_upper: list[NDArray[np.float64]] = []
        self._n_columns = 0

    def add_columns(
        self, objective: ArrayLike, *, lower: float, upper: ArrayLike, integer: bool
    ) -> NDArray[np.int64]:
        """Add variables with these objective coefficients; return their positions."""
        costs = np.atleast_1d(np.asarray(objective, dtype=np.float64))
        first, self._n_columns = self._n_columns, self._n_columns + len(costs)
        self._objective.append(costs)
        self._lower.append(np.full(len(costs), lower))
        self._upper.append(np.broadcast_to(np.asarray(upper, dtype=np.float64), costs.shape).copy())
        self._integer.append(np.full(len(costs), integer))
        return np.arange(first, self._n_columns)

    def add_rows(
        self,
        columns: ArrayLike,
        values: ArrayLike,
        *,
        lower: ArrayLike = -np.inf,
        upper: ArrayLike = np.inf,
    ) -> None:
        """Add rows with equally many entries; `values` is broadcast to the shape of `columns`.

        Each of `lower` and `upper` is one number, or one number per row.
        """
        places = np.atleast_2d(np.asarray(columns, dtype=np.int32))
        if not places.size:
            return
        factors = np.broadcast_to(np.asarray(values, dtype=np.float64), places.shape)
        self._columns.append(places.ravel())
        self._values.append(factors.ravel())
        self._lengths.append(np.full(len(places), places.shape[1], dtype=np.int64))
        self._row_lower.append(np.full(len(places), lower, dtype=np.float64))
        self._row_upper.append(np.full(len(places), upper, dtype=np.float64))

    def build(self) -> Program:
        """Return the program."""

        def joined(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
            return np.concatenate(parts) if parts else np.empty(0)

        lengths = np.concatenate(self._lengths) if self._lengths else np.empty(0, dtype=np.int64)
        return Program(
            joined(self._objective),
            joined(self._lower),
            joined(self._upper),
            np.concatenate(self._integer) if self._integer else np.empty(0, dtype=bool),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.concatenate(self._columns) if self._columns else np.empty(0, dtype=np.int32),
            joined(self._values),
            joined(self._row_lower),
            joined(self._row_upper),
        )
