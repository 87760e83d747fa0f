"""A first guess at missing cells: those of the rows that are most alike."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from twbn.data.coding import Bins
from twbn.learning.em import filled_at_random

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.deadline import Deadline

__all__ = ["filled_from_others"]

#: Most comparisons of cells; fewest and most rows that an incomplete one is compared with.
MAX_COMPARISONS, LEAST_DONORS, MOST_DONORS = 2e8, 30, 1000
#: Incomplete rows that are compared at a time, and the nearest rows whose cells are tried.
ROWS_AT_ONCE, N_NEAREST = 1000, 10
#: How unlike cells are of which one is not known.
HALF = 0.5


def filled_from_others(table: Table, seed: int = 0, deadline: Deadline | None = None) -> Table:
    """Return the table with missing cells taken from rows whose known cells are most alike.

    Structural EM starts here: cells drawn from their columns alone would hide what columns tell of
    each other, and the first structure, and with it the last, would lack those arcs. A cell that
    none of the nearest rows has, or that is not reached before the deadline, is drawn from its
    column.
    """
    rng = np.random.default_rng(seed)
    incomplete = np.flatnonzero((table.codes < 0).any(axis=1))
    if not len(incomplete):
        return table
    n_cells = max(len(incomplete) * table.n_variables, 1)
    n_donors = int(min(max(MAX_COMPARISONS / n_cells, LEAST_DONORS), MOST_DONORS, table.n_rows))
    donors = np.sort(rng.choice(table.n_rows, n_donors, replace=False))
    codes = np.array(filled_at_random(table, seed).codes)
    for first in range(0, len(incomplete), ROWS_AT_ONCE):
        if deadline is not None and deadline.over:
            break
        rows = incomplete[first : first + ROWS_AT_ONCE]
        distances = _distances(table, rows, donors)
        n_nearest = min(N_NEAREST, n_donors - 1)
        nearest = donors[np.argpartition(distances, n_nearest, axis=1)[:, : n_nearest + 1]]
        order = np.argsort(np.take_along_axis(distances, np.searchsorted(donors, nearest), 1), 1)
        nearest = np.take_along_axis(nearest, order, axis=1)
        for v in np.flatnonzero((table.codes[rows] < 0).any(axis=0)):
            empty = np.flatnonzero(table.codes[rows, v] < 0)
            offered = _offered(table.codes[:, v], nearest[empty])
            codes[rows[empty], v] = np.where(offered < 0, codes[rows[empty], v], offered)
    return replace(table, codes=codes)


def _offered(column: NDArray[np.int32], nearest: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the cell of the nearest row that has one, or -1."""
    offered = column[nearest]
    return np.asarray(offered[np.arange(len(nearest)), (offered >= 0).argmax(axis=1)])


def _distances(
    table: Table, rows: NDArray[np.int64], donors: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return how unlike rows and donors are; a cell that one of them lacks is half alike.

    A row is far from itself. Intervals are as far apart as they are along the axis, other states
    are alike or not.
    """
    total = np.zeros((len(rows), len(donors)), dtype=np.float32)
    for v, coding in enumerate(table.codings):
        ours, theirs = table.codes[rows, v, None], table.codes[None, donors, v]
        if isinstance(coding, Bins):
            apart = np.abs(ours - theirs) / np.float32(max(len(coding.states) - 1, 1))
        else:
            apart = (ours != theirs).astype(np.float32)
        total += np.where((ours >= 0) & (theirs >= 0), apart, np.float32(HALF))
    total[rows[:, None] == donors[None, :]] = np.inf
    return total
