"""The rows that a mixture is learned from, and how they are first divided."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from twbn.data.table import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Rows", "distinct_rows", "divided"]

#: Rounds of k-means, and rows that it looks at.
MAX_ROUNDS, MAX_ROWS = 25, 20_000


@dataclass(frozen=True)
class Rows:
    """Distinct rows without missing cells, and how often each occurs."""

    table: Table  # without weights
    weights: NDArray[np.float64]
    workers: int = 1  # threads for what is done for every component

    @property
    def codes(self) -> NDArray[np.int32]:
        """Codes of the rows."""
        return self.table.codes

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """The codes of each variable, one after the other in memory."""
        return np.ascontiguousarray(self.table.codes.T, dtype=np.intp)

    @property
    def total(self) -> float:
        """How many rows there are, copies included."""
        return float(self.weights.sum())

    def weighted(self, weights: NDArray[np.float64]) -> Table:
        """Return the rows with other weights, without those whose weight is zero."""
        kept = weights > 0
        table = self.table
        return Table(table.names, table.codings, table.codes[kept], weights[kept])


def distinct_rows(table: Table, workers: int = 1) -> Rows:
    """Return the distinct rows of a table, weighted."""
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    codes, place = np.unique(table.codes, axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), weights).astype(np.float64)
    kept = counts > 0
    return Rows(Table(table.names, table.codings, codes[kept]), counts[kept], workers)


def divided(rows: Rows, n_parts: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a division of the rows into parts of rows that are alike: 1 where a row belongs.

    K-means on indicators of the states, each column scaled by how much its states vary, from
    starts that are far apart (k-means++). O(rows · states · parts) for each round.
    """
    points = _indicators(rows)
    n = len(points)
    chosen = np.sort(rng.permutation(n)[:MAX_ROWS])
    some, weights = points[chosen], rows.weights[chosen]
    centres = _far_apart(some, weights, n_parts, rng)
    part = np.full(len(some), -1)
    for _ in range(MAX_ROUNDS):
        nearest = _distances(some, centres).argmin(axis=1)
        if np.array_equal(nearest, part):
            break
        part = nearest
        for i in range(n_parts):
            own = part == i
            if own.any():
                centres[i] = np.average(some[own], axis=0, weights=weights[own])
    found = np.zeros((n, n_parts))
    found[np.arange(n), _distances(points, centres).argmin(axis=1)] = 1.0
    return found


def _indicators(rows: Rows) -> NDArray[np.float32]:
    columns = []
    for v, n_states in enumerate(rows.table.n_states.tolist()):
        codes = rows.codes[:, v]
        first = 1 if n_states == 2 else 0  # of two states, one says it all
        columns += [(codes == s).astype(np.float32) for s in range(first, n_states)]
    return np.column_stack(columns)


def _far_apart(
    points: NDArray[np.float32],
    weights: NDArray[np.float64],
    n_parts: int,
    rng: np.random.Generator,
) -> NDArray[np.float32]:
    centres = [points[rng.choice(len(points), p=weights / weights.sum())]]
    while len(centres) < n_parts:
        least = _distances(points, np.stack(centres)).min(axis=1).clip(min=0.0) * weights
        total = least.sum()
        share = least / total if total > 0 else weights / weights.sum()
        centres.append(points[rng.choice(len(points), p=share)])
    return np.stack(centres)


def _distances(points: NDArray[np.float32], centres: NDArray[np.float32]) -> NDArray[np.float64]:
    squares = (points**2).sum(axis=1, dtype=np.float64)[:, None]
    return np.asarray(squares - 2.0 * (points @ centres.T) + (centres**2).sum(axis=1))
