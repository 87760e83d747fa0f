"""The exact portfolio: proofs by whatever fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from twbn.errors import MemoryLimitError
from twbn.interrupts import keeps_best
from twbn.search.anneal import anneal
from twbn.search.companion import beside_bound
from twbn.search.dynamic import dp
from twbn.search.exact_milp import milp
from twbn.search.options import DEFAULT_TIME_LIMIT

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.options import Progress, Start
    from twbn.search.result import SearchResult

__all__ = ["exact"]

#: Variables up to which the integer program is tried: beyond, its relaxation says as much.
MAX_MILP_VARIABLES = 32


@keeps_best
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
    integer program with cuts where it does not, or with the time that is left when memory runs
    out; and for many variables annealing beside the bound of the relaxation, which ends with a gap.
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

    def anneal_now() -> SearchResult:
        return anneal(
            scores, treewidth=treewidth, time_limit=left, max_iterations=max_iterations, seed=seed,
            n_jobs=n_jobs, start=start, on_progress=on_progress,
        )  # fmt: skip

    if scores.n_variables <= MAX_MILP_VARIABLES:
        result = milp(
            scores, treewidth=treewidth, time_limit=left, max_iterations=max_iterations, seed=seed,
            n_jobs=n_jobs, start=start, on_progress=on_progress,
        )  # fmt: skip
    elif max_iterations is None:
        left = DEFAULT_TIME_LIMIT if left is None else left
        result = beside_bound(anneal_now, scores, treewidth=treewidth, time_limit=left, seed=seed)
    else:  # a bound that stops by the clock has no place in an answer that must not depend on it
        result = anneal_now()
    return replace(
        result,
        scores=scores,
        method="exact",
        bound=max(min(result.bound, bound), result.score),
        seconds=begun + result.seconds,
    )
