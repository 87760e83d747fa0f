"""What every solver process does: it reads a job, and sends events until it is done.

A job is a pickle on standard input. Events go to standard output, each a pickle behind its length:
``("incumbent", x, bound)``, ``("bound", bound)``, ``("error", text)``, and at the end
``("done", status, x or None, nodes, bound)`` with a status of ours.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
from typing import Any, BinaryIO

__all__ = ["end_with_parent", "receive_job", "send"]


def receive_job() -> tuple[dict[str, Any], BinaryIO]:
    """Return the job, and where its events go."""
    job: dict[str, Any] = pickle.load(sys.stdin.buffer)
    # Whatever a solver prints must not get between the events.
    events = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return job, events


def send(events: BinaryIO, event: tuple[Any, ...]) -> None:
    """Send one event."""
    content = pickle.dumps(event, protocol=pickle.HIGHEST_PROTOCOL)
    events.write(struct.pack("<Q", len(content)) + content)
    events.flush()


def end_with_parent() -> None:
    """See to it that this process ends when the one that gave the job does, however that is."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
