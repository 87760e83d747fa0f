"""What is sent to a solver process, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from twbn.solvers.program import Program

__all__ = [
    "Done",
    "Event",
    "Families",
    "Incumbent",
    "Job",
    "MaxSatJob",
    "NewBound",
    "Refused",
    "Relaxed",
    "Solution",
    "Status",
]

#: How a run of a solver may end. `failed`: the process died; `refused`: no licence, for example.
Status = Literal[
    "optimal",
    "infeasible",
    "time_limit",
    "iteration_limit",
    "interrupted",
    "failed",
    "refused",
]


class Families(NamedTuple):
    """The columns of a program that stand for parent sets, and these sets, as in a `ScoreTable`."""

    columns: NDArray[np.int64]
    variable_offsets: NDArray[np.int64]
    set_offsets: NDArray[np.int64]
    parents: NDArray[np.int32]


@dataclass(frozen=True)
class Job:
    """A program to maximise, with limits and a start.

    With `families` the solver separates cuts for clusters of variables while it searches (SCIP).
    Without a program, the job is an incremental linear program (see `twbn.solvers.highs`).
    """

    program: Program | None
    time_limit: float | None = None
    max_nodes: int | None = None
    start: NDArray[np.float64] | None = None
    n_jobs: int = 1
    seed: int = 0
    families: Families | None = None


@dataclass(frozen=True)
class MaxSatJob:
    """Parent sets with their losses against the best set of the variable; infinity excludes a set.

    `best` is the sum of the best scores, from which losses are subtracted.
    """

    n_variables: int
    treewidth: int
    variable_offsets: NDArray[np.int64]
    set_offsets: NDArray[np.int64]
    parents: NDArray[np.int32]
    losses: NDArray[np.float64]
    best: float
    max_cores: int | None = None


class Incumbent(NamedTuple):
    """A better solution, and the bound at that time."""

    x: NDArray[np.float64]
    bound: float


class NewBound(NamedTuple):
    """A better bound."""

    bound: float


class Refused(NamedTuple):
    """The solver refuses to run, for the given reason."""

    reason: str


class Done(NamedTuple):
    """The end of a run."""

    status: Status
    x: NDArray[np.float64] | None
    n_nodes: int
    bound: float


class Relaxed(NamedTuple):
    """The solution of a linear program: HiGHS's name for the status, primal values, row duals."""

    status: str
    x: NDArray[np.float64]
    duals: NDArray[np.float64]


Event: TypeAlias = Incumbent | NewBound | Refused | Done | Relaxed


@dataclass(frozen=True)
class Solution:
    """The best point found, an upper bound on the objective, and how the run ended."""

    x: NDArray[np.float64] | None
    bound: float
    status: Status
    detail: str = ""
    n_nodes: int = 0
