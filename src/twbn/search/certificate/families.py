"""Local scores by their definitions, in NumPy alone, for the checker of certificates."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.search.certificate.checker import Families

__all__ = ["families_of_rows", "local_score"]


def families_of_rows(
    codes: NDArray[np.int32],
    n_states: Sequence[int],
    weights: NDArray[np.float64] | None,
    score: str,
    ess: float,
    allowed: Sequence[Mapping[str, Any]],
) -> Families:
    """Return all candidate families of every child with their scores.

    `allowed` has, for each child, the ``"parents"`` that it may have, those ``"required"``, and the
    ``"most"`` that it may have at once.
    """
    families: Families = []
    for child, rule in enumerate(allowed):
        required = sorted(rule["required"])
        others = sorted(set(rule["parents"]) - set(required))
        masks, scores = [], []
        for size in range(max(int(rule["most"]) - len(required), 0) + 1):
            for more in itertools.combinations(others, size):
                parents = sorted([*required, *more])
                masks.append(sum(1 << p for p in parents))
                scores.append(local_score(codes, n_states, weights, child, parents, score, ess))
        families.append((np.array(masks, dtype=np.int64), np.array(scores)))
    return families


def local_score(
    codes: NDArray[np.int32],
    n_states: Sequence[int],
    weights: NDArray[np.float64] | None,
    child: int,
    parents: Sequence[int],
    score: str,
    ess: float,
) -> float:
    """Return the score of one family, from the counts of its cells."""
    r, q = int(n_states[child]), math.prod(int(n_states[p]) for p in parents)
    cells = np.zeros(len(codes), dtype=np.int64)
    for variable in (*parents, child):
        cells = cells * n_states[variable] + codes[:, variable]
    counts = np.bincount(cells, weights=weights, minlength=q * r).reshape(q, r).astype(float)
    sums = counts.sum(axis=1)
    if score in {"bic", "aic", "loglik"}:
        n = sums.sum()
        likelihood = _sum_x_log_x(counts) - _sum_x_log_x(sums)
        return likelihood - {"bic": 0.5 * math.log(n), "aic": 1.0, "loglik": 0.0}[score] * q * (
            r - 1
        )
    if score not in {"bdeu", "k2"}:
        msg = f"the checker knows no score {score!r}; check against the scores, as a .jkl file"
        raise DataError(msg)
    prior = ess / (q * r) if score == "bdeu" else 1.0
    seen = counts[sums > 0]
    total = len(seen) * math.lgamma(r * prior) - _sum_log_gamma(sums[sums > 0] + r * prior)
    return float(total + _sum_log_gamma(seen.ravel() + prior) - seen.size * math.lgamma(prior))


def _sum_x_log_x(x: NDArray[np.float64]) -> float:
    x = x[x > 0]
    return float(np.sum(x * np.log(x)))


def _sum_log_gamma(x: NDArray[np.float64]) -> float:
    values, times = np.unique(x, return_counts=True)
    return math.fsum(
        t * math.lgamma(v) for v, t in zip(values.tolist(), times.tolist(), strict=True)
    )
