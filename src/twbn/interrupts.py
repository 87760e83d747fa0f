"""Deferred Ctrl-C: recorded instead of raised, so that results found so far are not lost."""

from __future__ import annotations

import signal
import threading
import time
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["deferred", "keeps_best", "pending"]

#: A second Ctrl-C is raised if it comes this many seconds after the first, which had no effect.
PATIENCE = 2.0

P = ParamSpec("P")
R = TypeVar("R")


class _Listener:
    """Records whether Ctrl-C was pressed since the outermost `deferred` block began."""

    def __init__(self) -> None:
        self.active = False
        self.first: float | None = None

    def __call__(self, *_: object) -> None:
        """Handle the signal."""
        now = time.monotonic()
        if self.first is None:
            self.first = now
        elif now - self.first > PATIENCE:
            raise KeyboardInterrupt


_listener = _Listener()


def pending() -> bool:
    """Say whether Ctrl-C was pressed and is waiting for the current work to finish."""
    return _listener.active and _listener.first is not None


@contextmanager
def deferred() -> Iterator[None]:
    """Record Ctrl-C inside the block instead of raising KeyboardInterrupt.

    Code inside the block polls `pending`, stops early and returns its best result so far. Blocks
    may be nested; only the outermost takes effect. The block has no effect outside the main thread,
    which alone receives signals, or in a program that has its own handler.
    """
    mine = (
        not _listener.active
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if not mine:
        yield
        return
    try:
        _listener.first = None
        _listener.active = True
        signal.signal(signal.SIGINT, _listener)
        yield
    finally:
        _listener.active = False  # before the next Ctrl-C can be raised
        signal.signal(signal.SIGINT, signal.default_int_handler)


def keeps_best(function: Callable[P, R]) -> Callable[P, R]:
    """Return the function with Ctrl-C deferred while it runs."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with deferred():
            return function(*args, **kwargs)

    return wrapped
