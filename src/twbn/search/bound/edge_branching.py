"""Branching on moral edges over the relaxation: the bound where its rows alone do not reach."""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from twbn import _core
from twbn.graphs.graph import Graph
from twbn.graphs.treewidth import contraction_degeneracy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from twbn.scores.score_table import ScoreTable

__all__ = ["EdgeBranching", "Relaxed"]

#: Pairs with a weight below this in the relaxation are not branched on.
LEAST_WEIGHT = 1e-3
#: Most vertices of a graph whose treewidth is decided exactly.
MAX_EXACT = 32

Pair = tuple[int, int]
#: Solves the relaxation without some families: the bound, and the weight of every family in it.
Relaxed = tuple[float, "NDArray[np.int64]", "NDArray[np.float64]"]


@dataclass(order=True)
class _Node:
    """A case: pairs that no family may contain, pairs that some family contains."""

    priority: tuple[float, int]
    forbidden: frozenset[Pair] = field(compare=False)
    kept: frozenset[Pair] = field(compare=False)
    weights: dict[Pair, float] = field(compare=False)

    @property
    def bound(self) -> float:
        return -self.priority[0]


class EdgeBranching:
    """A search tree over cases, as in `core/exact/live_search.h`, with the relaxation as the bound.

    A structure within the limit lacks one pair of every obstruction, a set of pairs of treewidth
    above the limit, so each child of a node forbids one pair of an obstruction among the pairs that
    the node's relaxation uses, and keeps those of the children before it.

    Parameters
    ----------
    relax
        Called with the families that are not allowed, as a mask; returns the bound, and the
        families in the solution with their weights.
    """

    def __init__(self, table: ScoreTable, k: int, relax: Callable[[NDArray[np.bool_]], Relaxed]):
        self._k = k
        self._limit = _core.WidthLimit(k, math.inf, ())
        self._n = table.n_variables
        self._relax = relax
        self._child = table.children
        self._inside = np.zeros((table.n_sets, self._n), dtype=bool)
        row = np.repeat(np.arange(table.n_sets), table.set_sizes)
        self._inside[row, table.parents] = True
        self._inside[np.arange(table.n_sets), self._child] = True  # child and parents
        self._losses: dict[Pair, list[float]] = {}
        self._numbers = itertools.count()

    def bounds(self) -> Iterator[float]:
        """Yield better and better bounds; ends when no node can be branched on."""
        root = self._node(frozenset(), frozenset(), np.inf)
        if root is None:
            return
        heap = [root]
        while heap:
            node = heapq.heappop(heap)
            open_pairs = self._obstruction(node)
            if not open_pairs:
                return  # what its relaxation uses is narrow enough
            for child in self._children(node, open_pairs):
                heapq.heappush(heap, child)
            if heap:
                yield heap[0].bound

    def _children(self, node: _Node, pairs: list[Pair]) -> list[_Node]:
        found = []
        for pair in pairs:
            child = self._node(node.forbidden | {pair}, node.kept, node.bound)
            bound = -np.inf if child is None else child.bound
            if np.isfinite(bound):
                self._losses.setdefault(pair, []).append(node.bound - bound)
            found.append((bound, pair, child))
        kept, children = set(node.kept), []
        for _, pair, child in sorted(found, key=lambda item: item[0]):  # the worst first
            if child is not None:
                child.kept = frozenset(kept)
                children.append(child)
            kept.add(pair)
        return children

    def _node(
        self,
        forbidden: frozenset[Pair],
        kept: frozenset[Pair],
        most: float,
    ) -> _Node | None:
        """Return a case with its bound, or None if it has no structure."""
        blocked = np.zeros(len(self._child), dtype=bool)
        for u, v in forbidden:
            blocked |= self._inside[:, u] & self._inside[:, v]
        bound, families, weights = self._relax(blocked)
        if bound == -np.inf:
            return None
        of_pair: dict[Pair, float] = {}
        for family, weight in zip(families.tolist(), weights.tolist(), strict=True):
            members = np.flatnonzero(self._inside[family]).tolist()
            for pair in itertools.combinations(members, 2):
                of_pair[pair] = of_pair.get(pair, 0.0) + weight
        return _Node((-min(bound, most), next(self._numbers)), forbidden, kept, of_pair)

    def _obstruction(self, node: _Node) -> list[Pair]:
        """Return pairs of which one must go, as costly ones as possible; none if all is narrow."""
        used = [pair for pair, weight in node.weights.items() if weight > LEAST_WEIGHT]
        pairs = set(used) | node.kept
        if not self._is_wide(pairs):
            return []
        needed = []
        for pair in sorted(set(used) - node.kept, key=lambda pair: self._cost(pair, node)):
            pairs.discard(pair)
            if not self._is_wide(pairs):
                pairs.add(pair)
                needed.append(pair)
        return needed

    def _cost(self, pair: Pair, node: _Node) -> tuple[float, Pair]:
        """Return what the loss of a pair is expected to cost: as before, or by its weight."""
        known = self._losses.get(pair)
        weight = min(node.weights.get(pair, 0.0), 1.0)
        every = [loss for losses in self._losses.values() for loss in losses]
        usual = float(np.mean(every)) if every else 1.0
        return (weight * (float(np.mean(known)) if known else usual), pair)

    def _is_wide(self, pairs: set[Pair]) -> bool:
        """Say whether the graph of some pairs is known to have a treewidth above the limit."""
        names = sorted({v for pair in pairs for v in pair})
        if len(names) <= self._k + 1:
            return False
        place = {v: i for i, v in enumerate(names)}
        edges = [(place[u], place[v]) for u, v in pairs]
        if len(names) <= MAX_EXACT:
            return _core.small_elimination_order(edges, self._limit) is None
        return contraction_degeneracy(Graph.from_edges(len(names), edges)) > self._k
