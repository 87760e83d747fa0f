"""Codings: how the values of a column become a few numbered states, and back."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from twbn.data.written_numbers import SIGNS
from twbn.errors import OptionError, UnknownStateError
from twbn.numerals import as_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

__all__ = [
    "Bins",
    "Categories",
    "Coded",
    "Coding",
    "State",
    "coding_document",
    "coding_of",
    "date_number",
    "date_text",
]

State: TypeAlias = str | int | float | bool

_TRUTH = {"true": True, "false": False}


class _Encoding(ABC):
    """What codings have in common: values in, codes out."""

    def encode(self, values: Sequence[State | None], column: str) -> NDArray[np.int32]:
        """Return the codes of `values`; None is missing (-1), what has no code is an error."""
        codes, unknown = self.find(values)
        if unknown.any():
            raise self.unknown_state(values[int(np.argmax(unknown))], column)
        return codes

    @abstractmethod
    def find(self, values: Sequence[State | None]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the codes of `values`, -1 where there is none, and which are unknown."""

    @abstractmethod
    def unknown_state(self, value: object, column: str) -> UnknownStateError:
        """Return the error for a value that has no code."""


@dataclass(frozen=True)
class Categories(_Encoding):
    """A coding that numbers the distinct values of a column.

    If `others`, the last state stands for all values that are not among the states.

    Examples
    --------
    >>> Categories(("no", "yes")).encode(["yes", "no", None], "smoker")
    array([ 1,  0, -1], dtype=int32)
    >>> Categories(("red", "blue", "other"), others=True).encode(["blue", "green"], "colour")
    array([1, 2], dtype=int32)
    """

    states: tuple[State, ...]
    others: bool = False

    def unknown_state(self, value: object, column: str) -> UnknownStateError:
        """Return the error for a value that is not a state."""
        msg = (
            f"unknown state {value!r} of variable {column!r}; "
            f"expected one of {_shortened(self.states)}"
        )
        return UnknownStateError(msg, column=column)

    def find(self, values: Sequence[State | None]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the codes of `values`, -1 for None and unknown states, and which are unknown."""
        code_of: dict[State | None, int] = {state: code for code, state in enumerate(self.states)}
        # Numbers read from text arrive as 1.0 where the table may hold 1, or as "1".
        text_of = {str(state): code for code, state in enumerate(self.states)}
        codes = np.full(len(values), -1, dtype=np.int32)
        unknown = np.zeros(len(values), dtype=bool)
        for position, value in enumerate(values):
            if value is None:
                continue
            code = code_of.get(value)
            if code is None:
                code = text_of.get(str(value))
            if code is None and isinstance(value, str):
                number = as_number(value)  # 05 for 5
                code = None if number is None else code_of.get(number)
            if code is None and isinstance(value, str):
                code = code_of.get(_TRUTH.get(value.strip().casefold(), value))
            if code is None and isinstance(value, float) and value.is_integer():
                code = text_of.get(str(int(value)))
            if code is None and self.others:
                code = len(self.states) - 1
            if code is None:
                unknown[position] = True
            else:
                codes[position] = code
        return codes, unknown


@dataclass(frozen=True)
class Bins(_Encoding):
    """A coding that cuts numbers at `edges`.

    The code of a value is the number of edges it exceeds (`at_least=False`, the paper's rule
    ``value > edge``) or reaches (`at_least=True`, ``value >= edge``). With `unit` ``"date"`` the
    numbers are days since 1970-01-01. `centers`, the mean of the values in each interval, stand for
    the intervals where numbers are wanted.

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
    unit: str = ""
    centers: tuple[float, ...] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        try:
            edges = np.asarray(self.edges, dtype=float)
        except (TypeError, ValueError):
            msg = f"cut points must be numbers, got {list(self.edges)}"
            raise OptionError(msg) from None
        if not len(edges) or not np.all(np.isfinite(edges)) or np.any(np.diff(edges) <= 0):
            msg = f"cut points must be finite and increasing, got {list(self.edges)}"
            raise OptionError(msg)
        if self.centers is not None and len(self.centers) != len(edges) + 1:
            msg = f"{len(edges)} cut points need {len(edges) + 1} centers, got {len(self.centers)}"
            raise OptionError(msg)

    @property
    def states(self) -> tuple[str, ...]:
        """The intervals, as labels."""
        texts = self._edge_texts()
        if self.at_least:
            inner = [f"[{low}, {high})" for low, high in itertools.pairwise(texts)]
            return (f"< {texts[0]}", *inner, f">= {texts[-1]}")
        inner = [f"({low}, {high}]" for low, high in itertools.pairwise(texts)]
        return (f"<= {texts[0]}", *inner, f"> {texts[-1]}")

    @property
    def representatives(self) -> tuple[float, ...]:
        """A number for each interval: its center or, if that is not known, its middle or edge."""
        if self.centers is not None:
            return self.centers
        ends = (self.edges[0], *self.edges, self.edges[-1])
        return tuple((low + high) / 2 for low, high in itertools.pairwise(ends))

    def _edge_texts(self) -> list[str]:
        if self.unit == "date":
            texts = [date_text(edge) for edge in self.edges]
        else:
            texts = [f"{edge:.6g}" for edge in self.edges]
        return texts if len(set(texts)) == len(texts) else [repr(float(e)) for e in self.edges]

    def unknown_state(self, value: object, column: str) -> UnknownStateError:
        """Return the error for a value that is no finite number."""
        number = as_number(value) if isinstance(value, str) else value
        kind = "finite numbers" if isinstance(number, float) else "numbers"
        msg = f"variable {column!r} holds {kind}, got {value!r}"
        return UnknownStateError(msg, column=column)

    def find(self, values: Sequence[State | None]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """Return the codes of `values`, -1 for None and what is no number, and which are not."""
        labels = {label: code for code, label in enumerate(self.states)}
        numbers = np.full(len(values), np.nan)
        known = np.array([value is None for value in values], dtype=bool)
        for i, value in enumerate(values):
            number = self._number(value)
            if number is not None and np.isfinite(number):
                numbers[i], known[i] = number, True
        codes = self.encode_numbers(numbers)
        for i, value in enumerate(values):
            if isinstance(value, str) and value in labels:
                codes[i], known[i] = labels[value], True
        return codes, ~known

    def _number(self, value: Any) -> float | None:
        if self.unit == "date" and isinstance(
            value, str | date
        ):  # moments of pandas are dates, too
            return date_number(str(value))
        if isinstance(value, str):
            return as_number(value.strip().strip(SIGNS))
        if isinstance(value, timedelta):  # in days, as columns of them are
            return value.total_seconds() / 86400
        try:
            return None if value is None else float(value)
        except (TypeError, ValueError, OverflowError):
            return None

    def encode_numbers(self, numbers: NDArray[Any]) -> NDArray[np.int32]:
        """Return the codes of an array of numbers; NaN is missing (-1)."""
        if len(self.edges) > 30:
            side: Literal["left", "right"] = "right" if self.at_least else "left"
            codes = np.searchsorted(np.asarray(self.edges), numbers, side=side).astype(np.int32)
        else:  # faster than a search while edges are few
            codes = np.zeros(len(numbers), dtype=np.int32)
            for edge in self.edges:
                codes += numbers >= edge if self.at_least else numbers > edge
        if numbers.dtype.kind == "f":
            codes[np.isnan(numbers)] = -1
        return codes


def date_text(days: float) -> str:
    """Return days since 1970-01-01 as a date, with the time of day if there is one.

    Examples
    --------
    >>> date_text(18000.0), date_text(0.5)
    ('2019-04-14', '1970-01-01 12:00:00')
    """
    moment = np.datetime64("1970-01-01T00:00:00") + np.timedelta64(round(days * 86400), "s")
    text = str(moment).replace("T", " ")
    return text.removesuffix(" 00:00:00")


def date_number(text: str) -> float | None:
    """Return a date in the form of `date_text`, or ISO 8601, as days since 1970-01-01."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    zone = moment.utcoffset()
    seconds = (moment.replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()
    return (seconds - (0.0 if zone is None else zone.total_seconds())) / 86400


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
        document = {
            "states": list(coding.states),
            "dtype": "bins",
            "bins": list(coding.edges),
            "at_least": coding.at_least,
        }
        if coding.unit:
            document["unit"] = coding.unit
        if coding.centers is not None:
            document["centers"] = list(coding.centers)
        return document
    states = [state.item() if isinstance(state, np.generic) else state for state in coding.states]
    kinds = sorted({type(state).__name__ for state in states})
    document = {"states": states, "dtype": kinds[0] if len(kinds) == 1 else "mixed"}
    return {**document, "others": True} if coding.others else document


def coding_of(document: Mapping[str, Any], name: str) -> Coding:
    """Return the coding that plain values describe, or raise ValueError naming the column."""
    if "bins" in document:
        centers = document.get("centers")
        return Bins(
            tuple(map(float, document["bins"])),
            bool(document.get("at_least", False)),
            str(document.get("unit", "")),
            None if centers is None else tuple(map(float, centers)),
        )
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
    return Categories(tuple(states), bool(document.get("others", False)))


def _shortened(states: Sequence[State], limit: int = 12) -> str:
    if len(states) <= limit:
        return str(list(states))
    return f"{list(states[:limit])} and {len(states) - limit} more"
