"""The values of families at the prices of rows, and the bound that follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twbn import _core
from twbn.search.feasibility import a_structure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.deadline import Deadline
    from twbn.scores.score_table import ScoreTable
    from twbn.search.bound.multipliers import Multipliers
    from twbn.search.bound.relaxation import Relaxation

__all__ = ["Pricing"]

#: Families that a round of pricing adds for one variable, at most.
FAMILIES_PER_ROUND = 10


class Pricing:
    """Values of all families of a table; methods raise TimeoutError when the deadline passes."""

    def __init__(self, table: ScoreTable, k: int, n_jobs: int, deadline: Deadline) -> None:
        self._table = table
        self._k = k
        self._n_jobs = n_jobs
        self._deadline = deadline
        self._pricer = _core.FamilyPricer(table.index)

    def values(self, multipliers: Multipliers) -> NDArray[np.float64]:
        """Return the value of every family: its score and the prices of the rows that it helps."""
        if self._deadline.passed:
            raise TimeoutError
        arcs = multipliers.arcs
        pairs = np.array(list(multipliers.pairs), dtype=np.int32).reshape(-1, 3)
        values = self._pricer.values(
            [list(members) for members in multipliers.clusters],
            list(multipliers.clusters.values()),
            np.empty(0) if arcs is None else arcs.ravel(),
            np.ascontiguousarray(pairs[:, 0]),
            np.ascontiguousarray(pairs[:, 1]),
            np.ascontiguousarray(pairs[:, 2]),
            np.array(list(multipliers.pairs.values()), dtype=np.float64),
            self._n_jobs,
            self._deadline.left,
        )
        if not len(values):
            raise TimeoutError
        return values

    def bound_at(self, multipliers: Multipliers) -> tuple[NDArray[np.float64], float]:
        """Return the value of every family at these prices, and the resulting bound."""
        values = self.values(multipliers)
        return values, self.total(values, multipliers)

    def total(self, values: NDArray[np.float64], multipliers: Multipliers) -> float:
        """Return the bound of some values: each variable's best, and what the rows add."""
        best = np.maximum.reduceat(values, self._table.variable_offsets[:-1])
        return float(best.sum()) + multipliers.constant(self._k)

    def first_families(self, multipliers: Multipliers) -> NDArray[np.int64]:
        """Return the best families of every variable, priced or not, and those of one structure."""
        values = self.values(multipliers)
        best = []
        for v in range(self._table.n_variables):
            own = np.array(self._table.positions(v))
            order = np.argsort(-values[own], kind="stable")
            best += [own[order[:10]], own[:10]]
        # Without the families of one structure, a cluster row might have no column at all.
        return np.concatenate([*best, a_structure(self._table)])

    def worthwhile(
        self, values: NDArray[np.float64], relaxation: Relaxation, scale: float
    ) -> NDArray[np.int64]:
        """Return the best families not yet in the program, a few for each variable.

        The array is empty if the total gain, as a share of `scale`, is not worth another round.
        """
        chosen, surplus = [], 0.0
        for v, price in enumerate(relaxation.prices()):
            own = self._table.positions(v)
            gains = values[own.start : own.stop] - price
            lacking = relaxation.lacks(own.start, own.stop)
            good = np.flatnonzero((gains > 1e-9 * abs(scale)) & lacking)
            if not len(good):
                continue
            if len(good) > FAMILIES_PER_ROUND:
                good = good[np.argpartition(-gains[good], FAMILIES_PER_ROUND)[:FAMILIES_PER_ROUND]]
            surplus += float(gains[good].max())
            chosen.append(own.start + good)
        return np.concatenate(chosen) if surplus > 1e-6 * abs(scale) else np.empty(0, np.int64)
