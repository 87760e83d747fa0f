"""Running a solver in a child process: time limits and Ctrl-C hold, and nothing is left behind."""

from __future__ import annotations

import pickle
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.search.program import Program

__all__ = ["Solution", "solve"]

#: Seconds that a solver may take to notice that its time is over before it is ended.
GRACE = 0.5

#: Called with (solution or None, bound) whenever the solver has news.
Listener = Callable[["NDArray[np.float64] | None", float], None]


@dataclass(frozen=True)
class Solution:
    """The best point found, an upper bound of the objective, and how the run ended."""

    x: NDArray[np.float64] | None
    bound: float
    status: str  # optimal, infeasible, time_limit, iteration_limit, interrupted, failed
    detail: str = ""
    n_nodes: int = 0


def solve(
    program: Program,
    *,
    time_limit: float | None,
    max_nodes: int | None = None,
    start: NDArray[np.float64] | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    on_news: Listener | None = None,
) -> Solution:
    """Maximise a program with HiGHS in a process of its own.

    The process is ended when the time is over, on Ctrl-C, and when anything goes wrong; the best
    solution reported until then is returned. A solver that dies gives the status ``failed``.
    """
    job = {
        "program": program, "time_limit": time_limit, "max_nodes": max_nodes, "start": start,
        "n_jobs": n_jobs, "seed": seed,
    }  # fmt: skip
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "twbn.search.highs_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for us; we end the child ourselves
    )
    reader: threading.Thread | None = None
    best: NDArray[np.float64] | None = start
    bound, status, detail, n_nodes = np.inf, "failed", "", 0
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        events, reader = _listen(process.stdout)
        pickle.dump(job, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        process.stdin.close()
        while True:
            left = None if time_limit is None else begun + time_limit + GRACE - time.monotonic()
            if left is not None and left <= 0:
                status = "time_limit"
                break
            try:
                event = events.get(timeout=0.1 if left is None else min(left, 0.1))
            except queue.Empty:
                continue
            if event is None:
                code = process.wait()
                detail = f"the solver process ended with code {code}"
                break
            bound = min(bound, event[-1])
            if event[0] == "incumbent":
                best = event[1]
            if event[0] == "done":
                best = event[2] if event[2] is not None else best
                status, detail, n_nodes = _status(event[1]), event[1], event[3]
                break
            if on_news is not None:
                on_news(best if event[0] == "incumbent" else None, bound)
    except KeyboardInterrupt:
        status = "interrupted"
    except BrokenPipeError:  # it ended before it had read the program
        detail = f"the solver process ended with code {process.wait()}"
    finally:
        _end(process, reader)
    return Solution(best, bound, status, detail, n_nodes)


def _end(process: subprocess.Popen[bytes], reader: threading.Thread | None) -> None:
    """Leave no process, thread or pipe behind."""
    process.kill()
    process.wait()
    if reader is not None:
        reader.join()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _status(theirs: str) -> str:
    ours = {
        "Optimal": "optimal",
        "Infeasible": "infeasible",
        "Time limit reached": "time_limit",
        "Solution limit reached": "iteration_limit",  # the limit on nodes
    }
    return ours.get(theirs, "failed")


Event: TypeAlias = "tuple[Any, ...] | None"
Events: TypeAlias = "queue.Queue[Event]"


def _listen(stream: IO[bytes]) -> tuple[Events, threading.Thread]:
    """Return a queue that a thread fills with the events of a stream; None at its end."""
    events: Events = queue.Queue()

    def read() -> None:
        try:
            while head := stream.read(8):
                (length,) = struct.unpack("<Q", head)
                events.put(pickle.loads(stream.read(length)))
        except (OSError, ValueError, struct.error, EOFError, pickle.UnpicklingError):
            pass  # a process that was ended in the middle of an event
        events.put(None)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    return events, reader
