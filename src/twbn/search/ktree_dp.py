"""The best network inside a k-tree, and what it is good for: polishing any result."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from twbn import _core
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.ktree import KTree
from twbn.scores.compute import default_memory_limit
from twbn.search.result import SearchResult, TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores

__all__ = ["best_dag_inside", "polish", "refuse_too_wide"]


def best_dag_inside(tree: KTree, scores: LocalScores) -> tuple[Dag, float]:
    """Return the best network whose moral graph lies inside a k-tree, and its score.

    Notes
    -----
    Dynamic programming over the orders of the separators and the vertices whose parents are
    chosen below them (after Korhonen and Parviainen, 2013): O(3^k · (k+1)! · n).
    """
    refuse_too_wide(tree.n_vertices, tree.k)
    score, parents, interrupted = _core.optimize_ktree(
        scores.lookup, tree.n_vertices, tree.k, tree.steps
    )
    if interrupted:
        raise KeyboardInterrupt
    if score == -math.inf:
        msg = "no network inside this k-tree has all its parent sets in the scores"
        raise OptionError(msg)
    dag = Dag(tuple(map(tuple, parents)))
    return dag, scores.total(dag)


def polish(result: SearchResult, scores: LocalScores) -> SearchResult:
    """Return the best network inside the result's own decomposition, completed to a k-tree.

    Never worse than the result itself, which is returned unchanged when nothing better is there.
    Ctrl-C returns it too, with status ``interrupted``.
    """
    n = result.dag.n_vertices
    if result.names != tuple(scores.names):
        msg = "the scores have other variables than the result, or in another order"
        raise OptionError(msg)
    if n == 1:
        return result
    begun = time.perf_counter()
    k = min(result.treewidth_bound, n - 1)
    tree = KTree.containing(result.decomposition, n, k)
    try:
        dag, score = best_dag_inside(tree, scores)
    except KeyboardInterrupt:  # what there is, is kept
        return replace(result, scores=scores, status="interrupted")
    if score <= result.score:
        return result
    bound = max(result.bound, scores.upper_bound())  # other scores may have other sets
    seconds = result.seconds + time.perf_counter() - begun
    point = TracePoint(seconds, result.n_iterations, score, bound)
    return replace(
        result,
        scores=scores,
        dag=dag,
        decomposition=tree.decomposition(),
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
