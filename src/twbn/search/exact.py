"""The exact portfolio: proofs by whatever fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from twbn.errors import MemoryLimitError
from twbn.search.dynamic import dp
from twbn.search.exact_milp import milp_paper

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.options import Progress, Start
    from twbn.search.result import SearchResult

__all__ = ["exact"]


def exact(
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    on_progress: Progress | None = None,
) -> SearchResult:
    """Return the best network of bounded treewidth with a proof, or the best by the limit.

    Notes
    -----
    Dynamic programming where it fits, which begins with the best network without a bound; the
    paper's integer program where it does not, or with the time that is left when memory runs out.
    """
    try:
        result = dp(
            scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
            seed=seed, n_jobs=n_jobs, start=start, on_progress=on_progress,
        )  # fmt: skip
        left = None if time_limit is None else time_limit - result.seconds
        if result.status != "memory_limit" or (left is not None and left < 0.1):
            return replace(result, scores=scores, method="exact")
        bound, begun, start = result.bound, result.seconds, result
    except MemoryLimitError:
        bound, begun, left = float("inf"), 0.0, time_limit
    result = milp_paper(
        scores, treewidth=treewidth, time_limit=left, max_iterations=max_iterations, seed=seed,
        n_jobs=n_jobs, start=start, on_progress=on_progress,
    )  # fmt: skip
    return replace(
        result,
        scores=scores,
        method="exact",
        bound=max(min(result.bound, bound), result.score),
        seconds=begun + result.seconds,
    )
