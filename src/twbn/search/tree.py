"""Treewidth one, exactly: a maximum branching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.search.options import SearchOptions
from twbn.search.result import SearchResult, TracePoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores
    from twbn.search.options import Progress, Start

__all__ = ["maximum_branching", "tree"]


def tree(
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    on_progress: Progress | None = None,
) -> SearchResult:
    """Return the best network in which every variable has at most one parent.

    Optimal for treewidth one; a good start for more.

    Notes
    -----
    A maximum-weight branching over score(i | {j}) − score(i | {}) (Chow and Liu's tree for scores
    that are equal both ways). O(n²) per round of contractions.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    n = options.n
    empty = np.array([scores.local(v, ()) for v in range(n)])
    must = np.isneginf(empty)
    weights = (scores.single_parents() - np.where(must, 0.0, empty)[:, None]).T
    try:
        parents = maximum_branching(weights, must=must)
    except OptionError:
        names = ", ".join(scores.names[v] for v in np.flatnonzero(must)[:5])
        msg = f"no network of treewidth one gives all of {names} a parent, as their scores demand"
        raise OptionError(msg) from None
    dag = Dag(tuple(() if p < 0 else (int(p),) for p in parents))
    if options.start is not None and scores.total(options.start[0]) > scores.total(dag):
        dag = options.start[0]
    proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), dag.topological_order[::-1])
    if options.start is not None and dag is options.start[0]:
        proof = options.start[1]
    score = scores.total(dag)
    optimal = options.treewidth == 1 or options.k == 1
    bound = score if optimal else scores.upper_bound()
    optimal = optimal or score >= bound
    if on_progress is not None:
        on_progress(options.seconds, 1, score)
    return SearchResult(
        scores, dag, proof, options.treewidth, "tree",
        "optimal" if optimal else "iteration_limit", bound, 1, options.seconds, options.seed,
        (TracePoint(options.seconds, 1, score, bound),), options.notes,
    )  # fmt: skip


def maximum_branching(
    weights: NDArray[np.float64], *, must: NDArray[np.bool_] | None = None
) -> NDArray[np.int64]:
    """Return the parent of each vertex, or -1, in a branching of greatest weight.

    Parameters
    ----------
    weights
        ``weights[parent, child]``; minus infinity where there is no arc. Arcs of weight zero or
        less are not taken, but for vertices that `must` have a parent.
    must
        Vertices that need a parent.

    Notes
    -----
    Edmonds' algorithm: every vertex takes its heaviest arc; cycles are contracted, with the
    weights of arcs into them reduced by what they replace; in the end one arc of each cycle gives
    way to the arc that enters it.

    Examples
    --------
    >>> maximum_branching(np.array([[-np.inf, 5.0], [4.0, -np.inf]])).tolist()
    [-1, 0]
    """
    n = len(weights)
    needs = np.zeros(n, dtype=bool) if must is None else must
    # A root of weight zero, or of a large penalty for those that must have a parent, makes
    # the branching a spanning arborescence.
    finite = weights[np.isfinite(weights)]
    penalty = -1.0 - 2.0 * n * (np.abs(finite).max() if len(finite) else 1.0)
    graph = np.full((n + 1, n + 1), -np.inf)
    graph[:n, :n] = weights
    graph[n, :n] = np.where(needs, penalty, 0.0)
    np.fill_diagonal(graph, -np.inf)
    parents = _arborescence(graph, n)
    chosen = np.where(parents[:n] == n, -1, parents[:n])
    if np.any(needs & (chosen < 0)):
        msg = "no branching gives every vertex that must have one a parent"
        raise OptionError(msg)
    return chosen


def _arborescence(graph: NDArray[np.float64], root: int) -> NDArray[np.int64]:
    """Return the parents in the spanning arborescence of greatest weight from `root`.

    O(n²) memory: a contracted cycle takes the place of one of its members, and each place of the
    matrix remembers which arc of the original graph it stands for.
    """
    n = len(graph)
    weight = graph.copy()
    tail, head = np.indices((n, n))
    active = np.ones(n, dtype=bool)
    node = list(range(n))  # the vertex or contracted cycle at each place
    above: dict[int, int] = {}  # the cycle that a vertex or cycle was contracted into
    contracted: list[tuple[int, dict[int, tuple[int, int]]]] = []
    while True:
        best = _heaviest_arcs(weight, active, root)
        cycle = _some_cycle(best, active, root)
        if cycle is None:
            break
        label = n + len(contracted)
        taken = {node[v]: (int(tail[best[v], v]), int(head[best[v], v])) for v in cycle}
        contracted.append((label, taken))
        above |= dict.fromkeys(taken, label)
        _contract(weight, tail, head, best, cycle)
        active[cycle[1:]] = False
        node[cycle[0]] = label
    entering = {
        node[v]: (int(tail[best[v], v]), int(head[best[v], v]))
        for v in np.flatnonzero(active).tolist()
        if v != root
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


def _heaviest_arcs(
    weight: NDArray[np.float64], active: NDArray[np.bool_], root: int
) -> NDArray[np.int64]:
    """Return where the heaviest arc into each active place comes from; ties prefer the root."""
    allowed = np.where(active[:, None], weight, -np.inf)
    best = np.argmax(allowed, axis=0)
    heaviest = allowed[best, np.arange(len(weight))]
    return np.where(weight[root] >= heaviest, root, best)


def _some_cycle(best: NDArray[np.int64], active: NDArray[np.bool_], root: int) -> list[int] | None:
    walk_of = np.zeros(len(best), dtype=np.int64)
    for first in np.flatnonzero(active).tolist():
        v = first
        while v != root and walk_of[v] == 0:
            walk_of[v] = first + 1
            v = int(best[v])
        if v != root and walk_of[v] == first + 1:
            cycle = [v]
            while best[cycle[-1]] != v:
                cycle.append(int(best[cycle[-1]]))
            return cycle
    return None


def _contract(
    weight: NDArray[np.float64],
    tail: NDArray[np.intp],
    head: NDArray[np.intp],
    best: NDArray[np.int64],
    cycle: list[int],
) -> None:
    """Let the first place of a cycle stand for all of it."""
    place, members, others = cycle[0], np.array(cycle), np.arange(len(weight))
    # Into the cycle: what is gained over the arc of the member that is entered.
    gains = weight[:, members] - weight[best[members], members]
    entered = members[np.argmax(gains, axis=1)]
    into = gains.max(axis=1)
    tails, heads = tail[others, entered], head[others, entered]
    # Out of the cycle: the heaviest arc of any member.
    leaving = members[np.argmax(weight[members], axis=0)]
    weight[place], tail[place], head[place] = (
        weight[leaving, others],
        tail[leaving, others],
        head[leaving, others],
    )
    weight[:, place], tail[:, place], head[:, place] = into, tails, heads
    weight[place, place] = -np.inf
