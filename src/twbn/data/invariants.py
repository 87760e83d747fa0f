"""What every table must be: names, codes and weights, checked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from twbn.data.coding import Coding

__all__ = ["check_codes", "check_names", "check_text", "checked_weights"]


def checked_weights(weights: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return row weights as a read-only array, or raise DataError."""
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"weights must be numbers, got {weights!r}"
        raise DataError(msg) from None
    if array.shape != (n_rows,):
        msg = f"weights must be one per row: expected {n_rows}, got shape {array.shape}"
        raise DataError(msg)
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0))
    if len(bad):
        msg = f"weights must be finite and not negative, got {array[bad[0]]} in row {bad[0] + 1}"
        raise DataError(msg)
    with np.errstate(over="ignore"):
        total = array.sum()
    if not 0 < total < np.inf:
        msg = f"weights must have a positive, finite sum, got {total}"
        raise DataError(msg)
    array.setflags(write=False)
    return array


def check_text(text: str, what: str) -> None:
    """Raise DataError if a text cannot be written to a file because it has a lone surrogate."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        msg = f"{what} must be text that can be written, got {text!r} with a lone surrogate"
        raise DataError(msg) from None


def check_names(names: Sequence[str]) -> None:
    """Raise DataError unless all names are distinct texts that are not empty."""
    for name in names:
        if not isinstance(name, str) or not name:
            msg = f"column names must be non-empty text, got {name!r}"
            raise DataError(msg)
        check_text(name, "column names")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        times = names.count(repeated[0])
        msg = f"column names must be distinct, but {repeated[0]!r} occurs {times} times"
        raise DataError(msg)


def check_codes(names: Sequence[str], codings: Sequence[Coding], codes: NDArray[np.int32]) -> None:
    """Raise DataError unless every code is that of a state, or -1."""
    if codes.ndim != 2 or len(names) != codes.shape[1] or len(codings) != len(names):
        msg = (
            f"{len(names)} names and {len(codings)} codings do not fit codes of shape {codes.shape}"
        )
        raise DataError(msg)
    if not codes.size:
        msg = f"a table needs rows and columns, got {codes.shape[0]} by {codes.shape[1]}"
        raise DataError(msg)
    lows, highs = codes.min(axis=0), codes.max(axis=0)
    for name, coding, low, high in zip(names, codings, lows, highs, strict=True):
        n_states = len(coding.states)
        if n_states < 1:
            msg = f"column {name!r} has no states, a variable needs at least 1"
            raise DataError(msg)
        for state in coding.states:
            if isinstance(state, str):
                check_text(state, f"the states of column {name!r}")
        if low < -1 or high >= n_states:
            bad = low if low < -1 else high
            msg = f"column {name!r} has {n_states} states, but holds the code {bad}"
            raise DataError(msg)
