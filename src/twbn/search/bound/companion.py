"""A search and a bound side by side: one raises the score, the other lowers the bound."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING

from twbn.scores.score_table import ScoreTable
from twbn.search.bound.upper_bound import upper_bound
from twbn.search.result import TOLERANCE, TracePoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from twbn.scores.protocol import LocalScores
    from twbn.search.bound.result import Bound
    from twbn.search.result import SearchResult

__all__ = ["beside_bound", "with_bound"]


def beside_bound(
    search: Callable[[Callable[[float], bool]], SearchResult],
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None,
    seed: int = 0,
) -> SearchResult:
    """Run a search while a bound is computed in a thread; return the result with that bound.

    The bound computation ends with the search, which is given a function that says of a score
    whether it reaches the bound. It runs in the core and in a separate process, so the two share
    the machine but do not compete for the interpreter. It needs a score table; with lazy scores, no
    bound is computed.
    """
    best = math.inf

    def enough(score: float) -> bool:
        return score >= best - TOLERANCE * abs(best)

    def on_bound(_seconds: float, bound: float) -> None:
        nonlocal best
        best = bound

    if not isinstance(scores, ScoreTable):
        return search(enough)
    found: list[Bound] = []
    failures: list[Exception] = []
    stop = threading.Event()

    def compute() -> None:
        try:
            found.append(
                upper_bound(
                    scores,
                    treewidth=treewidth,
                    time_limit=time_limit,
                    seed=seed,
                    on_bound=on_bound,
                    stop=stop,
                )
            )
        except Exception as error:
            failures.append(error)  # reported in the notes: the result is valid without a bound

    thread = threading.Thread(target=compute, daemon=True)
    thread.start()
    try:
        result = search(enough)
    finally:
        stop.set()
        thread.join()
    if failures:
        return result.noted(f"no bound was computed: {failures[0]}")
    return with_bound(result, found[0])


def with_bound(result: SearchResult, bound: Bound) -> SearchResult:
    """Return a result with the given bound, also in its trace, if it is better than its own."""
    notes = (*result.notes, *(f"bound: {note}" for note in bound.notes))
    if bound.value >= result.bound:
        return result.but(notes=notes)
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
    return result.but(
        bound=result.score if proved else bound.value,
        status="optimal" if proved else result.status,
        trace=tuple(trace),
        notes=notes,
    )
