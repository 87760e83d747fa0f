"""Branchings of greatest weight: the best way to give every vertex at most one parent."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twbn.errors import GraphError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["WeightedArcs", "greedy_branching", "maximum_branching"]


class WeightedArcs(NamedTuple):
    """Arcs from `tail` to `head`, and what each gains."""

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    gain: NDArray[np.float64]

    def matrix(self, n: int) -> NDArray[np.float64]:
        """Return the gains as ``[tail, head]``; minus infinity where there is no arc."""
        weights = np.full((n, n), -np.inf)
        weights[self.tail, self.head] = self.gain
        return weights


def greedy_branching(n: int, arcs: WeightedArcs, must: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the parent of each vertex, or -1, taking the heaviest arcs that close no cycle.

    O(m log m) for m arcs. Raises GraphError if a vertex that `must` have a parent gets none.
    """
    parents = np.full(n, -1, dtype=np.int64)
    tops = list(range(n))  # the root above each vertex, or a vertex on the path to it

    def top(v: int) -> int:
        while tops[v] != v:
            tops[v] = tops[tops[v]]
            v = tops[v]
        return v

    # Vertices that must have a parent come first; the others can do without one.
    for i in np.lexsort((-arcs.gain, ~must[arcs.head])).tolist():
        u, v = int(arcs.tail[i]), int(arcs.head[i])
        if parents[v] < 0 and top(u) != v:
            parents[v] = u
            tops[v] = u
    if np.any(must & (parents < 0)):
        msg = "no branching gives a parent to every vertex that must have one"
        raise GraphError(msg)
    return parents


def maximum_branching(
    weights: NDArray[np.float64],
    *,
    must: NDArray[np.bool_] | None = None,
    over: Callable[[], bool] = lambda: False,
) -> NDArray[np.int64]:
    """Return the parent of each vertex, or -1, in a maximum-weight branching.

    Parameters
    ----------
    weights
        ``weights[parent, child]``; minus infinity where there is no arc. Arcs of weight zero or
        less are used only for vertices that `must` have a parent.
    must
        Vertices that need a parent.
    over
        Called now and then; if it returns True, TimeoutError is raised.

    Notes
    -----
    Edmonds' algorithm, O(n²): every vertex takes its heaviest incoming arc; cycles are contracted,
    and the weight of an arc into a cycle is reduced by the weight of the arc it would replace;
    finally, one arc of each cycle is replaced by the arc that enters the cycle.

    Examples
    --------
    >>> maximum_branching(np.array([[-np.inf, 5.0], [4.0, -np.inf]])).tolist()
    [-1, 0]
    """
    n = len(weights)
    needs = np.zeros(n, dtype=bool) if must is None else must
    # An extra root, joined to every vertex by an arc of weight zero (or a large penalty if the
    # vertex must have a parent), turns the branching into a spanning arborescence.
    graph = np.empty((n + 1, n + 1))
    graph[:n, :n] = weights.T
    graph[n] = -np.inf
    np.fill_diagonal(graph, -np.inf)
    graph[:n, n] = 0.0
    if needs.any():
        finite = weights[np.isfinite(weights)]
        graph[:n, n][needs] = -1.0 - 2.0 * n * (np.abs(finite).max() if len(finite) else 1.0)
    parents = _arborescence(graph, n, over)
    chosen = np.where(parents[:n] == n, -1, parents[:n])
    if np.any(needs & (chosen < 0)):
        msg = "no branching gives a parent to every vertex that must have one"
        raise GraphError(msg)
    return chosen


def _arborescence(
    weight: NDArray[np.float64], root: int, over: Callable[[], bool]
) -> NDArray[np.int64]:
    """Return the parents in the maximum-weight spanning arborescence rooted at `root`.

    `weight` is indexed ``[head, tail]``, so the arcs into a vertex form a row; it is overwritten.

    A path is grown backwards along heaviest arcs until it reaches a vertex already connected to the
    root, or returns to itself; in the latter case the cycle is contracted and the path continues
    from there. Each step of the path and each contracted vertex takes O(n), so the total is O(n²)
    (after Gabow, Galil, Spencer and Tarjan, 1986, without their heaps). A contracted cycle takes
    the place of one of its members, and each entry of the matrix records which arc of the original
    graph it represents.

    Raises TimeoutError when `over` returns True.
    """
    n = len(weight)
    tail, head = (np.empty((n, n), dtype=np.int32) for _ in range(2))
    tail[:] = np.arange(n)
    head[:] = np.arange(n)[:, None]
    node = list(range(n))  # the vertex or contracted cycle at each place
    above: dict[int, int] = {}  # the cycle that a vertex or cycle was contracted into
    contracted: list[tuple[int, dict[int, tuple[int, int]]]] = []
    best = np.full(n, root)  # where the chosen arc into each place comes from
    state = np.zeros(n, dtype=np.int8)  # 0: not seen, 1: on the path, 2: hangs from the root
    state[root] = 2
    gone = np.zeros(n, dtype=bool)
    for first in range(n):
        if state[first] or gone[first]:
            continue
        path = [first]
        state[first] = 1
        while path:
            if over():
                raise TimeoutError
            v = path[-1]
            u = int(np.argmax(weight[v]))
            u = root if weight[v, root] >= weight[v, u] else u  # ties prefer the root
            best[v] = u
            if state[u] == 2:
                state[path] = 2
                path = []
            elif state[u] == 0:
                state[u] = 1
                path.append(u)
            else:
                start = path.index(u)
                cycle = path[start:]
                label = n + len(contracted)
                taken = {node[w]: (int(tail[w, best[w]]), int(head[w, best[w]])) for w in cycle}
                contracted.append((label, taken))
                above |= dict.fromkeys(taken, label)
                _contract(weight, tail, head, best, cycle)
                gone[cycle[1:]] = True
                node[cycle[0]] = label
                del path[start + 1 :]  # its first member represents it and is visited again
    entering = {
        node[v]: (int(tail[v, best[v]]), int(head[v, best[v]]))
        for v in range(n)
        if v != root and not gone[v]
    }
    # The arc that enters a cycle replaces the one of the member that it enters.
    for label, taken in reversed(contracted):
        arc = entering.pop(label)
        member = arc[1]
        while above[member] != label:
            member = above[member]
        entering |= {**taken, member: arc}
    parents = np.full(n, root, dtype=np.int64)
    for tail_vertex, head_vertex in entering.values():
        parents[head_vertex] = tail_vertex
    return parents


def _contract(
    weight: NDArray[np.float64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    best: NDArray[np.int64],
    cycle: list[int],
) -> None:
    """Let the first member of a cycle represent all of it; the others lose all their arcs."""
    place, members, others = cycle[0], np.array(cycle), np.arange(len(weight))
    # Into the cycle: the gain over the chosen arc of the member that is entered.
    gains = weight[members] - weight[members, best[members]][:, None]
    entered = members[np.argmax(gains, axis=0)]
    into = gains.max(axis=0)
    tails, heads = tail[entered, others], head[entered, others]
    # Out of the cycle: the heaviest arc of any member.
    leaving = members[np.argmax(weight[:, members], axis=1)]
    weight[:, place], tail[:, place], head[:, place] = (
        weight[others, leaving],
        tail[others, leaving],
        head[others, leaving],
    )
    weight[place], tail[place], head[place] = into, tails, heads
    weight[place, members] = -np.inf
    weight[:, members[1:]] = -np.inf
