"""Scoring as part of a job with a time limit."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn.data.convert import as_table
from twbn.errors import MemoryLimitError
from twbn.scores.compute import compute_scores, n_workers
from twbn.scores.estimate import Estimate, estimate
from twbn.scores.lazy import LazyScores
from twbn.scores.rules import make_rules
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twbn.data.table import Table
    from twbn.scores.protocol import HasParents

__all__ = ["ScoresInTime", "as_rows", "best_of", "scores_in_time"]

#: Share of the time limit that scoring may take.
SHARE = 0.4
#: Share of that, after which it is asked whether all sets will be done in time.
JUDGED_AFTER = 0.1
#: More parent sets than this are never scored in a second, by one worker.
MAX_RATE = 1e8
#: Parent sets for each second that is left to the search, which has to sort them in first.
SETS_A_SECOND = 500_000
#: Memory for all sets where there is no time limit: the same on every machine, as the answer is.
MAX_GIB = 4.0
#: Parent sets of two and more that are looked at for each variable, when not all are: the most that
#: fit into memory, and if there is a limit, into the time.
BUDGETS = (5000, 1000, 200)


def as_rows(data: Any) -> Table:
    """Return data as a table, once, for those that ask for scores of it more than once."""
    return as_table(data)


class ScoresInTime(NamedTuple):
    """Scores, and what a reader of the result should know about them."""

    scores: ScoreTable
    notes: tuple[str, ...]


class _TooSlowError(Exception):
    """All parent sets would take longer than there is time."""


class _TooLargeError(Exception):
    """All parent sets would take more memory than is used without asking."""


def scores_in_time(
    data: Any,
    *,
    time_limit: float | None,
    n_jobs: int | None = None,
    keep: HasParents | None = None,
    **options: Any,
) -> ScoresInTime:
    """Return the scores of all parent sets, or of the most promising ones if all are too many.

    All are too many when they would not fit into memory, or would take more than a share of the
    time limit, as extrapolated from the first of them. `keep` is a network whose families are to be
    among them. The options are those of `compute_scores`.
    """
    begun = time.perf_counter()
    share = None if time_limit is None else SHARE * time_limit
    table = as_table(data)

    def judge(done: int, total: int) -> None:
        seconds = time.perf_counter() - begun
        if share is None or seconds < JUDGED_AFTER * share or done >= total:
            return
        if seconds * total > share * max(done, 1):
            raise _TooSlowError

    try:
        if callable(options.get("score")):  # has no budget: all sets up to some size it is
            scores = compute_scores(table, time_limit=share, **options)
        elif share is None and _estimate(table, options).n_bytes > MAX_GIB * 2**30:
            raise _TooLargeError
        elif (
            share is not None
            and _estimate(table, options).n_sets > MAX_RATE * n_workers(n_jobs) * share
        ):
            raise _TooSlowError
        else:
            scores = compute_scores(
                table, n_jobs=n_jobs, time_limit=share, on_progress=judge, **options
            )
        reason = "" if scores.info.status != "time_limit" else "there was no time for more"
    except _TooSlowError:
        reason = f"to score all would take more than {SHARE:.0%} of the time limit"
    except _TooLargeError:
        reason = f"all would take more than {MAX_GIB:g} GiB"
    except MemoryLimitError:
        if share is None:
            raise
        reason = "all would not fit into memory"
    if reason and not callable(options.get("score")):
        left = None if share is None else max(share - (time.perf_counter() - begun), 0.1 * share)
        scores = _promising(table, n_jobs, left, options)
        reason = f"the most promising ones of each variable, as {reason}"
    if time_limit is not None:
        left = max(time_limit - (time.perf_counter() - begun), 0.1 * time_limit)
        most = int(SETS_A_SECOND * left)
        if scores.n_sets > most:
            scores = best_of(scores, most // scores.n_variables)
            kept = "the best of each variable, as there is no time to search among more"
            reason = f"{reason}; of these {kept}" if reason else kept
    if keep is not None:
        scores = _including(scores, table, keep, options)
    return ScoresInTime(scores, (f"parent sets: {reason}",) if reason else ())


def _promising(
    table: Table, n_jobs: int | None, time_limit: float | None, options: Mapping[str, Any]
) -> ScoreTable:
    if time_limit is None:
        return compute_scores(table, n_jobs=n_jobs, budget=BUDGETS[1], **options)
    for budget in BUDGETS[:-1]:
        try:
            return compute_scores(
                table, n_jobs=n_jobs, time_limit=time_limit, budget=budget, **options
            )
        except MemoryLimitError:
            continue
    return compute_scores(
        table, n_jobs=n_jobs, time_limit=time_limit, budget=BUDGETS[-1], **options
    )


def best_of(scores: ScoreTable, most: int) -> ScoreTable:
    """Return the best `most` sets of each variable, its smallest sets and those one larger."""
    sizes = np.diff(scores.set_offsets)
    counts = np.diff(scores.variable_offsets)
    first = scores.variable_offsets[:-1]
    rank = np.arange(scores.n_sets) - np.repeat(first, counts)
    smallest = np.minimum.reduceat(sizes, first)  # rules may ask for parents
    kept = (rank < most) | (sizes <= np.repeat(smallest, counts) + 1)
    owner = np.repeat(np.arange(scores.n_variables), counts)[kept]
    return ScoreTable(
        scores.names,
        np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=scores.n_variables))]),
        scores.scores[kept],
        np.concatenate([[0], np.cumsum(sizes[kept])]),
        scores.parents[np.repeat(kept, sizes)],
        replace(scores.info, status="budget", complete_size=None),
    )


def _estimate(table: Table, options: Mapping[str, Any]) -> Estimate:
    names = ("max_parents", "required", "forbidden", "tiers", "roots", "leaves")
    rules = make_rules(table.names, **{name: options[name] for name in names if name in options})
    return estimate(table.n_variables, int(rules.max_parents.max()))


def _including(
    scores: ScoreTable, table: Table, network: HasParents, options: dict[str, Any]
) -> ScoreTable:
    """Return the scores with the families of a network that are not among them."""
    if len(network.parents) != scores.n_variables:
        return scores
    lazy = LazyScores(table, **options)
    missing = {
        v: tuple(parents)
        for v, parents in enumerate(network.parents)
        if scores.local(v, parents) == -math.inf and lazy.local(v, parents) > -math.inf
    }
    if not missing:
        return scores
    sets = [{members: score for score, members in scores.sets(v)} for v in range(len(scores.names))]
    for v, parents in missing.items():
        sets[v][parents] = lazy.local(v, parents)
    return ScoreTable.from_sets(scores.names, sets, scores.info)
