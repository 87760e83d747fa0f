"""The method for those who do not want to choose one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from twbn.errors import MemoryLimitError
from twbn.interrupts import keeps_best
from twbn.scores.score_table import ScoreTable
from twbn.search.anneal import anneal
from twbn.search.companion import beside_bound
from twbn.search.dynamic import dp
from twbn.search.options import SearchOptions
from twbn.search.tree import refuse_too_large, tree

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.options import Improvement, Progress, Start
    from twbn.search.result import SearchResult

__all__ = ["auto"]

#: Variables up to which a proof by dynamic programming is tried first, and its share of the time.
MAX_PROOF_VARIABLES, PROOF_SHARE = 15, 0.6


def _tree_fits(n: int) -> bool:
    try:
        refuse_too_large(n)
    except MemoryLimitError:
        return False
    return True


@keeps_best
def auto(
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    on_progress: Progress | None = None,
    on_improvement: Improvement | None = None,
) -> SearchResult:
    """Return a network by the method that suits the problem; the notes say which, and why.

    Notes
    -----
    Treewidth one: the optimal tree. Few variables: a proof by dynamic programming, and annealing
    with the time that is left when it does not come. Otherwise annealing, beside the bound of the
    relaxation when the budget is in seconds and the scores are a table.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    given = options.start

    def search(seconds: float | None, first: Start | None) -> SearchResult:
        return anneal(
            scores, treewidth=treewidth, time_limit=seconds, max_iterations=max_iterations,
            seed=seed, n_jobs=n_jobs, start=first, on_progress=on_progress,
            on_improvement=on_improvement,
        )  # fmt: skip

    n, left = options.n, options.time_left
    known = float("inf")
    if options.k <= 1 and given is None and _tree_fits(n):
        result = tree(
            scores, treewidth=treewidth, time_limit=left, seed=seed, on_progress=on_progress
        )
        reason = f"{'the optimal' if result.status == 'optimal' else 'a'} tree, as the bound is one"
    elif max_iterations is not None:
        reason = "annealing, as the budget is in iterations"
        result = search(time_limit, given)
    elif not isinstance(scores, ScoreTable) or left is None:
        reason = "annealing without a bound, as scores are computed on demand"
        result = search(left, given)
    elif scores.info.status != "complete":
        reason = "annealing without a bound, as not all parent sets were scored"
        result = search(left, given)
    else:
        first: Start | None = given
        if n <= MAX_PROOF_VARIABLES:
            reason = f"dynamic programming, as {n} variables are few"
            result = dp(
                scores, treewidth=treewidth, time_limit=PROOF_SHARE * left, seed=seed,
                n_jobs=n_jobs, start=given, on_progress=on_progress,
            )  # fmt: skip
            first, known = result, result.bound
        if n > MAX_PROOF_VARIABLES or result.status in {"time_limit", "memory_limit"}:
            why = "too many for" if n > MAX_PROOF_VARIABLES else "too hard for"
            reason = f"annealing beside a bound, as {n} variables are {why} a quick proof"
            left = options.time_left or 0.001
            result = beside_bound(
                lambda: search(left, first), scores, treewidth=treewidth, time_limit=left, seed=seed
            )
    return replace(
        result,
        scores=scores,
        method="auto",
        bound=max(min(result.bound, known), result.score),
        seconds=options.seconds,
        notes=(*result.notes, f"auto: {reason}"),
    )
