"""The counts behind the parameters of a network, and what more rows make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.graphs.dag import Dag

__all__ = ["FamilyCounts", "family_counts", "table_from_counts"]


@dataclass(frozen=True, eq=False)
class FamilyCounts:
    """How often each combination of a variable and its parents occurred, and the prior.

    Invariant: `tables[v]` has the shape of the network's table of v and is finite and not negative.
    The arrays are read-only. Counts of unweighted rows are whole numbers, so their sums are exact:
    rows in any number of chunks give the bits of all rows at once.
    """

    tables: tuple[NDArray[np.float64], ...]
    ess: float

    def __post_init__(self) -> None:
        tables = tuple(np.array(table, dtype=np.float64) for table in self.tables)
        for table in tables:
            if not np.all(np.isfinite(table)) or (table < 0).any():
                msg = "counts must be finite numbers of 0 or more"
                raise DataError(msg)
            table.setflags(write=False)
        object.__setattr__(self, "tables", tables)

    @classmethod
    def of(cls, table: Table, dag: Dag, ess: float) -> FamilyCounts:
        """Return the counts of complete rows."""
        counts = (family_counts(table, v, parents) for v, parents in enumerate(dag.parents))
        return cls(tuple(counts), ess)

    def probabilities(self) -> tuple[NDArray[np.float64], ...]:
        """Return the conditional tables that the counts and the prior lead to."""
        return tuple(table_from_counts(counts, self.ess) for counts in self.tables)

    def plus(self, more: FamilyCounts, forget: float) -> FamilyCounts:
        """Return these counts, times a factor, and others."""
        pairs = zip(self.tables, more.tables, strict=True)
        return FamilyCounts(tuple(forget * old + new for old, new in pairs), self.ess)


def family_counts(table: Table, child: int, parents: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the count of each combination: one axis per parent, the child's axis last."""
    family = (*parents, child)
    shape = tuple(int(table.n_states[u]) for u in family)
    cells = np.ravel_multi_index(tuple(table.codes[:, u] for u in family), shape)
    counts = np.bincount(cells, weights=table.weights, minlength=int(np.prod(shape)))
    return counts.reshape(shape).astype(np.float64)


def table_from_counts(counts: NDArray[np.float64], ess: float) -> NDArray[np.float64]:
    """Return the mean of the Dirichlet posterior; rows without counts or prior are uniform."""
    counts = counts + ess / counts.size
    sums = counts.sum(axis=-1, keepdims=True)
    uniform = 1.0 / counts.shape[-1]
    return np.asarray(np.divide(counts, sums, out=np.full_like(counts, uniform), where=sums > 0))
