"""How a column becomes a few states: categories as they are, numbers cut into intervals."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from twbn.checks import checked_whole
from twbn.errors import DataError, OptionError, UnknownStateError
from twbn.numerals import as_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Bins", "Categories", "Coding", "Discretize", "State", "median_cut"]

State: TypeAlias = str | int | float | bool
Method: TypeAlias = Literal["median", "quantile", "uniform"]
METHODS: tuple[Method, ...] = ("median", "quantile", "uniform")


@dataclass(frozen=True)
class Categories:
    """A coding that numbers the distinct values of a column.

    Examples
    --------
    >>> Categories(("no", "yes")).encode(["yes", "no", None], "smoker")
    array([ 1,  0, -1], dtype=int32)
    """

    states: tuple[State, ...]

    def encode(self, values: Sequence[State | None], column: str) -> NDArray[np.int32]:
        """Return the codes of `values`; None is missing (-1)."""
        code_of: dict[State | None, int] = {state: code for code, state in enumerate(self.states)}
        code_of[None] = -1
        # Numbers read from text arrive as 1.0 where the table may hold 1, or as "1".
        text_of = {str(state): code for code, state in enumerate(self.states)}
        codes = np.empty(len(values), dtype=np.int32)
        for position, value in enumerate(values):
            code = code_of.get(value)
            if code is None:
                code = text_of.get(str(value))
            if code is None and isinstance(value, str):
                code = code_of.get(as_number(value))  # 05 for 5
                code = None if code == -1 else code
            if code is None:
                msg = (
                    f"unknown state {value!r} of variable {column!r}; "
                    f"expected one of {_shortened(self.states)}"
                )
                raise UnknownStateError(msg)
            codes[position] = code
        return codes


@dataclass(frozen=True)
class Bins:
    """A coding that cuts numbers at `edges`.

    The code of a value is the number of edges it exceeds (`at_least=False`, the paper's rule
    ``value > edge``) or reaches (`at_least=True`, ``value >= edge``).

    Examples
    --------
    >>> Bins((2.0,)).encode([1, 2, 3], "x")
    array([0, 0, 1], dtype=int32)
    >>> Bins((2.0,), at_least=True).encode([1, 2, 3], "x")
    array([0, 1, 1], dtype=int32)
    >>> Bins((2.0, 5.5)).states
    ('<= 2', '(2, 5.5]', '> 5.5')
    """

    edges: tuple[float, ...]
    at_least: bool = False

    def __post_init__(self) -> None:
        try:
            edges = np.asarray(self.edges, dtype=float)
        except (TypeError, ValueError):
            msg = f"cut points must be numbers, got {list(self.edges)}"
            raise OptionError(msg) from None
        if not len(edges) or not np.all(np.isfinite(edges)) or np.any(np.diff(edges) <= 0):
            msg = f"cut points must be finite and increasing, got {list(self.edges)}"
            raise OptionError(msg)

    @property
    def states(self) -> tuple[str, ...]:
        """The intervals, as labels."""
        texts = [f"{edge:.6g}" for edge in self.edges]
        if len(set(texts)) < len(texts):
            texts = [repr(float(edge)) for edge in self.edges]
        if self.at_least:
            inner = [f"[{low}, {high})" for low, high in itertools.pairwise(texts)]
            return (f"< {texts[0]}", *inner, f">= {texts[-1]}")
        inner = [f"({low}, {high}]" for low, high in itertools.pairwise(texts)]
        return (f"<= {texts[0]}", *inner, f"> {texts[-1]}")

    def encode(self, values: Sequence[State | None], column: str) -> NDArray[np.int32]:
        """Return the codes of `values`; None is missing (-1)."""
        labels = {label: code for code, label in enumerate(self.states)}
        if any(isinstance(value, str) and value in labels for value in values):
            rest = [None if value in labels else value for value in values]
            codes = self.encode(rest, column)
            for i, value in enumerate(values):
                if value in labels:
                    codes[i] = labels[value]
            return codes
        plain = [as_number(v) if isinstance(v, str) else v for v in values]
        for value, number in zip(values, plain, strict=True):
            if number is None and value is not None:
                msg = f"variable {column!r} holds numbers, got {value!r}"
                raise UnknownStateError(msg)
        try:
            numbers = np.array([np.nan if v is None else float(v) for v in plain], dtype=float)
        except (TypeError, ValueError, OverflowError):
            msg = f"variable {column!r} holds numbers, got {list(values)}"
            raise UnknownStateError(msg) from None
        if np.any(np.isinf(numbers)):
            bad = values[int(np.flatnonzero(np.isinf(numbers))[0])]
            msg = f"variable {column!r} takes finite numbers, got {bad!r}"
            raise DataError(msg)
        side: Literal["left", "right"] = "right" if self.at_least else "left"
        codes = np.searchsorted(np.asarray(self.edges), numbers, side=side).astype(np.int32)
        codes[np.isnan(numbers)] = -1
        return codes


Coding: TypeAlias = Categories | Bins


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
        Code a value on an edge upwards (``>=``) instead of downwards (``>``).
    max_categories
        Numeric columns with at most this many distinct values stay as they are.
    cut_points
        Edges for single columns, by name; these columns are always cut.
    """

    method: Method = "median"
    bins: int = 4
    at_least: bool = False
    max_categories: int = 10
    cut_points: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            msg = f"discretize must be one of {list(METHODS)}, got {self.method!r}"
            raise OptionError(msg)
        checked_whole("bins", self.bins, least=2)
        checked_whole("max_categories", self.max_categories, least=0)

    def fit(self, numbers: NDArray[np.float64]) -> Bins:
        """Return the cut of a column from its finite values, of which at least two differ."""
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


def _shortened(states: Sequence[State], limit: int = 12) -> str:
    if len(states) <= limit:
        return str(list(states))
    return f"{list(states[:limit])} and {len(states) - limit} more"
