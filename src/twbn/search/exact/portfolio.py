"""The exact portfolio, which picks the exact method that suits the problem."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from twbn.errors import MemoryLimitError
from twbn.search.bound.companion import beside_bound
from twbn.search.exact.bags import dp
from twbn.search.exact.milp import milp
from twbn.search.heuristic.anneal import anneal
from twbn.search.method import register, search_method
from twbn.search.run import DEFAULT_TIME_LIMIT

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.result import SearchResult
    from twbn.search.run import Run

__all__ = ["exact"]

#: Most variables for which the integer program is tried; beyond, its relaxation is as good.
MAX_MILP_VARIABLES = 32
#: Seconds that must be left for a second attempt to be worthwhile.
LEAST_SECONDS = 0.1


@register
@search_method("exact", "the optimum with a proof, by whatever fits")
def exact(scores: LocalScores, run: Run) -> SearchResult:
    """Return an optimal structure within the treewidth limit with a proof, or the best found.

    Notes
    -----
    Uses dynamic programming if it fits into memory, beginning with the best structure without a
    treewidth limit; otherwise, or in the remaining time if memory runs out, the integer program
    with cuts; and, for many variables, annealing alongside the bound of the relaxation, which
    leaves a gap.
    """
    bound, start = math.inf, run.first
    try:
        proved = dp(scores, run.with_changes(time_limit=run.time_limit))
        left = run.deadline.left_or_forever
        if proved.status != "memory_limit" or (not run.unlimited and left < LEAST_SECONDS):
            return proved.but(method=run.method)
        bound, start = proved.bound, run.with_changes(start=proved).first
    except MemoryLimitError:
        pass
    rest = run.with_changes(time_limit=run.time_left_if_limited, start=start)
    if run.n <= MAX_MILP_VARIABLES:
        result = milp(scores, rest)
    elif run.max_iterations is not None:
        # The result must not depend on the clock, so it cannot include a bound that stops by time.
        result = anneal(scores, rest)
    else:
        seconds = DEFAULT_TIME_LIMIT if rest.time_limit is None else rest.time_limit
        result = beside_bound(
            lambda: anneal(scores, rest),
            scores,
            treewidth=run.treewidth,
            time_limit=seconds,
            seed=run.seed,
        )
    return result.but(
        method=run.method,
        bound=max(min(result.bound, bound), result.score),
        seconds=run.seconds,
    )
