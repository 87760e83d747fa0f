"""A search and a bound side by side: one raises the score, the other lowers what is above it."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from twbn.scores.score_table import ScoreTable
from twbn.search.bound import upper_bound
from twbn.search.result import TOLERANCE, TracePoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from twbn.scores.protocol import LocalScores
    from twbn.search.bound import Bound
    from twbn.search.result import SearchResult

__all__ = ["beside_bound", "with_bound"]


def beside_bound(
    search: Callable[[], SearchResult],
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None,
    seed: int = 0,
) -> SearchResult:
    """Run a search while a bound is computed in a thread; return the result with that bound.

    The bound ends with the search. Its work is done in the core and in a process of its own, so the
    two share the machine, not the interpreter. It needs a table: for lazy scores there is none.
    """
    if not isinstance(scores, ScoreTable):
        return search()
    found: list[Bound] = []
    failures: list[Exception] = []
    stop = threading.Event()

    def compute() -> None:
        try:
            found.append(
                upper_bound(
                    scores, treewidth=treewidth, time_limit=time_limit, seed=seed, stop=stop
                )
            )
        except Exception as error:
            failures.append(error)  # told in the notes: the search stands without a bound

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    try:
        result = search()
    finally:
        stop.set()
        thread.join()
    if failures:
        note = f"no bound was computed: {failures[0]}"
        return replace(result, scores=scores, notes=(*result.notes, note))
    return with_bound(result, scores, found[0])


def with_bound(result: SearchResult, scores: LocalScores, bound: Bound) -> SearchResult:
    """Return a result with a bound, if that is better than its own, in its trace too."""
    notes = (*result.notes, *(f"bound: {note}" for note in bound.notes))
    if bound.value >= result.bound:
        return replace(result, scores=scores, notes=notes) if bound.notes else result
    points = sorted(
        [(p.seconds, p.iteration, p.score, result.bound) for p in result.trace]
        + [(p.seconds, 0, -float("inf"), p.bound) for p in bound.trace]
    )
    trace: list[TracePoint] = []
    iteration, score, best = 0, -float("inf"), result.bound
    for seconds, i, s, b in points:
        iteration, score, best = max(iteration, i), max(score, s), min(best, b)
        if score > -float("inf"):
            trace.append(TracePoint(seconds, iteration, score, max(best, score)))
    proved = bound.value <= result.score + TOLERANCE * abs(result.score)
    return replace(
        result,
        scores=scores,
        bound=result.score if proved else bound.value,
        status="optimal" if proved else result.status,
        trace=tuple(trace),
        notes=notes,
    )
