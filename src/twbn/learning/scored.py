"""Scores for a search, polishing with more of them, and what is to be said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from twbn.learning.certificate import certified
from twbn.learning.scoring import ScoringOptions, scores_in_time
from twbn.scores.lazy import LazyScores
from twbn.scores.protocol import LocalScores
from twbn.search.heuristic.polish import polish as polish_result
from twbn.search.heuristic.polish import polish_within
from twbn.search.relations import RELATIONS
from twbn.search.start import dag_to_start_from

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from twbn.data.table import Table
    from twbn.deadline import Deadline
    from twbn.search.limit import WidthLimit
    from twbn.search.method import Method
    from twbn.search.result import SearchResult
    from twbn.search.start import Start

__all__ = ["Scored", "left", "polished", "scored_for", "told"]

#: Minimum seconds for a step, however late it starts.
LEAST_SECONDS = 0.01


class Scored(NamedTuple):
    """Scores, the rows that they were computed from, and what to say about them."""

    scores: LocalScores
    table: Table | None = None
    notes: tuple[str, ...] = ()
    candidates: Mapping[str, Any] | None = None


def scored_for(
    data: LocalScores | Table,
    rules: ScoringOptions,
    widest: WidthLimit,
    search: Method,
    options: Mapping[str, Any],
    clock: Deadline,
    start: Start | None,
) -> Scored:
    """Return the data if they are scores; otherwise score the rows, as the time allows."""
    if isinstance(data, LocalScores):
        rules.refuse_for_scores()
        return Scored(data)
    scores, notes, rules = scores_in_time(
        data,
        rules,
        largest=widest.effective(data.n_variables).treewidth,
        on_demand=search.on_demand and widest.treewidth > 1 and not options.get("certify"),
        max_iterations=options["max_iterations"],
        n_jobs=options["n_jobs"],
        time_limit=left(clock),
        keep=None if start is None else dag_to_start_from(start),
        related=any(options.get(name) for name in RELATIONS),
    )
    if scores.info.status == "interrupted":
        raise KeyboardInterrupt
    return Scored(scores, data, notes, rules.candidates())


def told(
    result: SearchResult,
    scored: Scored,
    data_options: Mapping[str, Any] | None,
    certificate: str | os.PathLike[str] | None,
) -> SearchResult:
    """Return a result with what is to be said of its scores and data; write its certificate."""
    notes = (*scored.notes, *result.notes)
    result = result.but(notes=notes, data_options=dict(data_options or {}))
    return result if certificate is None else certified(result, scored.candidates, certificate)


def polished(
    result: SearchResult, scored: Scored, rules: ScoringOptions, time_limit: float | None
) -> SearchResult:
    """Polish a result; if some parent sets were not scored, consider those as well."""
    if scored.table is not None and scored.scores.info.status != "complete":
        # Sets larger than the treewidth are in no structure within the limit.
        every = LazyScores(scored.table, **rules.within(result.treewidth_limit)._asdict())
        return polish_result(result, every, time_limit=time_limit)
    return polish_within(result, scored.scores, time_limit=time_limit)


def left(clock: Deadline, share: float = 1.0) -> float | None:
    """Return the remaining seconds, or a share of them; always more than zero."""
    return None if clock.left is None else share * max(clock.left, LEAST_SECONDS)
