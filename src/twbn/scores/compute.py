"""Scores of all parent sets up to a size, or of the most promising ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn import _core, interrupts
from twbn.checks import checked_memory_limit, checked_n_jobs, checked_time_limit, checked_whole
from twbn.cluster import active_cluster
from twbn.data.frames import as_table
from twbn.deadline import Deadline
from twbn.errors import Option, OptionError
from twbn.interrupts import deferred
from twbn.scores.blocks import BlockOptions, score_in_blocks
from twbn.scores.by_function import score_with_function
from twbn.scores.estimate import estimate, refuse_large_budget, refuse_too_large
from twbn.scores.kinds import ScoreOption, checked_score, score_name, scored_data
from twbn.scores.likelihood_bound import likelihood_bound
from twbn.scores.protocol import ScoringInfo
from twbn.scores.rules import ParentRules, RuleOptions, make_rules
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from twbn.data.table import Table
    from twbn.scores.protocol import ScoringStatus

__all__ = ["ScoringProgress", "compute_scores"]

#: Called with (work done, total work).
ScoringProgress = Callable[[int, int], None]


def compute_scores(
    data: Any,
    *,
    score: ScoreOption = "bdeu",
    ess: float = 1.0,
    max_parents: int | Mapping[str, int] | None = 3,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Sequence[Iterable[str]] | None = None,
    roots: Iterable[str] = (),
    leaves: Iterable[str] = (),
    prune: bool = True,
    budget: int | None = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    on_progress: ScoringProgress | None = None,
) -> ScoreTable:
    """Return the local scores of the parent sets of every variable.

    Parameters
    ----------
    data
        A Table or anything `as_table` accepts; no cell may be missing.
    score
        ``"bdeu"``, ``"bic"`` (or ``"mdl"``), ``"aic"``, ``"k2"``, ``"loglik"``, or a function
        ``(table, child, parents) -> float`` with columns by position. Natural logarithms.
    ess
        Equivalent sample size of BDeu.
    max_parents
        Largest parent set, for all variables or by name; None: no limit.
    required, forbidden, tiers
        Arcs (parent, child) that must or must not be present; ordered groups of variables.
    roots, leaves
        Variables without parents, and without children.
    prune
        Drop a set if a subset of it scores at least as well. No optimum is lost.
    budget
        For wide tables: instead of all sets, explore at most this many sets of two or more
        parents for each variable, the most promising first.
    n_jobs
        Threads; None means one, -1 means one per core. If a cluster is configured with
        ``joblib.parallel_config`` and `budget` is given, its workers score the variables.
    time_limit
        Seconds. The scores completed by then are kept: all sets up to some size.
    memory_limit
        GiB; by default half of the machine's memory. A larger need is refused beforehand.
    on_progress
        Called from time to time with (work done, total work).

    Examples
    --------
    >>> table = as_table({"a": [0, 0, 1, 1] * 3, "b": [0, 1, 0, 1] * 3, "c": [0, 0, 1, 1] * 3})
    >>> scores = compute_scores(table, score="bic")
    >>> [(round(value, 6), parents) for value, parents in scores.sets(0)]
    [(-2.484907, (2,)), (-9.560219, ())]
    """
    table = as_table(data)
    checked_score(score, ess)
    wanted = RuleOptions(max_parents, required, forbidden, tiers, roots, leaves)
    rules = make_rules(table.names, wanted)
    clock = Deadline(checked_time_limit(time_limit))
    if budget is not None:
        budget = min(checked_whole("budget", budget, least=0), 2**62)
    n_bytes = min(int(checked_memory_limit(memory_limit) * 2**30), 2**62)
    jobs = checked_n_jobs(n_jobs)
    if callable(score):
        return score_with_function(
            table,
            score,
            rules,
            prune=prune,
            budget=budget,
            deadline=clock,
            max_bytes=n_bytes,
            on_progress=on_progress,
        )
    work = _Work(table, score, float(ess), rules, prune, budget)
    total, n_bytes = work.planned(jobs, n_bytes)
    with deferred():  # from here on, there are results to keep
        report = None if on_progress is None else lambda done: on_progress(done, total)
        found = work.run(jobs, n_bytes, clock, report)
        if on_progress is not None:
            on_progress(total, total)
        return work.table_of(found, clock)


class _Work(NamedTuple):
    """A scoring job with validated options."""

    table: Table
    score: str
    ess: float
    rules: ParentRules
    prune: bool
    budget: int | None

    def planned(self, n_jobs: int, n_bytes: int) -> tuple[int, int]:
        """Return the amount of work and the bytes for its result, or raise MemoryLimitError."""
        n, size = self.table.n_variables, int(self.rules.max_parents.max())
        if self.budget is not None:
            possible = estimate(n, size).n_sets
            refuse_large_budget(n, min(self.budget, possible // n), n_jobs, n_bytes)
            return n, n_bytes
        # K2 has separate terms for every number of states.
        n_terms = len(set(self.table.n_states.tolist())) if score_name(self.score) == "k2" else 1
        needed = refuse_too_large(n, size, prune=self.prune, n_terms=n_terms, n_bytes=n_bytes)
        return needed.n_sets, n_bytes - estimate(n, size, n_terms=n_terms).n_bytes

    def run(
        self, n_jobs: int, n_bytes: int, clock: Deadline, report: Callable[[int], None] | None
    ) -> _core.ScoredSets:
        """Score in the core or, with a budget and a cluster, on the cluster."""
        cluster = active_cluster()
        if cluster is not None and self.budget is not None:
            kind = (self.score, self.ess)
            block = BlockOptions(
                kind, self.rules, self.prune, self.budget, n_bytes, clock.time_limit
            )
            return score_in_blocks(cluster, self.table, block)
        return _core.score_parent_sets(
            scored_data(self.table, self.score, self.ess),
            self.rules.max_parents,
            self.rules.allowed,
            [list(parents) for parents in self.rules.required],
            self.prune,
            self.budget,
            n_jobs,
            n_bytes,
            clock.time_limit,
            report,
        )

    def table_of(self, found: _core.ScoredSets, clock: Deadline) -> ScoreTable:
        """Return the score table of the sets that were scored."""
        if not len(found["scores"]) or np.any(np.diff(found["variable_offsets"]) == 0):
            if found["interrupted"]:
                raise KeyboardInterrupt
            problem = (
                f" of {clock.time_limit} s passed before every variable had a parent set with all "
                "its required parents"
            )
            raise OptionError(Option("time_limit"), problem)
        name = score_name(self.score)
        status = _status(found, int(self.rules.max_parents.max()), self.budget)
        info = ScoringInfo(
            score=name,
            ess=self.ess if name == "bdeu" else None,
            status=status,
            complete_size=found["complete_size"],
            n_scored=found["n_scored"],
            n_skipped=found["n_skipped"],
            seconds=clock.seconds,
            fingerprint=self.table.fingerprint,
            coding=self.table.coding,
            n_states=tuple(self.table.n_states.tolist()),
            bound=None if status == "complete" else likelihood_bound(self.table, name),
        )
        return ScoreTable(
            self.table.names,
            found["variable_offsets"],
            found["scores"],
            found["set_offsets"],
            found["parents"],
            info,
        )


def _status(found: _core.ScoredSets, max_size: int, budget: int | None) -> ScoringStatus:
    if found["interrupted"] or interrupts.pending():
        return "interrupted"
    if found["out_of_memory"]:
        return "memory_limit"
    if budget is not None:
        return "time_limit" if found["timed_out"] else "budget"
    return "complete" if found["complete_size"] >= max_size else "time_limit"
