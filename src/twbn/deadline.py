"""The clock of a job: how long it has run, and how long it may still run."""

from __future__ import annotations

import math
import time

from twbn import interrupts

__all__ = ["Deadline"]

#: Smallest number of seconds reported as left: kernels need a positive limit.
LEAST = 0.001


class Deadline:
    """The time limit of a job, counted from when the deadline was made.

    Parameters
    ----------
    time_limit
        Seconds; None for no limit.

    Examples
    --------
    >>> Deadline(None).left is None, Deadline(60.0).left > 59
    (True, True)
    """

    def __init__(self, time_limit: float | None = None) -> None:
        self.time_limit = time_limit
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the deadline was made."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float | None:
        """Seconds left, at least a millisecond; None without a limit."""
        return None if self.time_limit is None else max(self.time_limit - self.seconds, LEAST)

    @property
    def left_or_forever(self) -> float:
        """Seconds left, which may be zero or less; infinity without a limit."""
        return math.inf if self.time_limit is None else self.time_limit - self.seconds

    @property
    def passed(self) -> bool:
        """Whether the time limit has passed."""
        return self.left_or_forever <= 0

    @property
    def over(self) -> bool:
        """Whether work should stop: the time limit has passed, or Ctrl-C was pressed."""
        return interrupts.pending() or self.passed

    def check(self) -> None:
        """Raise TimeoutError if work should stop."""
        if self.over:
            raise TimeoutError

    def share(self, fraction: float, *, least: float = 0.0) -> Deadline:
        """Return a deadline for a fraction of the time left, but at least `least` seconds."""
        if self.time_limit is None:
            return Deadline(None)
        return Deadline(max(fraction * (self.left or 0.0), least))
