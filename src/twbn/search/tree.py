"""Treewidth one, exactly: a maximum branching."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twbn import interrupts
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.interrupts import keeps_best
from twbn.scores.compute import default_memory_limit
from twbn.scores.score_table import ScoreTable
from twbn.search.options import SearchOptions
from twbn.search.result import SearchResult, TracePoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores
    from twbn.search.options import Progress, Start

__all__ = ["maximum_branching", "refuse_too_large", "tree"]

#: Bytes for each possible arc: its gain, its weight, where it comes from and where it leads.
BYTES_PER_ARC = 24
#: Seconds for each possible arc that the best branching may take.
SECONDS_PER_ARC = 4e-8


@keeps_best
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
    that are equal both ways). O(n²). If the time is over before, a branching of the heaviest arcs.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    n = options.n
    refuse_too_large(n)
    empty = np.array([scores.local(v, ()) for v in range(n)])
    must = np.isneginf(empty)

    def over() -> bool:
        return interrupts.pending() or (
            options.time_limit is not None and options.seconds > options.time_limit
        )

    arcs = _gainful_arcs(scores, empty, must, over)
    left = options.time_left
    in_time = left is None or left > SECONDS_PER_ARC * n * n
    try:
        parents, whole = _branching(n, arcs, must, over, in_time=in_time)
    except OptionError:
        names = ", ".join(scores.names[v] for v in np.flatnonzero(must)[:5])
        msg = f"no network of treewidth one gives all of {names} a parent, as their scores demand"
        raise OptionError(msg) from None
    status = "optimal" if whole else "interrupted" if interrupts.pending() else "time_limit"
    dag = Dag(tuple(() if p < 0 else (int(p),) for p in parents))
    if options.start is not None and scores.total(options.start[0]) > scores.total(dag):
        dag = options.start[0]
    proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), dag.topological_order[::-1])
    if options.start is not None and dag is options.start[0]:
        proof = options.start[1]
    score = scores.total(dag)
    optimal = status == "optimal" and (options.treewidth == 1 or options.k == 1)
    bound = score if optimal else scores.upper_bound()
    if optimal or score >= bound:
        status = "optimal"
    elif status == "optimal":  # of its kind, but the bound is wider
        status = "iteration_limit"
    if on_progress is not None:
        on_progress(options.seconds, 1, score)
    return SearchResult(
        scores, dag, proof, options.treewidth, "tree",
        status, bound, 1, options.seconds, options.seed,
        (TracePoint(options.seconds, 1, score, bound),), options.notes,
    )  # fmt: skip


def refuse_too_large(n: int, memory_limit: float | None = None) -> None:
    """Raise MemoryLimitError if the matrices of a branching on n variables will not fit."""
    limit = (default_memory_limit() if memory_limit is None else memory_limit) * 2**30
    if BYTES_PER_ARC * n * n > limit:
        msg = (
            f"the best tree of {n:,} variables needs {BYTES_PER_ARC * n * n / 2**30:.1f} GiB, more "
            f"than {limit / 2**30:.1f} GiB, which take {int((limit / BYTES_PER_ARC) ** 0.5):,} "
            "variables; method 'anneal' has no such limit"
        )
        raise MemoryLimitError(msg)


class _Arcs(NamedTuple):
    """Arcs that a branching may gain from."""

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    gain: NDArray[np.float64]

    def matrix(self, n: int) -> NDArray[np.float64]:
        """Return the gains as ``[tail, head]``; minus infinity where there is no arc."""
        weights = np.full((n, n), -np.inf)
        weights[self.tail, self.head] = self.gain
        return weights


def _branching(
    n: int, arcs: _Arcs, must: NDArray[np.bool_], over: Callable[[], bool], *, in_time: bool
) -> tuple[NDArray[np.int64], bool]:
    """Return the best branching or, if there is no time for it, a good one; and which it is."""
    if in_time:
        with suppress(TimeoutError):
            return maximum_branching(arcs.matrix(n), must=must, over=over), True
    try:
        return greedy_branching(n, arcs, must), False
    except OptionError:  # requirements that leave no other way, or none
        return maximum_branching(arcs.matrix(n), must=must), True


def _gainful_arcs(
    scores: LocalScores,
    empty: NDArray[np.float64],
    must: NDArray[np.bool_],
    over: Callable[[], bool],
) -> _Arcs:
    """Return the single parents that are better than none, and all of those who must have one.

    Where scores are computed on demand, those of as many children as there is time for.
    """
    alone = np.where(must, 0.0, empty)
    if isinstance(scores, ScoreTable):
        single = np.flatnonzero(np.diff(scores.set_offsets) == 1)
        head = np.searchsorted(scores.variable_offsets, single, "right") - 1
        tail = scores.parents[scores.set_offsets[single]].astype(np.int64)
        gain = scores.scores[single] - alone[head]
    else:
        n = scores.n_variables
        found = []
        for v in range(n):
            if over() and not must[v]:
                continue
            others = [u for u in range(n) if u != v]
            found += [(u, v, scores.local(v, (u,)) - alone[v]) for u in others]
        columns = np.array(found, dtype=np.float64).reshape(-1, 3)
        tail, head = columns[:, 0].astype(np.int64), columns[:, 1].astype(np.int64)
        gain = columns[:, 2]
    good = np.isfinite(gain) & ((gain > 0) | must[head])
    return _Arcs(tail[good], head[good], gain[good])


def greedy_branching(n: int, arcs: _Arcs, must: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the parent of each vertex, or -1: the heaviest arcs first, none that closes a cycle.

    O(m log m) for m arcs. OptionError if a vertex that `must` have a parent is left without.
    """
    parents = np.full(n, -1, dtype=np.int64)
    tops = list(range(n))  # where the way up from a vertex ends, or somewhere on it

    def top(v: int) -> int:
        while tops[v] != v:
            tops[v] = tops[tops[v]]
            v = tops[v]
        return v

    # Those that must have a parent come first: others can do without.
    for i in np.lexsort((-arcs.gain, ~must[arcs.head])).tolist():
        u, v = int(arcs.tail[i]), int(arcs.head[i])
        if parents[v] < 0 and top(u) != v:
            parents[v] = u
            tops[v] = u
    if np.any(must & (parents < 0)):
        msg = "no branching gives every vertex that must have one a parent"
        raise OptionError(msg)
    return parents


def maximum_branching(
    weights: NDArray[np.float64],
    *,
    must: NDArray[np.bool_] | None = None,
    over: Callable[[], bool] = lambda: False,
) -> NDArray[np.int64]:
    """Return the parent of each vertex, or -1, in a branching of greatest weight.

    Parameters
    ----------
    weights
        ``weights[parent, child]``; minus infinity where there is no arc. Arcs of weight zero or
        less are not taken, but for vertices that `must` have a parent.
    must
        Vertices that need a parent.
    over
        Asked now and then whether the time is over; then there is a TimeoutError.

    Notes
    -----
    Edmonds' algorithm, O(n²): every vertex takes its heaviest arc; cycles are contracted, with the
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
        msg = "no branching gives every vertex that must have one a parent"
        raise OptionError(msg)
    return chosen


def _arborescence(
    weight: NDArray[np.float64], root: int, over: Callable[[], bool]
) -> NDArray[np.int64]:
    """Return the parents in the spanning arborescence of greatest weight from `root`.

    ``weight[head, tail]``, so that the arcs into a vertex are a row; used up in the course of it.

    A path is grown backwards, along heaviest arcs, until it comes to what hangs from the root
    already, or back to itself: then the cycle is contracted and the path goes on from there. O(n)
    for each step of the path and each vertex contracted, O(n²) in all (after Gabow, Galil, Spencer
    and Tarjan, 1986, without their heaps). A contracted cycle takes the place of one of its
    members, and each place of the matrix remembers which arc of the original graph it stands for.

    TimeoutError when `over` says so.
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
                del path[start + 1 :]  # its first member stands for it, and looks again
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
    """Let the first place of a cycle stand for all of it; the others are at nobody's end."""
    place, members, others = cycle[0], np.array(cycle), np.arange(len(weight))
    # Into the cycle: what is gained over the arc of the member that is entered.
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
