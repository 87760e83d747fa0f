"""Annealing in a thread of its own, while a proof is under way."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from twbn.search.heuristic.anneal import anneal

if TYPE_CHECKING:
    from types import TracebackType

    from twbn.scores.score_table import ScoreTable
    from twbn.search.result import SearchResult
    from twbn.search.run import Run

__all__ = ["AnnealingBeside"]

#: Annealing starts when a proof has taken this long, as most proofs are over before.
PATIENCE = 1.0
#: Share of the time for annealing if the proof would otherwise have both of two workers. With more,
#: it goes on to the end.
SHARE_OF_TWO = 0.2


class AnnealingBeside:
    """Takes one worker of a proof for annealing, while the block that it manages lasts.

    It needs a second worker and a time limit; without either it does nothing, so that a search that
    is not limited gives the same structure every time.

    Parameters
    ----------
    run
        The run of the proof.
    start
        The best structure known when the proof begins.
    """

    def __init__(self, scores: ScoreTable, run: Run, start: SearchResult) -> None:
        self.best = start
        self._scores = scores
        self._run = run
        self._begins = run.seconds + PATIENCE
        self._wanted = run.workers > 1 and not run.unlimited
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None

    def __enter__(self) -> AnnealingBeside:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._failure is not None and error is None:
            raise self._failure

    def workers_for_proof(self) -> int:
        """Return how many workers are free for the proof; starts annealing when it is time."""
        if self._wanted and self._thread is None and self._run.seconds >= self._begins:
            self._thread = threading.Thread(target=self._anneal, daemon=True)
            self._thread.start()
        busy = self._thread is not None and self._thread.is_alive()
        return self._run.workers - busy

    def _anneal(self) -> None:
        left = self._run.time_left or 0.0
        share = SHARE_OF_TWO if self._run.workers == 2 else 1.0
        run = self._run.with_changes(
            start=self.best,
            time_limit=max(share * left, 0.001),
            n_jobs=1,
            on_progress=None,
            on_improvement=self._take,
            enough=lambda _score: self._over.is_set(),
        )
        try:
            self._take(anneal(self._scores, run))
        except BaseException as error:  # raised in the thread that waits
            self._failure = error

    def _take(self, result: SearchResult) -> None:
        if result.score > self.best.score:
            self.best = result
