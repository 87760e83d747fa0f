"""One component of a mixture while it is learned: its structure and what its rows say of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import interrupts
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.learning.mixture.gamma import digamma, log_gamma
from twbn.search.start import ProvedDag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.learning.mixture.rows import Rows

__all__ = ["Component", "searched"]

#: Weights are whole multiples of this for a search: counting is then as fast as without weights.
UNIT = 1 / 64


@dataclass(frozen=True)
class Component:
    """A structure with its proof, and the expected counts of its families in the rows.

    The parameters are not numbers but distributions: Dirichlet, with the counts and an equivalent
    sample size, so that few rows say little (variational Bayes).
    """

    dag: Dag
    decomposition: TreeDecomposition
    counts: tuple[NDArray[np.float64], ...]
    ess: float

    @classmethod
    def of(
        cls,
        dag: Dag,
        decomposition: TreeDecomposition,
        rows: Rows,
        weights: NDArray[np.float64],
        ess: float,
    ) -> Component:
        """Return a structure with its counts in weighted rows."""
        n_states = rows.table.n_states.tolist()
        counts = tuple(
            _family_counts(rows, (*parents, v), n_states, weights)
            for v, parents in enumerate(dag.parents)
        )
        return cls(dag, decomposition, counts, ess)

    @classmethod
    def without_arcs(cls, rows: Rows, weights: NDArray[np.float64], ess: float) -> Component:
        """Return the component in which all variables are independent."""
        n = rows.table.n_variables
        bags = tuple(frozenset([v]) for v in range(n))
        proof = TreeDecomposition(bags, tuple((v, v + 1) for v in range(n - 1)))
        return cls.of(Dag.empty(n), proof, rows, weights, ess)

    @staticmethod
    def family(
        rows: Rows, v: int, parents: tuple[int, ...], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the counts of a family: one axis for each parent, the variable's own last."""
        return _family_counts(rows, (*parents, v), rows.table.n_states.tolist(), weights)

    def with_weights(self, rows: Rows, weights: NDArray[np.float64]) -> Component:
        """Return the same structure with the counts of other weights."""
        return Component.of(self.dag, self.decomposition, rows, weights, self.ess)

    def score(self) -> float:
        """Return the BDeu score of the structure: the marginal likelihood of its counts."""
        return sum(_bdeu(counts, self.ess) for counts in self.counts)

    def expected_logs(self, rows: Rows) -> NDArray[np.float64]:
        """Return the expectation, over the parameters, of ln P(row) for every row."""
        total = np.zeros(len(rows.weights))
        for v, (parents, counts) in enumerate(zip(self.dag.parents, self.counts, strict=True)):
            alpha = counts + self.ess / counts.size
            logs = digamma(alpha) - digamma(alpha.sum(axis=-1, keepdims=True))
            total += logs.ravel()[_cells(rows, (*parents, v), counts.shape)]
        return total


def searched(
    learn: Any,
    rows: Rows,
    weights: NDArray[np.float64],
    before: Component | None,
    options: dict[str, Any],
) -> tuple[Dag, TreeDecomposition] | None:
    """Return the structure that a search finds for weighted rows.

    None where no row has weight, or where Ctrl-C ended the search before there was a structure.
    """
    # Rows that weigh less than one need a finer unit.
    unit = UNIT * min(1.0, 2.0 ** math.floor(math.log2(float(np.median(rows.weights)))))
    rounded = np.round(weights / unit) * unit
    if not (rounded > 0).any():
        return None
    table: Table = rows.weighted(rounded)
    start = {}
    if before is not None:  # with its proof, which a short search has no time to find again
        start = {"start": ProvedDag(before.dag, before.decomposition)}
    try:
        result = learn(table, method="anneal", **options, **start)
    except KeyboardInterrupt:
        if interrupts.pending():  # what was found before is kept
            return None
        raise
    return result.dag, result.decomposition


def _cells(rows: Rows, family: tuple[int, ...], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return where every row is in the table of a family."""
    place: NDArray[np.intp] = rows.columns[family[0]].copy()
    for u, n_states in zip(family[1:], shape[1:], strict=True):
        place *= n_states
        place += rows.columns[u]
    return place


def _family_counts(
    rows: Rows,
    family: tuple[int, ...],
    n_states: list[int],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    shape = tuple(n_states[u] for u in family)
    size = int(np.prod(shape))
    counts = np.bincount(_cells(rows, family, shape), weights, size)
    return counts.reshape(shape).astype(np.float64)


def _bdeu(counts: NDArray[np.float64], ess: float) -> float:
    """Return the BDeu score of a family from its counts, which need not be whole numbers."""
    child = counts.reshape(-1, counts.shape[-1])
    prior = ess / counts.size
    above = prior * counts.shape[-1]
    cells = log_gamma(child + prior) - float(log_gamma(np.array(prior)))
    sums = log_gamma(child.sum(axis=1) + above) - float(log_gamma(np.array(above)))
    return float(cells.sum() - sums.sum())
