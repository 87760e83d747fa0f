"""Running a solver in a child process: time limits and Ctrl-C hold, and nothing is left behind."""

from __future__ import annotations

import importlib.util
import math
import pickle
import queue
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from twbn import interrupts
from twbn.errors import OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.scores.score_table import ScoreTable
    from twbn.search.program import Program

__all__ = [
    "SOLVERS",
    "Solution",
    "SolverDiedError",
    "SolverProcess",
    "require_package",
    "require_solver",
    "run_job",
    "solve",
]

#: The folder that the package is in, and how a process finds a module of it.
PACKAGE_FOLDER = Path(__file__).parents[2]
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "import importlib; importlib.import_module(sys.argv[2]).main()"
)
#: Seconds that a solver may take to notice that its time is over before it is ended.
GRACE = 0.5

#: Called with (solution or None, bound) whenever the solver has news.
Listener = Callable[["NDArray[np.float64] | None", float], None]


@dataclass(frozen=True)
class Solution:
    """The best point found, an upper bound of the objective, and how the run ended."""

    x: NDArray[np.float64] | None
    bound: float
    status: str  # optimal, infeasible, time_limit, iteration_limit, interrupted, failed, refused
    detail: str = ""
    n_nodes: int = 0


#: For each solver the module whose process runs it, the package it needs, and how to get that.
SOLVERS = {
    "highs": ("twbn.search.highs_process", "highspy", "highspy"),
    "scip": ("twbn.search.scip_process", "pyscipopt", "pyscipopt"),
    "gurobi": ("twbn.search.gurobi_process", "gurobipy", "gurobipy"),
    "cplex": ("twbn.search.cplex_process", "cplex", "cplex"),
    "cpsat": ("twbn.search.cpsat_process", "ortools", "ortools"),
}


def require_solver(name: str) -> None:
    """Raise OptionError, saying what to install, unless a solver is there."""
    if name not in SOLVERS:
        msg = f"unknown solver {name!r}; expected one of {', '.join(SOLVERS)}"
        raise OptionError(msg)
    require_package(f"solver {name!r}", *SOLVERS[name][1:])


def require_package(what: str, package: str, wanted: str) -> None:
    """Raise OptionError, saying what to install, unless a package is there."""
    if importlib.util.find_spec(package) is None:
        msg = f"{what} needs {package}, which is not installed: pip install {wanted}"
        raise OptionError(msg)


def solve(
    program: Program,
    *,
    solver: str = "highs",
    time_limit: float | None,
    max_nodes: int | None = None,
    start: NDArray[np.float64] | None = None,
    n_jobs: int = 1,
    seed: int = 0,
    on_news: Listener | None = None,
    families: tuple[NDArray[np.int64], ScoreTable] | None = None,
) -> Solution:
    """Maximise a program in a process of its own.

    With `families`, the columns of a score table's parent sets, the solver separates cuts for
    clusters of variables while it searches (SCIP).

    The process is ended when the time is over, on Ctrl-C, and when anything goes wrong; the best
    solution reported until then is returned. A solver that dies gives the status ``failed``.
    """
    job: dict[str, Any] = {
        "program": program, "time_limit": time_limit, "max_nodes": max_nodes, "start": start,
        "n_jobs": n_jobs, "seed": seed, "families": None,
    }  # fmt: skip
    if families is not None:
        columns, table = families
        job["families"] = (
            columns, table.variable_offsets, table.set_offsets, table.parents.astype(np.int32)
        )  # fmt: skip
    return run_job(SOLVERS[solver][0], job, time_limit=time_limit, start=start, on_news=on_news)


def run_job(
    module: str,
    job: dict[str, Any],
    *,
    time_limit: float | None,
    start: NDArray[np.float64] | None = None,
    on_news: Listener | None = None,
) -> Solution:
    """Give a job to a process of its own, and listen until it is done, or the time is over."""
    best = start
    bound, status, detail, n_nodes = np.inf, "failed", "", 0
    deadline = None if time_limit is None else time.monotonic() + time_limit + GRACE
    process = SolverProcess(module)
    try:
        process.send(job)
        while True:
            event = process.receive(deadline)
            if event[0] == "error":
                status, detail = "refused", event[1]
                break
            bound = min(bound, event[-1])
            if event[0] == "incumbent":
                best = event[1]
            if event[0] == "done":
                best = event[2] if event[2] is not None else best
                status, detail, n_nodes = event[1], event[1], event[3]
                break
            if on_news is not None:
                on_news(best if event[0] == "incumbent" else None, bound)
    except TimeoutError:
        status = "time_limit"
    except KeyboardInterrupt:
        status = "interrupted"
    except SolverDiedError as error:
        detail = str(error)
    finally:
        process.end()
    return Solution(best, bound, status, detail, n_nodes)


class SolverDiedError(Exception):
    """The solver process ended before it had answered."""


class SolverProcess:
    """A process that solves, for as long as it is wanted.

    Anything can be sent to it at any time; what it answers comes as events.
    """

    def __init__(self, module: str = "twbn.search.highs_process") -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder we happen to be in. If twbn itself is not
            # installed but on our path, it is found there, after everything else.
            [sys.executable, "-P", "-c", _START, str(PACKAGE_FOLDER), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for us; we end the child ourselves
        )
        assert self._process.stdout is not None
        try:
            self._events, self._reader = _listen(self._process.stdout)
        except BaseException:
            self._process.kill()
            raise

    def send(self, content: object) -> None:
        """Send one thing."""
        assert self._process.stdin is not None
        try:
            pickle.dump(content, self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None

    def receive(
        self, deadline: float | None, stop: threading.Event | None = None
    ) -> tuple[Any, ...]:
        """Return the next event.

        TimeoutError when `deadline` (of the monotonic clock) is over, or `stop` is set;
        KeyboardInterrupt on Ctrl-C.
        """
        while stop is None or not stop.is_set():
            if interrupts.pending():
                raise KeyboardInterrupt
            left = math.inf if deadline is None else deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            try:
                event = self._events.get(timeout=min(left, 0.1))  # short, so that Ctrl-C gets in
            except queue.Empty:
                continue
            if event is None:
                raise self._death()
            return event
        raise TimeoutError

    def _death(self) -> SolverDiedError:
        """Return the error that says how the process ended, in its last words if there are any."""
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        words = f": {lines[-1].strip()}" if lines else ""
        return SolverDiedError(f"the solver process ended with code {code}{words}")

    def end(self) -> None:
        """Leave no process, thread or pipe behind."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


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
