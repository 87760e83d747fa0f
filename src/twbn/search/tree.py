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
    parents = maximum_branching(weights, must=must)
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
    lonely = [v for v in range(n) if needs[v] and chosen[v] < 0]
    if lonely:
        msg = f"no network of treewidth one gives all of {lonely} a parent, as their scores demand"
        raise OptionError(msg)
    return chosen


def _arborescence(graph: NDArray[np.float64], root: int) -> NDArray[np.int64]:
    """Return the parents in the spanning arborescence of greatest weight from `root`."""
    n = len(graph)
    heaviest = np.argmax(graph, axis=0)
    # Ties prefer the root, so that arcs of no gain are left out.
    heaviest = np.where(graph[root] >= graph[heaviest, np.arange(n)], root, heaviest)
    heaviest[root] = root
    cycle = _some_cycles(heaviest, root)
    if not cycle.any():
        return heaviest
    # cycle[v] > 0 numbers the cycle of v. Contracted vertices come after the others.
    outside = np.flatnonzero(cycle == 0)
    n_cycles = int(cycle.max())
    number = np.empty(n, dtype=np.int64)
    number[outside] = np.arange(len(outside))
    number[cycle > 0] = len(outside) + cycle[cycle > 0] - 1
    size = len(outside) + n_cycles
    small = np.full((size, size), -np.inf)
    tail = np.zeros((size, size), dtype=np.int64)
    head = np.zeros((size, size), dtype=np.int64)
    given_up = np.where(cycle > 0, graph[heaviest, np.arange(n)], 0.0)
    # Of all arcs between two contracted vertices the heaviest stands for them.
    tails, heads = np.nonzero(np.isfinite(graph))
    between = number[tails] != number[heads]
    tails, heads = tails[between], heads[between]
    gains = graph[tails, heads] - given_up[heads]
    pairs = number[tails] * size + number[heads]
    order = np.lexsort((heads, tails, -gains, pairs))
    first = order[np.unique(pairs[order], return_index=True)[1]]
    places = np.divmod(pairs[first], size)
    small[places], tail[places], head[places] = gains[first], tails[first], heads[first]
    above = _arborescence(small, int(number[root]))
    parents = heaviest.copy()
    for b in range(size):
        a = above[b]
        if b != number[root]:
            parents[head[a, b]] = tail[a, b]
    return parents


def _some_cycles(parents: NDArray[np.int64], root: int) -> NDArray[np.int64]:
    """Return 0, or the number of the cycle that a vertex lies on."""
    state = np.zeros(len(parents), dtype=np.int64)  # the walk that reached a vertex
    cycle = np.zeros(len(parents), dtype=np.int64)
    n_cycles = 0
    for first in range(len(parents)):
        v = first
        while v != root and state[v] == 0:
            state[v] = first + 1
            v = int(parents[v])
        if v != root and state[v] == first + 1:
            n_cycles += 1
            u = v
            while cycle[u] == 0:
                cycle[u] = n_cycles
                u = int(parents[u])
    return cycle
