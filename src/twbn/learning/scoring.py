"""Scoring of parent sets within a time limit."""

from __future__ import annotations

import math
from collections import Counter
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
from twbn.scores.rules import RuleOptions, make_rules, within_treewidth
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
#: Parent sets that are scored beforehand, at most, where that could be done on demand: for each
#: second of the time limit; for each iteration, and in any case, without one.
BEFOREHAND_A_SECOND, BEFOREHAND_AN_ITERATION, BEFOREHAND = 2_000_000, 20, 3_000_000
#: The largest parent sets where all have to be scored beforehand and those are too many.
FEW_PARENTS = 3
#: Numbers of parent sets of size two or more to explore per variable when not all are scored: the
#: largest that fits into memory, and into the time limit if there is one.
BUDGETS = (5000, 1000, 200)


class ScoringOptions(NamedTuple):
    """How to score data; see `compute_scores`."""

    score: ScoreOption = "bdeu"
    ess: float = 1.0
    max_parents: int | Mapping[str, int] | None = None
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
        largest = int(make_rules(table.names, self.rules).max_parents.max())
        return estimate(table.n_variables, largest)

    @property
    def rules(self) -> RuleOptions:
        """The rules on parent sets alone."""
        return RuleOptions(**{name: getattr(self, name) for name in RuleOptions._fields})

    def within(self, largest: int) -> ScoringOptions:
        """Return the options with parent sets no larger than the treewidth limit.

        Without a size, sets may be that large, or those of a function three. Required arcs that are
        too many for the limit stay, to be told as such.
        """
        sizes = self.max_parents
        if sizes is None:
            required = Counter(child for _, child in self.required)
            most = min(largest, FEW_PARENTS) if callable(self.score) else largest
            return self._replace(max_parents=max(most, *required.values(), 0))
        if self.required:
            return self
        return self._replace(max_parents=within_treewidth(sizes, largest))

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
    """Scores, what a reader of the result should know about them, and how they were made."""

    scores: ScoreTable | LazyScores
    notes: tuple[str, ...]
    options: ScoringOptions


class _TooSlowError(Exception):
    """Scoring all parent sets would take longer than the time allows."""


def scores_in_time(
    table: Table,
    options: ScoringOptions,
    *,
    largest: int,
    on_demand: bool,
    max_iterations: int | None,
    time_limit: float | None,
    n_jobs: int | None = None,
    keep: Dag | None = None,
    related: bool = False,
) -> ScoresInTime:
    """Return the scores of all parent sets, or what there is time for if all are too many.

    There are too many if they would not fit into memory or would take more than a share of the time
    limit, extrapolating from the first of them. Then they are scored on demand or, if the search
    cannot do with that, sets of few parents or the most promising ones are scored.

    Parameters
    ----------
    largest
        The treewidth limit: no structure within it has more parents of a variable.
    on_demand
        Whether the search can do with scores that are computed on demand.
    keep
        A structure whose families are always included.
    related
        Whether rules on pairs of variables may need sets that pruning drops.
    """
    clock = Deadline(time_limit)
    share = None if time_limit is None else SHARE * time_limit
    given, options = options, options.within(largest)
    if related:
        return _on_demand(table, options, keep, "rules join pairs of variables")
    most = math.inf if not on_demand else _most_beforehand(time_limit, max_iterations)
    scores, reason = _all_sets(table, options, n_jobs, share, most)
    if scores is None and on_demand:
        return _on_demand(table, options, keep, reason)
    if scores is None and given.max_parents is None and largest > FEW_PARENTS:
        fewer = given.within(FEW_PARENTS)  # or as many as are required
        left = None if share is None else max(share - clock.seconds, 0.1 * share)
        scores, also = _all_sets(table, fewer, n_jobs, left)
        options = fewer
        reason = also or f"those of at most {fewer.max_parents} parents, because {reason}"
    if scores is None:
        left = None if share is None else max(share - clock.seconds, 0.1 * share)
        scores = _promising(table, n_jobs, left, options)
        reason = f"the most promising ones of each variable, because {reason}"
    if time_limit is not None:
        kept = int(SETS_A_SECOND * max(time_limit - clock.seconds, 0.1 * time_limit))
        if scores.n_sets > kept:
            scores = best_of(scores, kept // scores.n_variables)
            why = "the best of each variable, because there is no time to search among more"
            reason = f"{reason}; of these {why}" if reason else why
    if keep is not None:
        scores = _including(scores, table, keep, options)
    return ScoresInTime(scores, (f"parent sets: {reason}",) if reason else (), options)


def _most_beforehand(time_limit: float | None, max_iterations: int | None) -> float:
    """Return how many parent sets are scored beforehand where that could be done on demand."""
    if time_limit is not None:
        return BEFOREHAND_A_SECOND * time_limit
    return max(BEFOREHAND, BEFOREHAND_AN_ITERATION * (max_iterations or 0))


def _on_demand(
    table: Table, options: ScoringOptions, keep: Dag | None, reason: str
) -> ScoresInTime:
    if keep is not None and keep.n_vertices == table.n_variables:
        rules = make_rules(table.names, options.rules)
        pairs = zip(table.names, keep.parents, rules.max_parents.tolist(), strict=True)
        options = options._replace(
            max_parents={name: max(len(parents), size) for name, parents, size in pairs}
        )
    scores = LazyScores(table, **options._asdict())
    note = f"parent sets: scored on demand, of up to {scores.max_parents} parents, because {reason}"
    return ScoresInTime(scores, (note,), options)


def _all_sets(
    table: Table,
    options: ScoringOptions,
    n_jobs: int | None,
    seconds: float | None,
    most: float = math.inf,
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
    if needed.n_sets > most:
        return None, f"{needed.n_sets:,} of them are too many to be scored beforehand"
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
    info = replace(scores.info, status="budget", complete_size=None, bound=scores.trivial_bound())
    return ScoreTable.chosen(scores, kept, info)


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
