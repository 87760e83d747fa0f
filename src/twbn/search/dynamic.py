"""Exact learning without a solver: dynamic programmes over subsets and over bags."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twbn import _core
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.interrupts import keeps_best
from twbn.scores.compute import default_memory_limit
from twbn.scores.tabulate import tabulated
from twbn.search.anneal import anneal
from twbn.search.feasibility import conflict
from twbn.search.options import SearchOptions
from twbn.search.result import SearchResult, TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.options import Progress, Start

__all__ = ["best_unbounded", "dp"]

#: Proposals of annealing for the network that the search has to beat.
START_ITERATIONS = 2_000_000
#: Seconds for the treewidth of the best network without a bound.
TREEWIDTH_SECONDS = 10.0


def best_unbounded(
    scores: LocalScores, *, n_jobs: int = 1, memory_limit: float | None = None
) -> tuple[Dag, float]:
    """Return the best network without a treewidth bound, and its score.

    Notes
    -----
    Silander and Myllymäki (2006): O(n² 2^n) time, O(n 2^n) space; what will not fit is refused.
    """
    table = tabulated(scores)
    _refuse_too_many(table.n_variables, memory_limit)
    tables = _core.subset_tables(table.index, table.scores, n_jobs, None)
    return _optimum(tables, table)


@keeps_best
def dp(
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    on_progress: Progress | None = None,
    prune: bool = True,
    memory_limit: float | None = None,
) -> SearchResult:
    """Return the best network of bounded treewidth, proved, for few variables.

    Parameters
    ----------
    prune
        Drop states that cannot lead to anything better than the best network known. False is the
        reference setting, Korhonen and Parviainen's (2013).
    memory_limit
        GiB; by default half of what the machine has.
    time_limit
        Seconds; without one the programme runs to its end. `max_iterations` has no effect.

    Notes
    -----
    The best network without a bound comes first: where its treewidth is within the bound it is the
    answer, and its score bounds all others. Then the dynamic programme over bags, the sets below
    them, their orders and the members that have their parents (`core/bounded_dp.h`).
    """
    unlimited = time_limit is None
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    _refuse_too_many(options.n, memory_limit)
    table = tabulated(scores)
    best = _start(table, options, unlimited)
    trace = [TracePoint(options.seconds, 0, best.score, best.bound)]

    def result(
        dag: Dag, proof: TreeDecomposition, status: str, bound: float, n_states: int = 0
    ) -> SearchResult:
        score = table.total(dag)
        steps = [*trace, TracePoint(options.seconds, n_states, score, bound)]
        return SearchResult(
            scores, dag, proof, options.treewidth, "dp", status, bound, n_states,
            options.seconds, options.seed, tuple(steps), options.notes,
        )  # fmt: skip

    left = None if unlimited else options.time_left
    try:
        if best.status == "interrupted":
            raise KeyboardInterrupt
        tables = _core.subset_tables(table.index, table.scores, options.n_jobs, left)
    except KeyboardInterrupt:
        return result(best.dag, best.decomposition, "interrupted", best.bound)
    if not tables.complete():
        return result(best.dag, best.decomposition, "time_limit", best.bound)
    dag, bound = _optimum(tables, table)
    left = TREEWIDTH_SECONDS if unlimited else min(TREEWIDTH_SECONDS, options.time_left or 0.001)
    width = exact_treewidth(dag.moral_graph(), time_limit=left)
    if width.upper <= options.k or options.k == options.n - 1:
        return result(dag, width.decomposition, "optimal", bound)

    lower = best.score if prune else -math.inf
    report = None
    if on_progress is not None:
        report = lambda _: on_progress(options.seconds, 0, best.score)  # noqa: E731
    outcome, score, masks, order, n_states = _core.bounded_dp(
        tables,
        options.k,
        lower,
        int((memory_limit or default_memory_limit()) * 2**30),
        options.n_jobs,
        None if unlimited else options.time_left,
        report,
    )
    if outcome != "solved":
        status = {"interrupted": "interrupted", "out_of_memory": "memory_limit"}.get(
            outcome, "time_limit"
        )
        return result(best.dag, best.decomposition, status, bound, n_states)
    if score == -math.inf:  # nothing beats what was known
        return result(best.dag, best.decomposition, "optimal", best.score, n_states)
    dag = Dag(tuple(_best_inside(table, v, mask) for v, mask in enumerate(masks)))
    proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), order)
    return result(dag, proof, "optimal", table.total(dag), n_states)


def _start(table: ScoreTable, options: SearchOptions, unlimited: bool) -> SearchResult:
    """Return a network to beat, the given one or better."""
    left = options.time_left
    return anneal(
        table, treewidth=options.treewidth, max_iterations=START_ITERATIONS, seed=options.seed,
        n_jobs=options.n_jobs, start=None if options.start is None else options.start[0],
        time_limit=None if unlimited or left is None else max(left / 2, 0.001),
    )  # fmt: skip


def _optimum(tables: _core.SubsetTables, table: ScoreTable) -> tuple[Dag, float]:
    if tables.optimum() == -math.inf:
        reason = conflict(table, table.n_variables)
        msg = f"no network has all its parent sets in the scores: {reason}"
        raise OptionError(msg)
    dag = Dag(tuple(map(tuple, tables.optimal_parents())))
    return dag, table.total(dag)


def _best_inside(table: ScoreTable, child: int, mask: int) -> tuple[int, ...]:
    return next(p for _, p in table.sets(child) if all(mask >> q & 1 for q in p))


def _refuse_too_many(n: int, memory_limit: float | None) -> None:
    limit = (memory_limit or default_memory_limit()) * 2**30
    most = min(_core.max_subset_variables, _core.max_dp_variables)
    fitting = [m for m in range(1, most + 1) if _core.subset_dp_bytes(m) <= limit]
    if n in fitting:
        return
    msg = (
        f"dynamic programming over {n} variables needs {_core.subset_dp_bytes(n) / 2**30:,.1f} GiB "
        f"and at most {most} variables; {limit / 2**30:.1f} GiB take {len(fitting)}"
    )
    raise MemoryLimitError(msg)
