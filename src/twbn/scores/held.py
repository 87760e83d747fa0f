"""Scores that the workers of a cluster hold: sent once, then known by their digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.cluster import Cluster
    from twbn.scores.lazy import LazyScores
    from twbn.scores.score_table import ScoreTable

__all__ = ["HeldScores"]

#: On a worker: scores by their digest, with what was computed from them, and how many are kept.
_held: dict[str, Any] = {}
MAX_HELD = 2


class _Lacking(NamedTuple):
    """The answer of a worker that does not hold the scores."""

    digest: str


class HeldScores:
    """Scores for jobs on a cluster.

    The first jobs bring the scores along. Later ones name them; a worker that does not hold them,
    as it is new or has forgotten them, says so and is sent the job again with them.
    """

    def __init__(self, cluster: Cluster, scores: ScoreTable | LazyScores) -> None:
        self._cluster = cluster
        self._scores = scores
        self._digest = scores.digest
        self._sent = False

    @property
    def n_workers(self) -> int:
        """Number of workers of the cluster."""
        return self._cluster.n_workers

    def map(self, function: Callable[..., Any], jobs: Sequence[Sequence[Any]]) -> list[Any]:
        """Return ``function(scores, *job)`` for every job, in the order of the jobs."""
        given = None if self._sent else self._scores
        found = self._run(function, given, jobs)
        self._sent = True
        lacking = [i for i, answer in enumerate(found) if isinstance(answer, _Lacking)]
        again = self._run(function, self._scores, [jobs[i] for i in lacking]) if lacking else []
        for i, answer in zip(lacking, again, strict=True):
            found[i] = answer
        return found

    def _run(
        self,
        function: Callable[..., Any],
        scores: ScoreTable | LazyScores | None,
        jobs: Sequence[Sequence[Any]],
    ) -> list[Any]:
        named = [(function, self._digest, scores, *job) for job in jobs]
        return self._cluster.map(_with_scores, named)


def _with_scores(
    function: Callable[..., Any], digest: str, scores: ScoreTable | LazyScores | None, *job: Any
) -> Any:
    """Run a job on a worker, with the scores that it holds or that come with the job."""
    if digest not in _held:
        if scores is None:
            return _Lacking(digest)
        while len(_held) >= MAX_HELD:
            _held.pop(next(iter(_held)))
        _held[digest] = scores
    return function(_held[digest], *job)
