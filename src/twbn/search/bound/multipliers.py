"""The prices of the rows of a relaxation, and the bound that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["Multipliers", "most_edges"]


Prices = dict[tuple[int, ...], float]


@dataclass(frozen=True)
class Multipliers:
    """Non-negative prices of the rows, which determine a Lagrangian bound.

    Clusters and dense sets are keyed by their members, pairs by (child, parent, parent); `arcs` is
    a symmetric matrix, or None if there are no edge rows.
    """

    clusters: Prices = field(default_factory=dict)
    arcs: NDArray[np.float64] | None = None
    pairs: Prices = field(default_factory=dict)
    dense_sets: Prices = field(default_factory=dict)

    @classmethod
    def of_clusters(cls, prices: Iterable[tuple[tuple[int, ...], float]]) -> Multipliers:
        """Return prices of clusters alone; those of a cluster that occurs twice are added."""
        clusters: Prices = {}
        for members, price in prices:
            clusters[members] = clusters.get(members, 0.0) + price
        return cls(clusters)

    def constant(self, k: int) -> float:
        """Return what the rows add to the bound besides the values of families.

        Each cluster subtracts its price once. An edge contributes the price that families pay for
        it minus the prices of the dense sets that contain it, if that is positive; a dense set U
        contributes its price times k|U| − k(k + 1)/2.
        """
        total = -sum(self.clusters.values())
        if self.arcs is None:
            return total
        paid = np.triu(self.arcs, 1)
        for (_, a, b), price in self.pairs.items():
            paid[a, b] += price
        for members, price in self.dense_sets.items():
            paid[np.ix_(members, members)] -= price
            total += price * most_edges(len(members), k)
        return total + float(np.triu(paid, 1).clip(min=0.0).sum())

    def blend(self, other: Multipliers, share: float) -> Multipliers:
        """Return the point a fraction `share` of the way to `other`."""
        arcs = self.arcs
        if arcs is not None and other.arcs is not None:
            arcs = (1 - share) * arcs + share * other.arcs
        return Multipliers(
            _blend(self.clusters, other.clusters, share),
            arcs,
            _blend(self.pairs, other.pairs, share),
            _blend(self.dense_sets, other.dense_sets, share),
        )

    def with_clusters(self, clusters: Prices) -> Multipliers:
        """Return the prices of the rows on edges, and other prices of clusters."""
        return Multipliers(clusters, self.arcs, self.pairs, self.dense_sets)


def _blend(a: Prices, b: Prices, share: float) -> Prices:
    mixed = {key: (1 - share) * price for key, price in a.items()}
    for key, price in b.items():
        mixed[key] = mixed.get(key, 0.0) + share * price
    return {key: price for key, price in mixed.items() if price > 1e-9}


def most_edges(n: int, k: int) -> int:
    """Return the largest number of edges of a graph of treewidth k on n > k vertices."""
    return k * n - k * (k + 1) // 2
