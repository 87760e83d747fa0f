"""The scale of temperatures, from the scores themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from twbn.scores.lazy import LazyScores
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores

__all__ = ["temperature_scale"]

#: Number of variables whose gain is examined if scores are computed on demand.
MAX_SCALE_VARIABLES = 50
#: The same where the best single parents are known.
MAX_SCALE_LISTED = 500


def temperature_scale(scores: LocalScores) -> float:
    """Return what a variable gains from its best parents, on average over the variables."""
    n = scores.n_variables
    singles = scores.single_parents if isinstance(scores, LazyScores) else None
    if isinstance(scores, ScoreTable):
        best = scores.best()
        empty = np.array([scores.local(v, ()) for v in range(n)])
    elif singles is not None:
        offsets, parents = singles
        listed = np.flatnonzero(np.diff(offsets))
        places = np.linspace(0, len(listed) - 1, min(len(listed), MAX_SCALE_LISTED))
        some = listed[places.astype(int)].tolist()
        best = np.array([scores.local(v, (int(parents[offsets[v]]),)) for v in some])
        empty = np.array([scores.local(v, ()) for v in some])
    else:  # the best single parent, for some of the variables
        some = np.linspace(0, n - 1, min(n, MAX_SCALE_VARIABLES)).astype(int).tolist()
        best = np.array([max(scores.local(v, (u,)) for u in range(n) if u != v) for v in some])
        empty = np.array([scores.local(v, ()) for v in some])
    known = np.isfinite(best) & np.isfinite(empty)  # rules may exclude either
    gains = best[known] - empty[known]
    return float(gains.clip(min=0.0).mean()) if len(gains) else 0.0
