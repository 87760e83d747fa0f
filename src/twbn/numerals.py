"""Which texts are numbers: those that programs write, not everything that `float` accepts."""

from __future__ import annotations

import re

__all__ = ["as_number", "is_number"]

# float() also accepts underscores between digits, and the digits of other scripts.
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE
)


def as_number(text: str) -> float | None:
    """Return the number that a text spells, or None. Infinities are numbers, NaN is not.

    Examples
    --------
    >>> as_number("-1.5e3"), as_number(".5"), as_number("1_1"), as_number("nan")
    (-1500.0, 0.5, None, None)
    """
    text = text.strip()
    return float(text) if _NUMBER.fullmatch(text) else None


def is_number(text: str) -> bool:
    """Say whether a text is a number."""
    return _NUMBER.fullmatch(text.strip()) is not None
