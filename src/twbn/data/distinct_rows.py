"""Distinct rows of many tables, collected one after the other, with how often each occurs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from twbn.data.table import Table
from twbn.errors import MemoryLimitError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["DistinctRows"]

#: Distinct rows collected before they are merged, and the most cells that a table may have.
PENDING_ROWS, MAX_CELLS = 2**21, 2**29


class DistinctRows:
    """The distinct rows of tables coded alike, as mixed-radix numbers, and their weights."""

    def __init__(self, like: Table) -> None:
        self.like = like
        self.sizes = [int(n) + 1 for n in like.n_states]  # one more for a missing cell
        if math.prod(self.sizes) >= 2**63:
            self.groups = _groups(self.sizes)
        else:
            self.groups = [list(range(len(self.sizes)))]
        self.keys: list[NDArray[np.int64]] = []
        self.weights: list[NDArray[np.float64]] = []
        self.n_pending = 0

    def add(self, table: Table) -> None:
        """Add the rows of a chunk."""
        keys = np.empty((table.n_rows, len(self.groups)), dtype=np.int64)
        for g, group in enumerate(self.groups):
            key = np.zeros(table.n_rows, dtype=np.int64)
            for v in group:
                key = key * self.sizes[v] + (table.codes[:, v] + 1)
            keys[:, g] = key
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        self.keys.append(keys)
        self.weights.append(weights)
        self._merge(1)
        self.n_pending += len(self.keys[-1])
        if self.n_pending > PENDING_ROWS:
            self._merge(len(self.keys))
            self.n_pending = 0

    def _merge(self, last: int) -> None:
        """Merge the last parts into one."""
        keys = np.concatenate(self.keys[-last:])
        weights = np.concatenate(self.weights[-last:])
        order = np.lexsort(keys.T[::-1]) if keys.shape[1] > 1 else np.argsort(keys[:, 0])
        keys = keys[order]
        new = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
        if int(new.sum()) * len(self.sizes) > MAX_CELLS:
            msg = (
                f"more than {MAX_CELLS // len(self.sizes):,} distinct rows of {len(self.sizes)} "
                "columns; use fewer bins, max_categories, or fewer columns"
            )
            raise MemoryLimitError(msg)
        self.keys[-last:] = [keys[new]]
        self.weights[-last:] = [np.add.reduceat(weights[order], np.flatnonzero(new))]

    def table(self) -> Table:
        """Return the distinct rows with their weights."""
        self._merge(len(self.keys))
        keys, weights = self.keys[0], self.weights[0]
        codes = np.empty((len(keys), len(self.sizes)), dtype=np.int32, order="F")
        for g, group in enumerate(self.groups):
            key = keys[:, g]
            for v in reversed(group):
                key, code = np.divmod(key, self.sizes[v])
                codes[:, v] = code - 1
        codes.setflags(write=False)
        like = self.like
        return Table(like.names, like.codings, codes, weights, like.findings)


def _groups(sizes: Sequence[int]) -> list[list[int]]:
    """Return the columns in groups whose combinations fit into a number each."""
    groups: list[list[int]] = [[]]
    product = 1
    for v, size in enumerate(sizes):
        if product * size >= 2**63:
            groups.append([])
            product = 1
        groups[-1].append(v)
        product *= size
    return groups
