"""The result of a bound computation: its value, its history and the cuts behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from twbn.search.bound.multipliers import Multipliers

__all__ = ["Bound", "BoundPoint", "BoundStatus"]

#: How a bound may end. `complete`: there is nothing left to add.
BoundStatus = Literal["complete", "time_limit", "interrupted", "good_enough", "solver_died"]


@dataclass(frozen=True)
class BoundPoint:
    """The bound at one time."""

    seconds: float
    bound: float


@dataclass(frozen=True)
class Bound:
    """An upper bound on the score of every structure within the treewidth limit."""

    value: float
    treewidth: int
    status: BoundStatus
    seconds: float
    n_rounds: int
    n_rows: int
    trace: tuple[BoundPoint, ...]
    multipliers: Multipliers  # of the last relaxation; rows not listed were not tight
    notes: tuple[str, ...] = ()

    def gap(self, score: float) -> float:
        """Return how far above a score the bound is, in nats."""
        return max(self.value - score, 0.0)
