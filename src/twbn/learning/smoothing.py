"""Parameters for prediction: each table is drawn towards that of fewer parents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twbn.network.counts import family_counts
from twbn.network.network import Network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.search import SearchResult

__all__ = ["backed_off", "fit_smoothed"]


def fit_smoothed(result: SearchResult, table: Table, *, first: int, strength: float) -> Network:
    """Return the network of a structure whose tables are drawn towards those of fewer parents.

    Parameters
    ----------
    result
        The structure, with its decomposition.
    table
        The rows; each family is counted in those in which none of its cells is missing.
    first
        The parent that is left out last: the class.
    strength
        Number of rows that the distribution given fewer parents weighs.

    Notes
    -----
    Friedman, Geiger and Goldszmidt (1997) draw the tables of a classifier towards the marginals;
    here each parent is added in turn, so that a rare combination of parents falls back on the
    combination without the last one, and so on.
    """
    tables = []
    for v, parents in enumerate(result.dag.parents):
        known = (table.codes[:, [*parents, v]] >= 0).all(axis=1)
        rows = table if known.all() else table.take(np.flatnonzero(known))
        tables.append(backed_off(family_counts(rows, v, parents), parents, first, strength))
    return Network(result.dag, table.names, table.codings, tuple(tables), result.decomposition)


def backed_off(
    counts: NDArray[np.float64], parents: tuple[int, ...], first: int, strength: float
) -> NDArray[np.float64]:
    """Return P(child | parents) from counts with one axis per parent and the child's axis last.

    Examples
    --------
    >>> counts = np.array([[3.0, 1.0], [0.0, 0.0]])
    >>> backed_off(counts, (0,), first=0, strength=2.0).round(3).tolist()
    [[0.722, 0.278], [0.667, 0.333]]
    """
    order = sorted(parents, key=lambda parent: (parent != first, parent))
    n_states = counts.shape[-1]
    found = np.full(n_states, 1 / n_states)
    known: list[int] = []
    for n_known in range(len(order) + 1):
        kept = sorted(order[:n_known])
        left_out = tuple(axis for axis, parent in enumerate(parents) if parent not in kept)
        some = counts.sum(axis=left_out)
        for axis, parent in enumerate(kept):
            if parent not in known:
                found = np.expand_dims(found, axis)
        total = some.sum(axis=-1, keepdims=True) + strength
        uniform = np.broadcast_to(found, some.shape).copy()
        found = np.divide(some + strength * found, total, out=uniform, where=total > 0)
        known = kept
    return found
