"""A bound on every structure's score that holds whichever parent sets were scored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from twbn.scores.kinds import score_name

if TYPE_CHECKING:
    from twbn.data.table import Table
    from twbn.scores.kinds import ScoreOption

__all__ = ["likelihood_bound"]

#: Room for rounding: the bound is attained, for example by a complete structure scored by its
#: log-likelihood.
ROUNDING = 1e-10


def likelihood_bound(table: Table, score: ScoreOption) -> float:
    """Return a bound on the score of any structure over the columns of a table, in O(cells) time.

    Infinity for a function of the user's own, of which nothing is known.

    Notes
    -----
    Whatever its parameters, a structure is a distribution over rows, and no distribution gives the
    data a higher likelihood than their own relative frequencies do: the sum of c ln(c / N) over the
    distinct rows with counts c (Gibbs' inequality). BDeu and K2 are logarithms of means of
    likelihoods over parameters, which the largest one bounds; BIC and AIC subtract at least the
    penalty of the structure without arcs. Rows are told apart by a hash: two rows that it confuses
    only raise the bound.
    """
    if callable(score):
        return math.inf
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**64, table.n_variables, dtype=np.uint64)
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    for v, key in enumerate(keys):
        hashes += table.codes[:, v].astype(np.uint64) * key  # modulo 2**64
    _, row = np.unique(hashes, return_inverse=True)
    counts = np.bincount(row, table.weights)
    counts = counts[counts > 0]
    n_rows = float(counts.sum())
    bound = float(np.sum(counts * np.log(counts / n_rows))) if n_rows > 0 else 0.0
    name = score_name(score)
    if name in {"bic", "aic"}:
        weight = 1.0 if name == "aic" else 0.5 * math.log(n_rows) if n_rows > 0 else -math.inf
        if weight < 0:  # the penalty of fewer rows than one is a reward
            return math.inf
        bound -= weight * float(np.sum(table.n_states - 1))
    return bound + ROUNDING * abs(bound)
