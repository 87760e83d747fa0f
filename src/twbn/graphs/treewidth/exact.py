"""The treewidth of a graph, with the decomposition that proves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from twbn import _core, interrupts
from twbn.checks import checked_memory_limit, checked_time_limit
from twbn.deadline import Deadline
from twbn.errors import MemoryLimitError
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth.bounds import contraction_degeneracy, narrowest
from twbn.graphs.treewidth.reduction import BagTree, MaskGraph, reduce_simplicial, safe_separator
from twbn.interrupts import deferred

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.graphs.graph import Graph

__all__ = ["Status", "TreewidthResult", "treewidth"]

#: How a treewidth computation may end. `size_limit`: a part of the graph has more vertices than
#: the search supports. `heuristic`: only bounds were requested.
Status = Literal["optimal", "time_limit", "memory_limit", "interrupted", "size_limit", "heuristic"]

#: The answer to a decision problem: yes, no, or the reason why it is unknown.
Answer = Literal["yes", "no"] | Status


@dataclass(frozen=True)
class TreewidthResult:
    """Bounds on the treewidth of a graph, and the decomposition that proves the upper one."""

    lower: int
    upper: int
    decomposition: TreeDecomposition
    status: Status
    seconds: float

    @property
    def is_exact(self) -> bool:
        """Whether the bounds meet."""
        return self.lower == self.upper


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
        If False, stop once the quick bounds are known.
    time_limit
        Seconds; the bounds proved by then are returned.
    memory_limit
        GiB that the search may use.
    seed
        Random seed for breaking ties in the greedy orders.
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
    memory_limit = min(checked_memory_limit(memory_limit), 2.0**30)
    needed = graph.n_vertices**2 / 8 / 2**30  # the matrix of the greedy elimination
    if needed > memory_limit:
        largest = int((memory_limit * 8 * 2**30) ** 0.5)
        msg = (
            f"a graph of {graph.n_vertices:,} vertices needs {needed:.1f} GiB, more than the "
            f"memory limit of {memory_limit:g} GiB, enough for {largest:,} vertices"
        )
        raise MemoryLimitError(msg)
    if graph.n_vertices == 0:
        return TreewidthResult(-1, -1, TreeDecomposition(()), "optimal", 0.0)
    with deferred():
        deadline = Deadline(time_limit)
        whole = narrowest(graph, "min-fill", seed, 10, deadline)
        low = contraction_degeneracy(graph)
        status: Status = "optimal" if low == whole.width else "heuristic"
        solver = _ExactSolver(low, whole, deadline, memory_limit, seed, on_progress)
        solver.report(low, whole.width)
        if exact and low < whole.width:
            whole = solver.decompose(graph)
            low, status = solver.low, solver.status
            solver.report(low, whole.width)
        whole.check(graph)
        return TreewidthResult(low, whole.width, whole, status, deadline.seconds)


class _ExactSolver:
    """Reduces, splits and decides. `low` is always a lower bound for the whole graph."""

    def __init__(
        self,
        low: int,
        known: TreeDecomposition,
        deadline: Deadline,
        memory_limit: float,
        seed: int,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        self.low = low
        self.status: Status = "optimal"
        self._known = known
        self._deadline = deadline
        self._max_bytes = int(memory_limit * 2**30)
        self._seed = seed
        self._on_progress = on_progress
        self._told = (-1, known.width + 1)

    def decompose(self, graph: Graph) -> TreeDecomposition:
        """Return the best decomposition found; it is optimal if `status` is "optimal"."""
        # Parts wait on a stack; each adds its bags, and the tree is tied together at the end.
        tree = BagTree()
        atoms: list[MaskGraph] = []
        parts = list(MaskGraph.of(graph).components())
        while parts:
            part = parts.pop()
            if not self._deadline.over:
                self.low = max(self.low, part.contraction_degeneracy())
            self.low = reduce_simplicial(part, self.low, tree)
            if not part:
                continue
            separator = safe_separator(part, lambda: self._deadline.over)
            if separator is None:
                atoms.append(part)
                continue
            tree.add(separator)
            parts += part.split(separator)
        # The easy atoms first: the bound of each may raise the bound of the whole.
        atoms.sort(key=len)
        graphs = [atom.relabelled() for atom in atoms]
        best = [narrowest(g, "min-fill", self._seed, 50, self._deadline) for g, _ in graphs]
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
        """Return a narrow decomposition of an atom; `best` holds the best known of each atom."""
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

    def _ask(self, graph: Graph, k: int) -> tuple[Answer, list[list[int]], list[int]]:
        """Decide whether the treewidth is at most k; once a limit is reached, always give up."""
        if graph.n_vertices > _core.max_decision_vertices:
            return "size_limit", [], []
        if interrupts.pending():
            return "interrupted", [], []
        if self.status != "optimal":
            return self.status, [], []
        if self._deadline.passed:
            return "time_limit", [], []
        answer, bags, parents = _core.decide_treewidth(
            graph.n_vertices, graph.edge_array, k, self._max_bytes, self._deadline.left
        )
        if answer == "stopped":
            return ("time_limit" if self._deadline.over else "memory_limit"), [], []
        return answer, bags, parents

    def report(self, lower: int, upper: int) -> None:
        """Report bounds of the whole graph if either improves on those reported before."""
        lower, upper = max(lower, self._told[0]), min(upper, self._told[1])
        if (lower, upper) != self._told:
            self._told = (lower, upper)
            if self._on_progress is not None:
                self._on_progress(lower, upper)
