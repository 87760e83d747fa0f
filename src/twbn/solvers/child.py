"""The child's side of a solver process: read a job, send events until it is done.

A job is a pickle on standard input. Events (`twbn.solvers.job`) go to standard output, each a
pickle preceded by its length.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable

    from twbn.solvers.job import Event

__all__ = ["Send", "serve"]

if TYPE_CHECKING:
    Send = Callable[[Event], None]


def serve(solve: Callable[[Any, Send], None]) -> None:
    """Read the job and call ``solve(job, send)``; exit when the parent process dies."""
    job = pickle.load(sys.stdin.buffer)
    # Output printed by a solver must not mix with the events.
    events = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    _exit_with_parent()
    solve(job, lambda event: _write(events, event))


def _write(events: BinaryIO, event: Event) -> None:
    content = pickle.dumps(event, protocol=pickle.HIGHEST_PROTOCOL)
    events.write(struct.pack("<Q", len(content)) + content)
    events.flush()


def _exit_with_parent() -> None:
    """Exit when the parent process dies, however it dies."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
