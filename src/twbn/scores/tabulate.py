"""Conversion of scores computed on demand into a score table."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

from twbn.errors import MemoryLimitError
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores

__all__ = ["tabulated"]

MAX_SETS = 5_000_000


def tabulated(scores: LocalScores) -> ScoreTable:
    """Return `scores` if it is a table, else a table of the scores of all candidate sets."""
    if isinstance(scores, ScoreTable):
        return scores
    n, size = scores.n_variables, scores.max_parents
    n_sets = n * sum(math.comb(n - 1, s) for s in range(size + 1))
    if n_sets > MAX_SETS:
        msg = f"{n_sets:,} parent sets are too many to compute one by one; use compute_scores"
        raise MemoryLimitError(msg)
    sets: list[dict[tuple[int, ...], float]] = []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        families = itertools.chain.from_iterable(
            itertools.combinations(others, s) for s in range(size + 1)
        )
        values = {family: scores.local(child, family) for family in families}
        sets.append({f: value for f, value in values.items() if value > -math.inf})
    return ScoreTable.from_sets(scores.names, sets, replace(scores.info, status="complete"))
