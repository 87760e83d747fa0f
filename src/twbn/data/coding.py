"""Codings: how the values of a column become a few numbered states, and back."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from twbn.errors import DataError, OptionError, UnknownStateError
from twbn.numerals import as_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Bins", "Categories", "Coded", "Coding", "State", "coding_document", "coding_of"]

State: TypeAlias = str | int | float | bool


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
                raise UnknownStateError(msg, column=column)
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
                raise UnknownStateError(msg, column=column)
        try:
            numbers = np.array([np.nan if v is None else float(v) for v in plain], dtype=float)
        except (TypeError, ValueError, OverflowError):
            msg = f"variable {column!r} holds numbers, got {list(values)}"
            raise UnknownStateError(msg, column=column) from None
        if np.any(np.isinf(numbers)):
            bad = values[int(np.flatnonzero(np.isinf(numbers))[0])]
            msg = f"variable {column!r} takes finite numbers, got {bad!r}"
            raise DataError(msg, column=column)
        side: Literal["left", "right"] = "right" if self.at_least else "left"
        codes = np.searchsorted(np.asarray(self.edges), numbers, side=side).astype(np.int32)
        codes[np.isnan(numbers)] = -1
        return codes


Coding: TypeAlias = Categories | Bins


class Coded:
    """What tables and networks have in common: named variables, each with a coding."""

    names: tuple[str, ...]
    codings: tuple[Coding, ...]

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @cached_property
    def states(self) -> tuple[tuple[State, ...], ...]:
        """States of each variable, in the order of their codes."""
        return tuple(tuple(coding.states) for coding in self.codings)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.names)}


def coding_document(coding: Coding) -> dict[str, Any]:
    """Return a coding as plain values.

    Examples
    --------
    >>> coding_document(Bins((2.5,)))
    {'states': ['<= 2.5', '> 2.5'], 'dtype': 'bins', 'bins': [2.5], 'at_least': False}
    """
    if isinstance(coding, Bins):
        return {
            "states": list(coding.states),
            "dtype": "bins",
            "bins": list(coding.edges),
            "at_least": coding.at_least,
        }
    states = [state.item() if isinstance(state, np.generic) else state for state in coding.states]
    kinds = sorted({type(state).__name__ for state in states})
    return {"states": states, "dtype": kinds[0] if len(kinds) == 1 else "mixed"}


def coding_of(document: Mapping[str, Any], name: str) -> Coding:
    """Return the coding that plain values describe, or raise ValueError naming the column."""
    if "bins" in document:
        return Bins(tuple(map(float, document["bins"])), bool(document.get("at_least", False)))
    states = document["states"]
    if not all(isinstance(state, str | int | float | bool) for state in states):
        msg = f"the states of {name!r} must be texts, numbers or booleans"
        raise ValueError(msg)
    if document.get("dtype") == "float":
        states = [float(state) for state in states]
    for state in states:
        if isinstance(state, float) and not math.isfinite(state):
            msg = f"the states of {name!r} must be finite, got {state}"
            raise ValueError(msg)
    return Categories(tuple(states))


def _shortened(states: Sequence[State], limit: int = 12) -> str:
    if len(states) <= limit:
        return str(list(states))
    return f"{list(states[:limit])} and {len(states) - limit} more"
