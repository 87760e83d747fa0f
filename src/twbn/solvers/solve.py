"""The solvers by name, and the one call that runs a program in any of them."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from twbn.checks import unknown
from twbn.deadline import Deadline
from twbn.errors import MissingDependencyError, OptionError
from twbn.solvers.job import Done, Incumbent, Job, MaxSatJob, Refused, Relaxed, Solution
from twbn.solvers.process import SolverDiedError, SolverProcess

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twbn.solvers.job import Status

__all__ = ["SOLVERS", "Listener", "require_package", "require_solver", "run_job", "solve"]

#: Seconds by which a solver may exceed its time limit before its process is killed.
GRACE = 0.5

#: Called with (solution or None, bound) whenever the solver reports progress.
Listener = Callable[["NDArray[np.float64] | None", float], None]


class Solver(NamedTuple):
    """The module whose process runs a solver, and the package that it imports."""

    module: str
    package: str


SOLVERS = {
    "highs": Solver("twbn.solvers.highs", "highspy"),
    "scip": Solver("twbn.solvers.scip", "pyscipopt"),
    "gurobi": Solver("twbn.solvers.gurobi", "gurobipy"),
    "cplex": Solver("twbn.solvers.cplex", "cplex"),
    "cpsat": Solver("twbn.solvers.cpsat", "ortools"),
}


def require_solver(name: str) -> None:
    """Raise an error that says what to install, unless a solver is installed."""
    if name not in SOLVERS:
        raise OptionError(unknown("solver", name, list(SOLVERS)))
    require_package(f"solver {name!r}", SOLVERS[name].package)


def require_package(what: str, package: str, requirement: str | None = None) -> None:
    """Raise MissingDependencyError unless a package is installed.

    `requirement` is its name for pip, if that differs from its import name.
    """
    if importlib.util.find_spec(package) is None:
        msg = (
            f"{what} needs {package}, which is not installed: pip install {requirement or package}"
        )
        raise MissingDependencyError(msg)


def solve(job: Job, *, solver: str = "highs", on_news: Listener | None = None) -> Solution:
    """Maximise a program in a separate process.

    The process is killed when the time limit has passed, on Ctrl-C, and on any error; the best
    solution reported so far is returned. If the solver dies, the status is ``failed``.
    """
    return run_job(SOLVERS[solver].module, job, time_limit=job.time_limit, on_news=on_news)


def run_job(
    module: str,
    job: Job | MaxSatJob,
    *,
    time_limit: float | None,
    on_news: Listener | None = None,
) -> Solution:
    """Run a job in a separate process until it is done or the time limit has passed."""
    best = job.start if isinstance(job, Job) else None
    status: Status = "failed"
    bound, detail, n_nodes = math.inf, "", 0
    deadline = Deadline(None if time_limit is None else time_limit + GRACE)
    process = SolverProcess(module)
    try:
        process.send(job)
        while True:
            event = process.receive(deadline)
            if isinstance(event, Refused):
                status, detail = "refused", event.reason
                break
            assert not isinstance(event, Relaxed)
            bound = min(bound, event.bound)
            if isinstance(event, Done):
                best = event.x if event.x is not None else best
                status, detail, n_nodes = event.status, event.status, event.n_nodes
                break
            if isinstance(event, Incumbent):
                best = event.x
            if on_news is not None:
                on_news(best if isinstance(event, Incumbent) else None, bound)
    except TimeoutError:
        status = "time_limit"
    except KeyboardInterrupt:
        status = "interrupted"
    except SolverDiedError as error:
        detail = str(error)
    finally:
        process.end()
    return Solution(best, bound, status, detail, n_nodes)
