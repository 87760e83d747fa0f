"""Discretisation: numbers cut into intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from twbn.checks import checked_whole
from twbn.data.coding import Bins
from twbn.errors import Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CUTS", "Discretize", "median_cut"]

#: How a numeric column may be cut.
Cut: TypeAlias = Literal["median", "quantile", "uniform"]
CUTS: tuple[Cut, ...] = get_args(Cut)


@dataclass(frozen=True)
class Discretize:
    """The rule that turns numeric columns into states.

    Parameters
    ----------
    method
        ``"median"`` (two states, the paper's rule), ``"quantile"`` or ``"uniform"``.
    bins
        Number of intervals for ``"quantile"`` and ``"uniform"``.
    at_least
        Code a value on an edge into the upper interval (``>=``) instead of the lower one (``>``).
    max_categories
        Numeric columns with at most this many distinct values stay as they are.
    cut_points
        Edges for single columns, by name; these columns are always cut.
    """

    method: Cut = "median"
    bins: int = 4
    at_least: bool = False
    max_categories: int = 10
    cut_points: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.method not in CUTS:
            problem = f" must be one of {list(CUTS)}, got {self.method!r}"
            raise OptionError(Option("discretize"), problem)
        checked_whole("bins", self.bins, least=2)
        checked_whole("max_categories", self.max_categories, least=0)

    def fit(self, numbers: NDArray[np.float64]) -> Bins:
        """Return the cut points of a column, given its finite values (at least two distinct)."""
        if self.method == "median":
            return Bins((median_cut(numbers, at_least=self.at_least),), self.at_least)
        low, high = float(numbers.min()), float(numbers.max())
        inner = np.arange(1, self.bins) / self.bins
        edges = (
            np.quantile(numbers, inner) if self.method == "quantile" else low + inner * (high - low)
        )
        # Ties among quantiles merge intervals; an edge that cuts nothing off is dropped.
        keep = (edges > low) if self.at_least else (edges < high)
        distinct = tuple(float(edge) for edge in np.unique(edges[keep]))
        return Bins(distinct or ((low + high) / 2,), self.at_least)


def median_cut(numbers: NDArray[np.float64], *, at_least: bool = False) -> float:
    """Return the median, or the mid-range where a cut at the median would leave one state.

    Examples
    --------
    >>> median_cut(np.array([1.0, 2.0, 7.0]))
    2.0
    >>> median_cut(np.array([0.0, 1.0, 1.0]))
    0.5
    """
    median = float(np.median(numbers))
    upper = numbers >= median if at_least else numbers > median
    if upper.all() or not upper.any():
        return (float(numbers.min()) + float(numbers.max())) / 2
    return median
