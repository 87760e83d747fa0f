"""Treewidth one, solved exactly by a maximum branching."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from twbn import interrupts
from twbn.checks import checked_memory_limit
from twbn.errors import GraphError, MemoryLimitError, OptionError
from twbn.graphs.branching import WeightedArcs, greedy_branching, maximum_branching
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.scores.score_table import ScoreTable
from twbn.search.method import register, search_method
from twbn.search.result import TracePoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.deadline import Deadline
    from twbn.scores.protocol import LocalScores
    from twbn.search.result import SearchResult, Status
    from twbn.search.run import Run

__all__ = ["refuse_too_large", "tree"]

#: Bytes for each possible arc: its gain, its weight, where it comes from and where it leads.
BYTES_PER_ARC = 24
#: Seconds for each possible arc that the best branching may take.
SECONDS_PER_ARC = 4e-8


@register
@search_method("tree", "the best structure of treewidth one, optimal", limits_states=True)
def tree(scores: LocalScores, run: Run) -> SearchResult:
    """Return the best structure in which every variable has at most one parent.

    Optimal for treewidth one; a good start for more.

    Notes
    -----
    A maximum-weight branching over score(i | {j}) − score(i | {}), which is Chow and Liu's tree if
    the gain of an arc is the same in both directions. O(n²). If the time limit is reached first,
    a greedy branching of the heaviest arcs is returned.
    """
    n = run.n
    refuse_too_large(n)
    empty = np.array([scores.local(v, ()) for v in range(n)])
    must = np.isneginf(empty)
    arcs = _gainful_arcs(scores, empty, must, run.deadline)
    in_time = run.deadline.left_or_forever > SECONDS_PER_ARC * n * n
    try:
        parents, whole = _branching(n, arcs, must, run.deadline, in_time=in_time)
    except GraphError:
        names = ", ".join(scores.names[v] for v in np.flatnonzero(must)[:5])
        msg = f"no structure of treewidth one gives all of {names} a parent, as their scores demand"
        raise OptionError(msg) from None
    dag = Dag(tuple(() if p < 0 else (int(p),) for p in parents))
    if run.first is not None and scores.total(run.first.dag) > scores.total(dag):
        dag, proof = run.first
    else:
        order = dag.topological_order[::-1]
        proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), order)
    score = scores.total(dag)
    bound = score if whole and run.k <= 1 else scores.trivial_bound()
    status: Status = "time_limit"
    if score >= bound:
        status = "optimal"
    elif whole:  # the best tree, but the limit is wider
        status = "iteration_limit"
    elif interrupts.pending():
        status = "interrupted"
    run.tell(1, score)
    point = TracePoint(run.seconds, 1, score, bound)
    return run.result(dag, proof, status=status, bound=bound, n_iterations=1, trace=(point,))


def refuse_too_large(n: int, memory_limit: float | None = None) -> None:
    """Raise MemoryLimitError if the matrices of a branching on n variables will not fit."""
    limit = checked_memory_limit(memory_limit) * 2**30
    if BYTES_PER_ARC * n * n > limit:
        msg = (
            f"the best tree of {n:,} variables needs {BYTES_PER_ARC * n * n / 2**30:.1f} GiB, more "
            f"than {limit / 2**30:.1f} GiB, enough for {int((limit / BYTES_PER_ARC) ** 0.5):,} "
            "variables; method 'anneal' has no such limit"
        )
        raise MemoryLimitError(msg)


def _branching(
    n: int, arcs: WeightedArcs, must: NDArray[np.bool_], deadline: Deadline, *, in_time: bool
) -> tuple[NDArray[np.int64], bool]:
    """Return the best branching or, if time is short, a good one; and whether it is the best."""
    if in_time:
        with suppress(TimeoutError):
            return maximum_branching(arcs.matrix(n), must=must, over=lambda: deadline.over), True
    try:
        return greedy_branching(n, arcs, must), False
    except GraphError:  # the requirements leave no alternative, or cannot be met
        return maximum_branching(arcs.matrix(n), must=must), True


def _gainful_arcs(
    scores: LocalScores,
    empty: NDArray[np.float64],
    must: NDArray[np.bool_],
    deadline: Deadline,
) -> WeightedArcs:
    """Return the arcs that beat having no parent, and all arcs into variables that need one.

    If scores are computed on demand, only as many children are covered as time permits.
    """
    alone = np.where(must, 0.0, empty)
    if isinstance(scores, ScoreTable):
        single = np.flatnonzero(scores.set_sizes == 1)
        head = scores.children[single]
        tail = scores.parents[scores.set_offsets[single]].astype(np.int64)
        gain = scores.scores[single] - alone[head]
    else:
        n = scores.n_variables
        found = []
        for v in range(n):
            if deadline.over and not must[v]:
                continue
            others = [u for u in range(n) if u != v]
            found += [(u, v, scores.local(v, (u,)) - alone[v]) for u in others]
        columns = np.array(found, dtype=np.float64).reshape(-1, 3)
        tail, head = columns[:, 0].astype(np.int64), columns[:, 1].astype(np.int64)
        gain = columns[:, 2]
    good = np.isfinite(gain) & ((gain > 0) | must[head])
    return WeightedArcs(tail[good], head[good], gain[good])
