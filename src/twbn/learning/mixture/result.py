"""The result of learning a mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from twbn.learning.mixture.parameters import Smoothing
    from twbn.network.mixture import Mixture

__all__ = ["MixturePoint", "MixtureResult", "Status"]

Status: TypeAlias = Literal["converged", "time_limit", "round_limit", "interrupted"]


class MixturePoint(NamedTuple):
    """What had been reached when a round ended; `held_out` is NaN without held-out rows."""

    seconds: float
    n_components: int
    objective: float
    held_out: float


@dataclass(frozen=True)
class MixtureResult:
    """A learned mixture, and how it was reached.

    Attributes
    ----------
    mixture
        The mixture; every component has the decomposition that proves its treewidth.
    objective
        The lower bound on the log-evidence of the rows that EM raises; see `learn_mixture`.
    held_out
        The mean log-likelihood of the held-out rows; None if there were none.
    trace
        Time, components, objective and held-out likelihood after every round.
    """

    mixture: Mixture
    objective: float
    held_out: float | None
    trace: tuple[MixturePoint, ...]
    status: Status
    smoothing: Smoothing
    seconds: float
    seed: int
