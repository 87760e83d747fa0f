"""What scoring will take, before it begins."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Estimate", "estimate"]


@dataclass(frozen=True)
class Estimate:
    """What scoring all parent sets will take: sets, and bytes of working memory."""

    n_sets: int
    n_bytes: int

    def __str__(self) -> str:
        return f"{self.n_sets:,} parent sets, {self.n_bytes / 2**30:.2f} GiB"


def estimate(
    n_variables: int, max_parents: int, *, prune: bool = True, n_terms: int = 1
) -> Estimate:
    """Return the number of parent sets of all variables and the memory to score them.

    Notes
    -----
    With p parents at most: n · C(n, p − 1) best scores of subsets and C(n, p) terms of joint
    counts, two levels at a time; unpruned, also the result itself.

    Examples
    --------
    >>> estimate(100, 3).n_sets
    16180000
    """
    n, p = n_variables, min(max_parents, n_variables - 1)
    n_sets = n * sum(math.comb(n - 1, size) for size in range(p + 1))
    levels = [
        8 * n * (math.comb(n, size) + math.comb(n, size - 1) if size else 1)
        + 8 * n_terms * (math.comb(n, size + 1) + math.comb(n, size))
        for size in range(p)
    ]
    n_bytes = max(levels, default=0) + 2**20
    if not prune:
        n_bytes += n_sets * (48 + 12 * p)
    return Estimate(n_sets, n_bytes)
