"""Algorithm 1 of the paper: learning by sampling k-trees, in both versions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twbn import _core
from twbn.errors import OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.ktree import KTree
from twbn.interrupts import keeps_best
from twbn.search.ktree_dp import refuse_too_wide
from twbn.search.options import SearchOptions
from twbn.search.result import TOLERANCE, SearchResult, TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.options import Progress, Start

__all__ = ["sample", "sample_exact"]

#: Looking up more parent sets than this for one vertex of one clique is refused.
MAX_SUBSETS = 2_000_000


@keeps_best
def sample(
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
    """Return the best network of many k-trees, each with an order drawn at random (Version 2).

    Notes
    -----
    A uniform Dandelion code gives a uniform k-tree; Algorithm 2 draws an order of each clique;
    every vertex takes the best parent set that lies inside one clique and before it in the order.
    Linear in n per k-tree. Works on precomputed and on lazy scores.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    size = min(scores.max_parents, options.k)
    subsets = sum(math.comb(options.k, parents) for parents in range(size + 1))
    if subsets > MAX_SUBSETS:
        msg = (
            f"{options.k} candidates have {subsets:,} parent sets of at most {size}; "
            "score with a smaller max_parents, or take a smaller treewidth"
        )
        raise OptionError(msg)
    return _run("sample", scores, options, on_progress)


@keeps_best
def sample_exact(
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
    """Return the best network of many k-trees, each searched exactly (Version 1).

    Notes
    -----
    O(3^k · (k+1)! · n) per k-tree, so k up to 7 or so; wider bounds are refused with the memory
    they would need.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    refuse_too_wide(options.n, options.k, n_jobs=options.n_jobs)
    return _run("sample-exact", scores, options, on_progress)


def _run(
    method: str, scores: LocalScores, options: SearchOptions, on_progress: Progress | None
) -> SearchResult:
    bound = scores.upper_bound()
    best = _starting_point(scores, options)
    if options.n == 1:
        dag, proof = best or (Dag.empty(1), TreeDecomposition((frozenset({0}),)))
        return SearchResult(
            scores, dag, proof, options.treewidth, method, "optimal", scores.total(dag), 0,
            options.seconds, options.seed, notes=options.notes,
        )  # fmt: skip
    # A budget in iterations is used up, so that the answer does not depend on who comes first.
    enough = bound - TOLERANCE * abs(bound) if options.max_iterations is None else math.inf
    known = -math.inf if best is None else scores.total(best[0])
    # One clique of all variables: the dynamic programme is the whole search.
    alone = method == "sample-exact" and options.k == options.n - 1
    found = _core.sample_ktrees(
        scores.lookup,
        options.n,
        options.k,
        method == "sample-exact",
        options.seed,
        1 if alone else -1 if options.max_iterations is None else options.max_iterations,
        enough,
        known,
        options.n_jobs,
        options.time_left,
        on_progress,
    )
    if found["found"] and found["score"] > known:
        tree = KTree.from_steps(options.n, found["steps"])
        best = Dag(tuple(map(tuple, found["parents"]))), tree.decomposition()
    if best is None:
        raise OptionError(_nothing_found(scores, found["n_iterations"]))
    score, status = scores.total(best[0]), _status(found, options)
    if alone and found["n_iterations"] == 1:
        bound = score
    if score >= bound - TOLERANCE * abs(bound):
        status = "optimal"
    trace = [] if known == -math.inf else [TracePoint(0.0, 0, known, bound)]
    for seconds, iteration, value in found["trace"]:
        if not trace or value > trace[-1].score:
            trace.append(TracePoint(seconds, iteration + 1, value, bound))
    trace[-1] = trace[-1]._replace(score=score)  # summed in the same order as the result's
    return SearchResult(
        scores, best[0], best[1], options.treewidth, method, status, bound,
        found["n_iterations"], options.seconds, options.seed, tuple(trace), options.notes,
    )  # fmt: skip


def _starting_point(
    scores: LocalScores, options: SearchOptions
) -> tuple[Dag, TreeDecomposition] | None:
    """Return the given start, or step 1 of Algorithm 1: the network without arcs, if scored."""
    if options.start is not None:
        return options.start
    dag = Dag.empty(options.n)
    if scores.total(dag) == -math.inf:
        return None
    bags = tuple(frozenset({v}) for v in range(options.n))
    return dag, TreeDecomposition(bags, tuple((v, v + 1) for v in range(options.n - 1)))


def _status(found: _core.SampledKTrees, options: SearchOptions) -> str:
    if found["interrupted"]:
        return "interrupted"
    if options.max_iterations is not None and found["n_iterations"] >= options.max_iterations:
        return "iteration_limit"
    return "time_limit"


def _nothing_found(scores: LocalScores, n_iterations: int) -> str:
    without = [name for v, name in enumerate(scores.names) if scores.local(v, ()) == -math.inf]
    shown = ", ".join(without[:5]) + (", …" if len(without) > 5 else "")
    return (
        f"no network was found in {n_iterations} k-trees: {shown} must have parents (the scores "
        "have no empty set for them), and no k-tree had room for all of these; allow more time, "
        "or add the empty set"
    )
