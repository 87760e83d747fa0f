"""Solvers: each takes a program and returns solutions and bounds, in a separate process."""

from twbn.solvers.job import Job, Solution
from twbn.solvers.program import Program, ProgramBuilder
from twbn.solvers.solve import SOLVERS, require_package, require_solver, solve

__all__ = [
    "SOLVERS",
    "Job",
    "Program",
    "ProgramBuilder",
    "Solution",
    "require_package",
    "require_solver",
    "solve",
]
