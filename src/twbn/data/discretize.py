"""Discretisation: numbers cut into intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from twbn.checks import checked_whole
from twbn.data.coding import Bins
from twbn.data.distinct import quantiles
from twbn.data.mdlp import mdlp_edges
from twbn.errors import Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["CUTS", "SCORE", "Discretize", "as_discretize", "automatic_bins", "median_cut"]

#: How a numeric column may be cut.
Cut: TypeAlias = Literal["quantile", "uniform", "median", "mdlp"]
CUTS: tuple[Cut, ...] = get_args(Cut)
#: Given to `learn`: each variable's cuts are chosen given its neighbours in the structure.
SCORE = "score"
#: Fewest and most intervals that follow from the number of rows.
LEAST_BINS, MOST_BINS = 2, 8


@dataclass(frozen=True)
class Discretize:
    """The rule that turns numeric columns into states.

    Parameters
    ----------
    method
        ``"quantile"`` (intervals with equally many rows), ``"uniform"`` (equally wide intervals),
        ``"median"`` (two states, the paper's rule), or ``"mdlp"`` (Fayyad and Irani, 1993: cuts
        that tell about the class, so a class must be given).
    bins
        Number of intervals for ``"quantile"`` and ``"uniform"``; None: the fourth root of the
        number of rows, at least 2 and at most 8.
    at_least
        Code a value on an edge into the upper interval (``>=``) instead of the lower one (``>``).
    max_distinct
        Numeric columns with at most this many distinct values stay as they are.
    cut_points
        Edges for single columns, by name; these columns are always cut.
    target
        The class of ``"mdlp"``: the name of a column.
    """

    method: Cut = "quantile"
    bins: int | None = None
    at_least: bool = False
    max_distinct: int = 10
    cut_points: Mapping[str, Sequence[float]] = field(default_factory=dict)
    target: str | None = None

    def __post_init__(self) -> None:
        if self.method not in CUTS:
            problem = f" must be one of {list(CUTS)}, got {self.method!r}"
            raise OptionError(Option("discretize"), problem)
        if self.bins is not None:
            checked_whole("bins", self.bins, least=2)
            if self.method in {"median", "mdlp"}:
                problem = f" has no effect with {self.method!r}, which finds the number of states"
                raise OptionError(Option("bins"), problem)
        checked_whole("max_distinct", self.max_distinct, least=0)

    def fit(
        self,
        numbers: NDArray[Any],
        *,
        weights: NDArray[np.float64] | None = None,
        classes: NDArray[np.int32] | None = None,
    ) -> Bins:
        """Return the cut points of a column, given its finite values (at least two distinct).

        `classes` are needed by ``"mdlp"``: the code of each value's class, -1 where missing.
        """
        if self.method == "median":
            return Bins((median_cut(numbers, at_least=self.at_least),), self.at_least)
        if self.method == "mdlp":
            if classes is None:
                problem = " 'mdlp' needs a class: Discretize('mdlp', target=COLUMN)"
                raise OptionError(Option("discretize"), problem)
            edges = mdlp_edges(numbers, classes, weights)
            if not len(edges):  # nothing about the class: one cut, for what it tells of the others
                return Bins((median_cut(numbers, at_least=False),))
            return Bins(tuple(edges.tolist()))
        low, high = float(numbers.min()), float(numbers.max())
        n_rows = len(numbers) if weights is None else int(weights.sum())
        n_bins = automatic_bins(n_rows) if self.bins is None else self.bins
        inner = np.arange(1, n_bins) / n_bins
        edges = (
            quantiles(numbers, inner, weights)
            if self.method == "quantile"
            else low + inner * (high - low)
        )
        # Ties among quantiles merge intervals; an edge that cuts nothing off is dropped.
        keep = (edges > low) if self.at_least else (edges < high)
        distinct = tuple(float(edge) for edge in np.unique(edges[keep]))
        return Bins(distinct or ((low + high) / 2,), self.at_least)


def as_discretize(rule: str | Discretize, bins: int | None = None) -> Discretize:
    """Return the rule of an option that may be a name."""
    if not isinstance(rule, Discretize):
        return Discretize(rule, bins=bins)  # type: ignore[arg-type]
    if bins is not None:
        problem = " goes into the Discretize that is given: Discretize(..., bins=...)"
        raise OptionError(Option("bins"), problem)
    return rule


def automatic_bins(n_rows: int) -> int:
    """Return a number of intervals that follows the number of rows.

    Examples
    --------
    >>> [automatic_bins(n) for n in (20, 150, 569, 2000, 30_000)]
    [2, 3, 4, 6, 8]
    """
    return min(max(int(n_rows**0.25), LEAST_BINS), MOST_BINS)


def median_cut(numbers: NDArray[Any], *, at_least: bool = False) -> float:
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
