"""The best network inside a k-tree, and what it is good for: polishing any result."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from twbn import _core
from twbn.checks import checked_time_limit
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.ktree import KTree
from twbn.interrupts import keeps_best
from twbn.scores.compute import default_memory_limit
from twbn.search.result import TOLERANCE, SearchResult, TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores

__all__ = ["best_dag_inside", "polish", "polish_within", "refuse_too_wide"]


def best_dag_inside(
    tree: KTree, scores: LocalScores, *, time_limit: float | None = None
) -> tuple[Dag, float]:
    """Return the best network whose moral graph lies inside a k-tree, and its score.

    TimeoutError when the time limit, in seconds, is over before.

    Notes
    -----
    Dynamic programming over the orders of the separators and the vertices whose parents are
    chosen below them (after Korhonen and Parviainen, 2013): O(3^k · (k+1)! · n).
    """
    refuse_too_wide(tree.n_vertices, tree.k)
    score, parents, interrupted, expired = _core.optimize_ktree(
        scores.lookup, tree.n_vertices, tree.k, tree.steps, time_limit
    )
    if interrupted and score == -math.inf:
        raise KeyboardInterrupt
    if expired and score == -math.inf:
        raise TimeoutError
    if score == -math.inf:
        msg = "no network inside this k-tree has all its parent sets in the scores"
        raise OptionError(msg)
    dag = Dag(tuple(map(tuple, parents)))
    return dag, scores.total(dag)


@keeps_best
def polish(
    result: SearchResult, scores: LocalScores, *, time_limit: float | None = None
) -> SearchResult:
    """Return the best network inside the result's own decomposition, completed to a k-tree.

    Never worse than the result itself, which is returned unchanged when nothing better is there, or
    with a note when the time limit (seconds) is over before. Ctrl-C returns it too, with status
    ``interrupted``. The scores may have parent sets that the search had not: the bound is then
    theirs.
    """
    return _polished(result, scores, checked_time_limit(time_limit), scores.upper_bound())


def polish_within(
    result: SearchResult, scores: LocalScores, *, time_limit: float | None = None
) -> SearchResult:
    """Return the same as `polish` where the result comes from these scores: its bound holds."""
    return _polished(result, scores, time_limit, result.bound)


def _polished(
    result: SearchResult, scores: LocalScores, time_limit: float | None, bound: float
) -> SearchResult:
    n = result.dag.n_vertices
    if result.names != tuple(scores.names):
        msg = "the scores have other variables than the result, or in another order"
        raise OptionError(msg)
    if n == 1:
        return result
    begun = time.perf_counter()
    tree = KTree.containing(result.decomposition, n, min(result.treewidth_bound, n - 1))
    try:
        dag, score = best_dag_inside(tree, scores, time_limit=time_limit)
    except KeyboardInterrupt:  # what there is, is kept
        return replace(result, scores=scores, status="interrupted")
    except TimeoutError:
        note = "not polished: the time was over"
        return replace(result, scores=scores, notes=(*result.notes, note))
    if score <= result.score + TOLERANCE * abs(result.score):
        return result
    bound = max(result.bound, bound, score)
    # What was proved of the result was proved of its own parent sets.
    status = "iteration_limit" if result.status == "optimal" else result.status
    if bound - score <= TOLERANCE * abs(score):
        status = "optimal"
    seconds = result.seconds + time.perf_counter() - begun
    point = TracePoint(seconds, result.n_iterations, score, bound)
    return replace(
        result,
        scores=scores,
        dag=dag,
        decomposition=tree.decomposition(),
        status=status,
        bound=bound,
        seconds=seconds,
        trace=(*result.trace, point),
        notes=(*result.notes, "polished"),
    )


def refuse_too_wide(n: int, k: int, *, n_jobs: int = 1, memory_limit: float | None = None) -> None:
    """Raise MemoryLimitError, saying what would fit, if the dynamic programme is too large."""
    limit = (default_memory_limit() if memory_limit is None else memory_limit) * 2**30
    needed = n_jobs * _core.ktree_dp_bytes(n, k)
    if needed <= limit:
        return
    fitting = [b for b in range(1, k) if n_jobs * _core.ktree_dp_bytes(n, b) <= limit]
    advice = f"; treewidth {fitting[-1]} would fit" if fitting else ""
    msg = (
        f"the exact search inside k-trees of treewidth {k} on {n} variables needs "
        f"{needed / 2**30:,.1f} GiB, more than {limit / 2**30:.1f} GiB{advice}; "
        "method 'sample' has no such limit"
    )
    raise MemoryLimitError(msg)
