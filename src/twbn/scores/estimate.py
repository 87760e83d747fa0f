"""Estimates of the work and memory that scoring needs, and refusal of what does not fit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from twbn.errors import MemoryLimitError, Part, Setting

__all__ = ["Estimate", "estimate", "refuse_large_budget", "refuse_too_large"]

#: Bytes that one set takes while it is explored, and in the result.
BYTES_EXPLORED, BYTES_KEPT = 250, 60


@dataclass(frozen=True)
class Estimate:
    """What scoring all parent sets needs: the number of sets, and bytes of working memory."""

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


def refuse_too_large(
    n_variables: int, max_parents: int, *, prune: bool, n_terms: int, n_bytes: int
) -> Estimate:
    """Return what scoring all sets needs, or raise MemoryLimitError that says what would fit."""

    def needed(size: int) -> Estimate:
        return estimate(n_variables, size, prune=prune, n_terms=n_terms)

    whole = needed(max_parents)
    if whole.n_bytes <= n_bytes:
        return whole
    fitting = [size for size in range(max_parents) if needed(size).n_bytes <= n_bytes]
    advice: list[Part] = [Setting("max_parents", fitting[-1]), " would fit, or "] if fitting else []
    raise MemoryLimitError(
        f"all sets of at most {max_parents} of {n_variables} variables: {whole}, more than the "
        f"memory limit of {n_bytes / 2**30:.2f} GiB; ",
        *advice,
        "give a budget of sets per variable (",
        Setting("budget", 2000),
        ")",
    )


def refuse_large_budget(n_variables: int, budget: int, n_jobs: int, n_bytes: int) -> None:
    """Raise MemoryLimitError if the explored sets would not fit, were all of them kept."""

    def needed(n_sets: int) -> int:
        each = n_variables + n_sets  # the single parents, and the budget
        return BYTES_EXPLORED * n_jobs * each + BYTES_KEPT * n_variables * each

    if needed(budget) <= n_bytes:
        return
    fitting = (n_bytes - needed(0)) // (needed(1) - needed(0))
    advice: list[Part] = ["no budget would fit"]
    if fitting > 0:
        advice = [Setting("budget", fitting), " would fit"]
    raise MemoryLimitError(
        f"a budget of {budget:,} sets for each of {n_variables} variables may need "
        f"{needed(budget) / 2**30:.2f} GiB, more than the memory limit of "
        f"{n_bytes / 2**30:.2f} GiB; ",
        *advice,
    )
