"""Treewidth: bounds in an instant, and the width itself."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from twbn import _core, interrupts
from twbn.checks import checked_time_limit
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.reduction import BagTree, MaskGraph, reduce_simplicial, safe_separator
from twbn.interrupts import deferred

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.graphs.graph import Graph

__all__ = ["TreewidthResult", "lower_bound", "treewidth", "upper_bound"]

Heuristic = Literal["min-fill", "min-degree"]

_GIVE_UP_NEVER = 2**30


@dataclass(frozen=True)
class TreewidthResult:
    """Bounds on the treewidth of a graph, and the decomposition that proves the upper one."""

    lower: int
    upper: int
    decomposition: TreeDecomposition
    #: optimal, time_limit, memory_limit, interrupted, size_limit (a part of the graph has more
    #: vertices than the search takes), or heuristic (bounds alone were asked for).
    status: str
    seconds: float

    @property
    def is_exact(self) -> bool:
        """The bounds meet."""
        return self.lower == self.upper


def upper_bound(
    graph: Graph, *, heuristic: Heuristic = "min-fill", seed: int = 0, n_tries: int = 1
) -> TreeDecomposition:
    """Return the narrowest decomposition of `n_tries` greedy eliminations, ties at random.

    Examples
    --------
    >>> from twbn import Graph
    >>> upper_bound(Graph.from_edges(4, [(0, 1), (1, 2), (2, 3), (3, 0)])).width
    2
    """
    if heuristic not in ("min-fill", "min-degree"):
        msg = f"heuristic must be 'min-fill' or 'min-degree', got {heuristic!r}"
        raise OptionError(msg)
    return _narrowest(graph, heuristic, seed, n_tries, None)


def _narrowest(
    graph: Graph, heuristic: Heuristic, seed: int, n_tries: int, deadline: float | None
) -> TreeDecomposition:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        msg = f"seed must be a whole number, 0 or more, got {seed!r}"
        raise OptionError(msg)
    best_width, best_order = _GIVE_UP_NEVER, np.empty(0, dtype=np.int32)
    # With a deadline a quick order comes first, so that there is one in any case.
    rules = ([] if deadline is None else ["min-degree"]) + [heuristic] * max(n_tries, 1)
    for attempt, rule in enumerate(rules):
        left = None if deadline is None or not attempt else deadline - time.perf_counter()
        if left is not None and left <= 0:
            break
        width, order = _core.greedy_elimination(
            graph.n_vertices, graph.edge_array, rule == "min-fill", seed + attempt,
            best_width - 1, left,
        )  # fmt: skip
        if width < best_width:
            best_width, best_order = width, order
    return TreeDecomposition.from_elimination_order(graph, best_order.tolist())


def lower_bound(graph: Graph) -> int:
    """Return a lower bound of the treewidth: the contraction degeneracy, greedily.

    Notes
    -----
    Treewidth does not grow when an edge is contracted, and is at least the least degree. A vertex
    of least degree is contracted into the neighbour it shares fewest neighbours with (MMD+ with
    the least-c rule; Bodlaender, Koster and Wolle, 2006).

    Examples
    --------
    >>> from twbn import Graph
    >>> lower_bound(Graph.complete(5))
    4
    """
    return MaskGraph.of(graph).contraction_degeneracy()


def treewidth(
    graph: Graph,
    *,
    exact: bool = True,
    time_limit: float | None = None,
    memory_limit: float = 4.0,
    seed: int = 0,
    on_progress: Callable[[int, int], None] | None = None,
) -> TreewidthResult:
    """Return the treewidth of a graph with its proof, or bounds when a limit is reached.

    Parameters
    ----------
    graph
        Any undirected graph.
    exact
        False stops after the bounds.
    time_limit
        Seconds; the bounds proved by then are returned.
    memory_limit
        GiB that the search may use.
    seed
        For ties of the greedy orders.
    on_progress
        Called with (lower, upper) whenever one of them improves.

    Notes
    -----
    Simplicial and almost simplicial vertices are eliminated, the graph is split at safe
    separators (cliques and almost cliques; Bodlaender and Koster, 2006), and what remains is
    decided, width by width from the lower bound, by positive-instance driven dynamic programming
    (Tamaki, 2017).

    Examples
    --------
    >>> from twbn import Graph
    >>> grid = Graph.from_edges(9, [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (7, 8),
    ...                             (0, 3), (3, 6), (1, 4), (4, 7), (2, 5), (5, 8)])
    >>> treewidth(grid).upper
    3
    """
    time_limit = checked_time_limit(time_limit)
    if not 0 < memory_limit < 2**30:
        msg = f"memory_limit must be positive (GiB), got {memory_limit!r}"
        raise OptionError(msg)
    needed = graph.n_vertices**2 / 8 / 2**30  # the matrix of the greedy elimination
    if needed > memory_limit:
        largest = int((memory_limit * 8 * 2**30) ** 0.5)
        msg = (
            f"a graph of {graph.n_vertices:,} vertices needs {needed:.1f} GiB, more than the "
            f"memory limit of {memory_limit:g} GiB, which takes {largest:,} vertices"
        )
        raise MemoryLimitError(msg)
    if graph.n_vertices == 0:
        return TreewidthResult(-1, -1, TreeDecomposition(()), "optimal", 0.0)
    with deferred():
        return _bounded(graph, exact, time_limit, memory_limit, seed, on_progress)


def _bounded(
    graph: Graph,
    exact: bool,
    time_limit: float | None,
    memory_limit: float,
    seed: int,
    on_progress: Callable[[int, int], None] | None,
) -> TreewidthResult:
    start = time.perf_counter()
    deadline = None if time_limit is None else start + time_limit
    whole = _narrowest(graph, "min-fill", seed, 10, deadline)
    low = lower_bound(graph)
    status = "optimal" if low == whole.width else "heuristic"
    solver = _ExactSolver(low, whole, deadline, memory_limit, seed, on_progress)
    solver.report(low, whole.width)
    if exact and low < whole.width:
        whole = solver.decompose(graph)
        low, status = solver.low, solver.status
        solver.report(low, whole.width)
    whole.check(graph)
    return TreewidthResult(low, whole.width, whole, status, time.perf_counter() - start)


class _ExactSolver:
    """Reduces, splits and decides. `low` is a lower bound for the whole graph at any time."""

    def __init__(
        self,
        low: int,
        known: TreeDecomposition,
        deadline: float | None,
        memory_limit: float,
        seed: int,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        self.low = low
        self.status = "optimal"
        self._known = known
        self._deadline = deadline
        self._max_bytes = int(memory_limit * 2**30)
        self._seed = seed
        self._on_progress = on_progress
        self._told = (-1, known.width + 1)

    def decompose(self, graph: Graph) -> TreeDecomposition:
        """Return the best decomposition found; optimal when `status` says so."""
        # Parts wait on a stack; each adds its bags, and the tree is tied together at the end.
        tree = BagTree()
        atoms: list[MaskGraph] = []
        parts = list(MaskGraph.of(graph).components())
        while parts:
            part = parts.pop()
            if not self._time_is_over():
                self.low = max(self.low, part.contraction_degeneracy())
            self.low = reduce_simplicial(part, self.low, tree)
            if not part:
                continue
            separator = safe_separator(part, self._time_is_over)
            if separator is None:
                atoms.append(part)
                continue
            tree.add(separator)
            parts += part.split(separator)
        # The easy atoms first: the bound of each may raise the bound of the whole.
        atoms.sort(key=len)
        graphs = [atom.relabelled() for atom in atoms]
        best = [_narrowest(g, "min-fill", self._seed, 50, self._deadline) for g, _ in graphs]
        for place, atom in enumerate(atoms):
            best[place] = self._decide(atom, graphs[place][0], best, place)
            for bag in best[place].bags:
                tree.add(sum(1 << graphs[place][1][v] for v in bag))
            self.report(self.low, self._high(best))
        found = tree.tied_together(graph)
        return found if found.width <= self._known.width else self._known

    def _decide(
        self, atom: MaskGraph, graph: Graph, best: Sequence[TreeDecomposition], place: int
    ) -> TreeDecomposition:
        """Return a narrow decomposition of an atom, one of those that `best` are known of."""
        known = best[place]
        lower = atom.contraction_degeneracy()
        while known.width > max(lower, self.low):
            k = max(lower, self.low)
            answer, bags, parents = self._ask(graph, k)
            if answer == "yes":
                edges = [(i, p) for i, p in enumerate(parents) if p >= 0]
                known = TreeDecomposition(tuple(frozenset(bag) for bag in bags), tuple(edges))
                known.check(graph)
                break
            if answer != "no":
                self.status = answer
                break
            lower = k + 1
            self.report(max(self.low, min(lower, known.width)), self._high(best))
        self.low = max(self.low, min(lower, known.width))
        return known

    def _high(self, best: Sequence[TreeDecomposition]) -> int:
        """Return an upper bound for the whole graph, from what is known of its atoms."""
        return min(self._known.width, max(self.low, *(known.width for known in best)))

    def _ask(self, graph: Graph, k: int) -> tuple[str, list[list[int]], list[int]]:
        if graph.n_vertices > _core.max_decision_vertices:
            return "size_limit", [], []
        left = None if self._deadline is None else self._deadline - time.perf_counter()
        if interrupts.pending():
            return "interrupted", [], []
        if self.status != "optimal" or (left is not None and left <= 0):
            return self.status if self.status != "optimal" else "time_limit", [], []
        answer, bags, parents = _core.decide_treewidth(
            graph.n_vertices, graph.edge_array, k, self._max_bytes, left
        )
        if answer == "stopped":
            answer = "time_limit" if self._time_is_over() else "memory_limit"
        return answer, bags, parents

    def report(self, lower: int, upper: int) -> None:
        """Tell bounds of the whole graph, if one of them is better than those told before."""
        lower, upper = max(lower, self._told[0]), min(upper, self._told[1])
        if (lower, upper) != self._told:
            self._told = (lower, upper)
            if self._on_progress is not None:
                self._on_progress(lower, upper)

    def _time_is_over(self) -> bool:
        if interrupts.pending():
            return True
        return self._deadline is not None and time.perf_counter() >= self._deadline
