"""Scoring of parent sets within a time limit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn.checks import checked_n_jobs
from twbn.deadline import Deadline
from twbn.errors import MemoryLimitError, Option, OptionError
from twbn.scores.compute import compute_scores
from twbn.scores.estimate import Estimate, estimate
from twbn.scores.lazy import LazyScores
from twbn.scores.rules import RuleOptions, make_rules
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from twbn.data.table import Table
    from twbn.graphs.dag import Dag
    from twbn.scores.kinds import ScoreOption

__all__ = ["ScoresInTime", "ScoringOptions", "best_of", "scores_in_time"]

#: Share of the time limit that scoring may take.
SHARE = 0.4
#: Share of that time after which to judge whether all sets can be scored in time.
JUDGED_AFTER = 0.1
#: One worker never scores more parent sets than this per second.
MAX_RATE = 1e8
#: Parent sets kept for each second left to the search, which has to sort them first.
SETS_A_SECOND = 500_000
#: Memory for all sets if there is no time limit: fixed, so that all machines give one answer.
MAX_GIB = 4.0
#: Numbers of parent sets of size two or more to explore per variable when not all are scored: the
#: largest that fits into memory, and into the time limit if there is one.
BUDGETS = (5000, 1000, 200)


class ScoringOptions(NamedTuple):
    """How to score data; see `compute_scores`."""

    score: ScoreOption = "bdeu"
    ess: float = 1.0
    max_parents: int | Mapping[str, int] | None = 3
    required: Sequence[tuple[str, str]] = ()
    forbidden: Sequence[tuple[str, str]] = ()
    tiers: Sequence[Iterable[str]] | None = None
    roots: Sequence[str] = ()
    leaves: Sequence[str] = ()

    def compute(self, table: Table, **limits: Any) -> ScoreTable:
        """Return the scores of a table."""
        return compute_scores(table, **self._asdict(), **limits)

    def estimate(self, table: Table) -> Estimate:
        """Return the estimated cost of scoring all sets."""
        rules = {name: getattr(self, name) for name in RuleOptions._fields}
        largest = int(make_rules(table.names, RuleOptions(**rules)).max_parents.max())
        return estimate(table.n_variables, largest)

    def refuse_for_scores(self) -> None:
        """Raise OptionError if there are rules for scoring data, but the scores exist already."""
        for name in ("required", "forbidden", "tiers", "roots", "leaves"):
            if getattr(self, name):
                problem = " has no effect on existing scores; give it to compute_scores"
                raise OptionError(Option(name), problem)

    def candidates(self) -> dict[str, Any]:
        """Return as plain values which parent sets there are."""
        sizes = self.max_parents
        return {
            "max_parents": dict(sizes) if isinstance(sizes, Mapping) else sizes,
            "required": [list(arc) for arc in self.required],
            "forbidden": [list(arc) for arc in self.forbidden],
            "tiers": None if self.tiers is None else [list(tier) for tier in self.tiers],
            "roots": list(self.roots),
            "leaves": list(self.leaves),
        }


class ScoresInTime(NamedTuple):
    """Scores, and what a reader of the result should know about them."""

    scores: ScoreTable
    notes: tuple[str, ...]


class _TooSlowError(Exception):
    """Scoring all parent sets would take longer than the time allows."""


def scores_in_time(
    table: Table,
    options: ScoringOptions,
    *,
    time_limit: float | None,
    n_jobs: int | None = None,
    keep: Dag | None = None,
) -> ScoresInTime:
    """Return the scores of all parent sets, or of the most promising ones if all are too many.

    There are too many if they would not fit into memory or would take more than a share of the time
    limit, extrapolating from the first of them. The families of the structure `keep` are always
    included.
    """
    clock = Deadline(time_limit)
    share = None if time_limit is None else SHARE * time_limit
    scores, reason = _all_sets(table, options, n_jobs, share)
    if scores is None:
        left = None if share is None else max(share - clock.seconds, 0.1 * share)
        scores = _promising(table, n_jobs, left, options)
        reason = f"the most promising ones of each variable, because {reason}"
    if time_limit is not None:
        most = int(SETS_A_SECOND * max(time_limit - clock.seconds, 0.1 * time_limit))
        if scores.n_sets > most:
            scores = best_of(scores, most // scores.n_variables)
            kept = "the best of each variable, because there is no time to search among more"
            reason = f"{reason}; of these {kept}" if reason else kept
    if keep is not None:
        scores = _including(scores, table, keep, options)
    return ScoresInTime(scores, (f"parent sets: {reason}",) if reason else ())


def _all_sets(
    table: Table, options: ScoringOptions, n_jobs: int | None, seconds: float | None
) -> tuple[ScoreTable | None, str]:
    """Return the scores of all sets, or None if they are too many; and the reason."""
    if callable(options.score):  # all sets up to some size: a function has no budget here
        scores = options.compute(table, time_limit=seconds)
        return scores, "there was no time for more" if scores.info.status == "time_limit" else ""
    clock = Deadline(seconds)

    def judge(done: int, total: int) -> None:
        if seconds is None or clock.seconds < JUDGED_AFTER * seconds or done >= total:
            return
        if clock.seconds * total > seconds * max(done, 1):
            raise _TooSlowError

    needed = options.estimate(table)
    if seconds is None and needed.n_bytes > MAX_GIB * 2**30:
        return None, f"all of them would take more than {MAX_GIB:g} GiB"
    try:
        if seconds is not None and needed.n_sets > MAX_RATE * checked_n_jobs(n_jobs) * seconds:
            raise _TooSlowError
        scores = options.compute(table, n_jobs=n_jobs, time_limit=seconds, on_progress=judge)
    except _TooSlowError:
        return None, f"scoring all of them would take more than {SHARE:.0%} of the time limit"
    except MemoryLimitError:
        if seconds is None:
            raise
        return None, "they would not all fit into memory"
    late = scores.info.status == "time_limit"
    return (None, "there was no time for more") if late else (scores, "")


def _promising(
    table: Table, n_jobs: int | None, time_limit: float | None, options: ScoringOptions
) -> ScoreTable:
    if time_limit is None:
        return options.compute(table, n_jobs=n_jobs, budget=BUDGETS[1])
    for budget in BUDGETS[:-1]:
        with suppress(MemoryLimitError):
            return options.compute(table, n_jobs=n_jobs, time_limit=time_limit, budget=budget)
    return options.compute(table, n_jobs=n_jobs, time_limit=time_limit, budget=BUDGETS[-1])


def best_of(scores: ScoreTable, most: int) -> ScoreTable:
    """Return the best `most` sets of each variable, plus its smallest sets and those one larger."""
    sizes, child = scores.set_sizes, scores.children
    first = scores.variable_offsets[:-1]
    rank = np.arange(scores.n_sets) - first[child]
    smallest = np.minimum.reduceat(sizes, first)  # rules may ask for parents
    kept = (rank < most) | (sizes <= smallest[child] + 1)
    return ScoreTable.chosen(
        scores, kept, replace(scores.info, status="budget", complete_size=None)
    )


def _including(scores: ScoreTable, table: Table, dag: Dag, options: ScoringOptions) -> ScoreTable:
    """Return the scores with the missing families of a structure added."""
    if dag.n_vertices != scores.n_variables:
        return scores
    lazy = LazyScores(table, **options._asdict())
    missing = {
        v: tuple(parents)
        for v, parents in enumerate(dag.parents)
        if scores.local(v, parents) == -math.inf and lazy.local(v, parents) > -math.inf
    }
    if not missing:
        return scores
    sets = [{members: score for score, members in scores.sets(v)} for v in range(len(scores.names))]
    for v, parents in missing.items():
        sets[v][parents] = lazy.local(v, parents)
    return ScoreTable.from_sets(scores.names, sets, scores.info)
