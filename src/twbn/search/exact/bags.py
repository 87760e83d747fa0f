"""Exact search without a solver: dynamic programs over subsets and over bags."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twbn import _core
from twbn.checks import checked_memory_limit
from twbn.errors import MemoryLimitError, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.scores.tabulate import tabulated
from twbn.search.feasibility import conflict
from twbn.search.heuristic.anneal import anneal
from twbn.search.method import register, search_method
from twbn.search.result import TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.result import SearchResult, Status
    from twbn.search.run import Run

__all__ = ["best_unbounded", "dp"]

#: Proposals of annealing for the structure that the search has to beat.
START_ITERATIONS = 2_000_000
#: Seconds for the treewidth of the best structure without a limit.
TREEWIDTH_SECONDS = 10.0


def best_unbounded(
    scores: LocalScores, *, n_jobs: int = 1, memory_limit: float | None = None
) -> tuple[Dag, float]:
    """Return the best structure without a treewidth limit, and its score.

    Notes
    -----
    Silander and Myllymäki (2006): O(n² 2^n) time, O(n 2^n) space. Raises MemoryLimitError if the
    tables would not fit.
    """
    table = tabulated(scores)
    _refuse_too_many(table.n_variables, checked_memory_limit(memory_limit))
    tables = _core.subset_tables(table.index, table.scores, n_jobs, None)
    return _optimum(tables, table)


@register
@search_method(
    "dp",
    "dynamic programming, proved, for up to 15 variables or so",
    prune="drop states that cannot beat the best structure known",
    memory_limit="GiB; by default half of the machine's memory",
)
def dp(
    scores: LocalScores, run: Run, *, prune: bool = True, memory_limit: float | None = None
) -> SearchResult:
    """Return the best structure of bounded treewidth, proved, for few variables.

    Without a time limit it runs to its end; `max_iterations` has no effect.

    Parameters
    ----------
    prune
        Drop states that cannot lead to anything better than the best known structure. False gives
        the reference algorithm of Korhonen and Parviainen (2013).

    Notes
    -----
    The best structure without a treewidth limit is found first: if its treewidth is within the
    limit, it is the answer; in any case its score is an upper bound. Then follows the dynamic
    program over bags, the sets below them, their orders and the members that already have parents
    (`core/exact/bounded_dp.h`).
    """
    gib = checked_memory_limit(memory_limit)
    _refuse_too_many(run.n, gib)
    table = tabulated(scores)
    known = anneal(table, run.half_time(scores=table, max_iterations=START_ITERATIONS))
    search = _DynamicProgram(table, run, known)
    if known.status == "interrupted":
        return search.give_up("interrupted")
    try:
        subsets = _core.subset_tables(
            table.index, table.scores, run.workers, run.time_left_if_limited
        )
    except KeyboardInterrupt:
        return search.give_up("interrupted")
    if not subsets.complete():
        return search.give_up("time_limit")
    return search.unlimited_width(subsets) or search.bounded(
        subsets, known.score if prune else -math.inf, int(gib * 2**30)
    )


class _DynamicProgram:
    """One run: the structure to beat, and the bound that is proved so far."""

    def __init__(self, table: ScoreTable, run: Run, known: SearchResult) -> None:
        self._table = table
        self._run = run
        self._known = known
        self._bound = known.bound
        self._trace = (TracePoint(run.seconds, 0, known.score, known.bound),)

    def unlimited_width(self, subsets: _core.SubsetTables) -> SearchResult | None:
        """Return the best structure of any width if narrow enough; record its score as a bound."""
        run = self._run
        dag, self._bound = _optimum(subsets, self._table)
        left = run.time_left_if_limited
        seconds = TREEWIDTH_SECONDS if left is None else min(TREEWIDTH_SECONDS, left)
        width = exact_treewidth(dag.moral_graph(), time_limit=seconds)
        if width.upper > run.k < run.n - 1:
            return None
        return self._result(dag, width.decomposition, "optimal", self._bound)

    def bounded(self, subsets: _core.SubsetTables, to_beat: float, max_bytes: int) -> SearchResult:
        """Return the best structure within the treewidth limit, by the program over bags."""
        run, table, known = self._run, self._table, self._known
        report = None
        if run.on_progress is not None:
            report = lambda _: run.tell(0, known.score)  # noqa: E731
        outcome, score, masks, order, n_states = _core.bounded_dp(
            subsets, run.k, to_beat, max_bytes, run.workers, run.time_left_if_limited, report
        )
        if outcome != "solved":
            status: dict[str, Status] = {
                "interrupted": "interrupted",
                "out_of_memory": "memory_limit",
            }
            return self.give_up(status.get(outcome, "time_limit"), n_states)
        if score == -math.inf:  # nothing beats what was known
            return self._result(known.dag, known.decomposition, "optimal", known.score, n_states)
        dag = Dag(tuple(_best_inside(table, v, mask) for v, mask in enumerate(masks)))
        proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), order)
        return self._result(dag, proof, "optimal", table.total(dag), n_states)

    def give_up(self, status: Status, n_states: int = 0) -> SearchResult:
        """Return the structure that was known, with what is proved so far."""
        known = self._known
        return self._result(known.dag, known.decomposition, status, self._bound, n_states)

    def _result(
        self,
        dag: Dag,
        proof: TreeDecomposition,
        status: Status,
        bound: float,
        n_states: int = 0,
    ) -> SearchResult:
        last = TracePoint(self._run.seconds, n_states, self._table.total(dag), bound)
        return self._run.result(
            dag,
            proof,
            status=status,
            bound=bound,
            n_iterations=n_states,
            trace=(*self._trace, last),
        )


def _optimum(tables: _core.SubsetTables, table: ScoreTable) -> tuple[Dag, float]:
    if tables.optimum() == -math.inf:
        reason = conflict(table, table.n_variables)
        msg = f"no structure has all its parent sets in the scores: {reason}"
        raise OptionError(msg)
    dag = Dag(tuple(map(tuple, tables.optimal_parents())))
    return dag, table.total(dag)


def _best_inside(table: ScoreTable, child: int, mask: int) -> tuple[int, ...]:
    sets = map(table.parents_at, table.positions(child))
    return next(parents for parents in sets if all(mask >> p & 1 for p in parents))


def _refuse_too_many(n: int, gib: float) -> None:
    limit = gib * 2**30
    most = min(_core.max_subset_variables, _core.max_dp_variables)
    fitting = [m for m in range(1, most + 1) if _core.subset_dp_bytes(m) <= limit]
    if n in fitting:
        return
    msg = (
        f"dynamic programming over {n} variables needs {_core.subset_dp_bytes(n) / 2**30:,.1f} GiB "
        f"and at most {most} variables; {limit / 2**30:.1f} GiB take {len(fitting)}"
    )
    raise MemoryLimitError(msg)
