"""Algorithm 1 of the paper: learning by sampling k-trees, in both versions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twbn import _core
from twbn.errors import OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.ktree import KTree
from twbn.search.heuristic.polish import refuse_too_wide
from twbn.search.method import register, search_method
from twbn.search.result import TOLERANCE, TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.result import SearchResult, Status
    from twbn.search.run import Run

__all__ = ["sample", "sample_exact"]

#: Largest number of parent sets that may be looked up for one vertex of one clique.
MAX_SUBSETS = 2_000_000


@register
@search_method("sample", "k-trees and orders at random (the paper's Version 2)")
def sample(scores: LocalScores, run: Run) -> SearchResult:
    """Return the best structure of many k-trees, each with an order drawn at random (Version 2).

    Notes
    -----
    A uniform Dandelion code gives a uniform k-tree; Algorithm 2 draws an order of each clique;
    every vertex takes the best parent set that lies inside one clique and before it in the order.
    Linear in n per k-tree. Works on precomputed and on lazy scores.
    """
    size = min(scores.max_parents, run.k)
    subsets = sum(math.comb(run.k, parents) for parents in range(size + 1))
    if subsets > MAX_SUBSETS:
        msg = (
            f"{run.k} candidates have {subsets:,} parent sets of at most {size}; "
            "score with a smaller max_parents, or take a smaller treewidth"
        )
        raise OptionError(msg)
    return _sample(scores, run, exact=False)


@register
@search_method("sample-exact", "k-trees at random, each searched exactly (Version 1)")
def sample_exact(scores: LocalScores, run: Run) -> SearchResult:
    """Return the best structure of many k-trees, each searched exactly (Version 1).

    Notes
    -----
    O(3^k · (k+1)! · n) per k-tree, so k up to 7 or so; larger limits are refused with the memory
    they would need.
    """
    refuse_too_wide(run.n, run.k, n_jobs=run.workers)
    return _sample(scores, run, exact=True)


def _sample(scores: LocalScores, run: Run, *, exact: bool) -> SearchResult:
    bound = scores.trivial_bound()
    best = _starting_point(scores, run)
    if run.n == 1:
        dag, proof = best or (Dag.empty(1), TreeDecomposition((frozenset({0}),)))
        return run.result(dag, proof, status="optimal", bound=scores.total(dag))
    # A limit on iterations is always used up, so that the result does not depend on thread timing.
    enough = bound - TOLERANCE * abs(bound) if run.max_iterations is None else math.inf
    known = -math.inf if best is None else scores.total(best[0])
    # One clique of all variables: the dynamic program is the whole search.
    alone = exact and run.k == run.n - 1
    found = _core.sample_ktrees(
        scores.lookup,
        run.n,
        run.k,
        exact,
        run.seed,
        1 if alone else -1 if run.max_iterations is None else run.max_iterations,
        enough,
        known,
        run.workers,
        run.time_left,
        run.on_progress,
    )
    if found["found"] and found["score"] > known:
        tree = KTree.from_steps(run.n, found["steps"])
        best = Dag(tuple(map(tuple, found["parents"]))), tree.decomposition()
    if best is None:
        raise OptionError(_nothing_found(scores, found["n_iterations"]))
    score, status = scores.total(best[0]), _status(found, run)
    if alone and found["n_iterations"] == 1:
        bound = score
    if score >= bound - TOLERANCE * abs(bound):
        status = "optimal"
    trace = [] if known == -math.inf else [TracePoint(0.0, 0, known, bound)]
    for seconds, iteration, value in found["trace"]:
        if not trace or value > trace[-1].score:
            trace.append(TracePoint(seconds, iteration + 1, value, bound))
    trace[-1] = trace[-1]._replace(score=score)  # summed in the same order as the result's
    return run.result(
        *best, status=status, bound=bound, n_iterations=found["n_iterations"], trace=tuple(trace)
    )


def _starting_point(scores: LocalScores, run: Run) -> tuple[Dag, TreeDecomposition] | None:
    """Return the given start, or step 1 of Algorithm 1: the structure without arcs, if scored."""
    if run.first is not None:
        return run.first
    dag = Dag.empty(run.n)
    if scores.total(dag) == -math.inf:
        return None
    bags = tuple(frozenset({v}) for v in range(run.n))
    return dag, TreeDecomposition(bags, tuple((v, v + 1) for v in range(run.n - 1)))


def _status(found: _core.SampledKTrees, run: Run) -> Status:
    if found["interrupted"]:
        return "interrupted"
    if run.max_iterations is not None and found["n_iterations"] >= run.max_iterations:
        return "iteration_limit"
    return "time_limit"


def _nothing_found(scores: LocalScores, n_iterations: int) -> str:
    without = [name for v, name in enumerate(scores.names) if scores.local(v, ()) == -math.inf]
    shown = ", ".join(without[:5]) + (", …" if len(without) > 5 else "")
    return (
        f"no structure was found in {n_iterations} k-trees: {shown} must have parents (the scores "
        "have no empty set for them), and no k-tree had room for all of these; allow more time, "
        "or add the empty set"
    )
