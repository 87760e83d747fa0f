"""Codings as plain values, for files and for results that remember how their data were coded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.data.discretize import Bins, Categories

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twbn.data.discretize import Coding

__all__ = ["coding_document", "coding_of"]


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
    """Return the coding of plain values; ValueError says what is wrong with that of `name`."""
    if "bins" in document:
        return Bins(tuple(map(float, document["bins"])), bool(document.get("at_least", False)))
    states = document["states"]
    if not all(isinstance(state, str | int | float | bool) for state in states):
        msg = f"the states of {name!r} must be texts, numbers or truth values"
        raise ValueError(msg)
    if document.get("dtype") == "float":
        states = [float(state) for state in states]
    for state in states:
        if isinstance(state, float) and not math.isfinite(state):
            msg = f"the states of {name!r} must be finite, got {state}"
            raise ValueError(msg)
    return Categories(tuple(states))
