"""The best structure inside a k-tree, which polishes any result."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twbn import _core
from twbn.checks import checked_memory_limit, checked_time_limit
from twbn.deadline import Deadline
from twbn.errors import MemoryLimitError, Option, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.ktree import KTree
from twbn.interrupts import keeps_best
from twbn.search.result import TOLERANCE, SearchResult, TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.result import Status

__all__ = ["best_dag_inside", "polish", "polish_within", "refuse_too_wide"]


def best_dag_inside(
    tree: KTree, scores: LocalScores, *, time_limit: float | None = None
) -> tuple[Dag, float]:
    """Return the best structure whose moral graph lies inside a k-tree, and its score.

    Raises TimeoutError if the time limit (seconds) is reached first.

    Notes
    -----
    Dynamic program over the orders of the separators and the vertices whose parents are
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
        msg = "no structure inside this k-tree has all its parent sets in the scores"
        raise OptionError(msg)
    dag = Dag(tuple(map(tuple, parents)))
    return dag, scores.total(dag)


@keeps_best
def polish(
    result: SearchResult, scores: LocalScores, *, time_limit: float | None = None
) -> SearchResult:
    """Return the best structure inside the result's own decomposition, completed to a k-tree.

    The new structure is never worse: the result is returned unchanged if nothing better is found,
    with a note if the time limit (seconds) is reached first, and with status ``interrupted`` after
    Ctrl-C. The scores may contain parent sets that the search did not have; the bound is then that
    of these scores.
    """
    return _polished(result, scores, checked_time_limit(time_limit), scores.trivial_bound())


def polish_within(
    result: SearchResult, scores: LocalScores, *, time_limit: float | None = None
) -> SearchResult:
    """Polish a result that comes from these same scores, so that its bound remains valid."""
    return _polished(result, scores, time_limit, result.bound)


def _polished(
    result: SearchResult, scores: LocalScores, time_limit: float | None, bound: float
) -> SearchResult:
    n = result.dag.n_vertices
    if result.names != tuple(scores.names):
        msg = "the scores have other variables than the result, or in another order"
        raise OptionError(msg)
    if result.max_states is not None:
        problem = " cannot be kept while polishing: bags would grow to treewidth + 1 variables"
        raise OptionError(Option("max_states"), problem)
    if n == 1:
        return result
    clock = Deadline(time_limit)
    tree = KTree.containing(result.decomposition, n, min(result.treewidth_limit, n - 1))
    try:
        dag, score = best_dag_inside(tree, scores, time_limit=time_limit)
    except KeyboardInterrupt:  # keep the result as it is
        return result.but(status="interrupted")
    except TimeoutError:
        return result.noted("not polished: the time limit was reached")
    if score <= result.score + TOLERANCE * abs(result.score):
        return result
    bound = max(result.bound, bound, score)
    # A proof of optimality covers only the parent sets that the search had.
    status: Status = "iteration_limit" if result.status == "optimal" else result.status
    if bound - score <= TOLERANCE * abs(score):
        status = "optimal"
    seconds = result.seconds + clock.seconds
    point = TracePoint(seconds, result.n_iterations, score, bound)
    return SearchResult.from_search(
        scores,
        dag,
        tree.decomposition(),
        treewidth_limit=result.treewidth_limit,
        status=status,
        bound=bound,
        method=result.method,
        n_iterations=result.n_iterations,
        n_accepted=result.n_accepted,
        seconds=seconds,
        seed=result.seed,
        trace=(*result.trace, point),
        notes=(*result.notes, "polished"),
        data_options=result.data_options,
    )


def refuse_too_wide(n: int, k: int, *, n_jobs: int = 1, memory_limit: float | None = None) -> None:
    """Raise MemoryLimitError, saying what would fit, if the dynamic program is too large."""
    limit = checked_memory_limit(memory_limit) * 2**30
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
