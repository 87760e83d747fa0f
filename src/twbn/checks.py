"""What every function checks alike."""

from __future__ import annotations

import math
import numbers
from typing import overload

from twbn.errors import OptionError

__all__ = ["FOREVER", "checked_time_limit", "checked_whole"]

#: Seconds that mean "as long as it takes": some thirty years.
FOREVER = 1e9


@overload
def checked_time_limit(seconds: float) -> float: ...
@overload
def checked_time_limit(seconds: None) -> None: ...
@overload
def checked_time_limit(seconds: float | None) -> float | None: ...
def checked_time_limit(seconds: float | None) -> float | None:
    """Return a time limit in seconds, or raise OptionError; None is no limit.

    Examples
    --------
    >>> checked_time_limit(5), checked_time_limit(1e308)
    (5.0, 1000000000.0)
    """
    if seconds is None:
        return None
    number = isinstance(seconds, numbers.Real) and not isinstance(seconds, bool)
    if not (number and 0 < seconds < math.inf):
        msg = f"time_limit must be a positive number of seconds, got {seconds!r}"
        raise OptionError(msg)
    return float(min(seconds, FOREVER))


def checked_whole(name: str, value: object, *, least: int, most: float = math.inf) -> int:
    """Return an option that is a whole number, or raise OptionError naming it."""
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not good or not least <= value <= most:  # type: ignore[operator]
        msg = f"{name} must be a whole number, {least} or more, got {value!r}"
        raise OptionError(msg)
    return int(value)  # type: ignore[call-overload, no-any-return]
