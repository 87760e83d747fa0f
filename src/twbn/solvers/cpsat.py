"""The child process that runs CP-SAT; the only module that imports it.

CP-SAT handles only integers. Scores are rounded to multiples of a step fine enough for eleven
digits, so its proofs hold up to half a step for each chosen parent set, and the reported bound is
raised by that amount. Continuous columns represent orders and become integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.solvers.child import serve
from twbn.solvers.job import Done, Incumbent

if TYPE_CHECKING:
    from twbn.solvers.child import Send
    from twbn.solvers.job import Job, Status

__all__ = ["main"]

STATUSES: dict[str, Status] = {
    "OPTIMAL": "optimal",
    "INFEASIBLE": "infeasible",
    "FEASIBLE": "time_limit",
    "UNKNOWN": "time_limit",
}


def main() -> None:
    """Solve the job on standard input."""
    serve(_solve)


def _solve(job: Job, send: Send) -> None:
    from ortools.sat.python import cp_model

    program = job.program
    assert program is not None
    model = cp_model.CpModel()
    columns = [
        model.new_int_var(int(low), int(high), "")
        for low, high in zip(program.lower, program.upper, strict=True)
    ]
    for places, values, low, high in program.rows():
        terms = cp_model.LinearExpr.weighted_sum(
            [columns[c] for c in places], [round(value) for value in values]
        )
        model.add_linear_constraint(
            terms,
            cp_model.INT32_MIN if low == -np.inf else round(low),
            cp_model.INT32_MAX if high == np.inf else round(high),
        )
    step = float(np.abs(program.objective).max(initial=1.0)) * 1e-11
    costs = np.rint(program.objective / step).astype(np.int64)
    model.maximize(cp_model.LinearExpr.weighted_sum(columns, costs.tolist()))
    if job.start is not None:
        for column, value in zip(columns, job.start, strict=True):
            model.add_hint(column, round(value))
    # Each variable has one parent set, so there is one rounding for every row that sums to one.
    equalities = int(((program.row_lower == 1) & (program.row_upper == 1)).sum())
    slack = step * (0.5 * equalities + 1.0)
    solver: Any = cp_model.CpSolver()
    solver.parameters.num_workers = int(job.n_jobs)
    solver.parameters.random_seed = int(job.seed) % 2**31
    if job.time_limit is not None:
        solver.parameters.max_time_in_seconds = float(job.time_limit)
    if job.max_nodes is not None:
        solver.parameters.max_number_of_conflicts = int(job.max_nodes)
    status = solver.solve(model, _listener(cp_model, columns, send, step, slack))
    name = STATUSES.get(solver.status_name(status), "failed")
    found = solver.status_name(status) in {"OPTIMAL", "FEASIBLE"}
    x = np.array([solver.value(c) for c in columns], dtype=np.float64) if found else None
    if name != "optimal" and job.max_nodes is not None:
        name = "iteration_limit" if name == "time_limit" else name
    bound = solver.best_objective_bound * step + slack if found else np.inf
    send(Done(name, x, int(solver.num_branches), float(bound)))


def _listener(cp_model: Any, columns: Any, send: Send, step: float, slack: float) -> Any:
    class Listener(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            x = np.array([self.value(c) for c in columns], dtype=np.float64)
            send(Incumbent(x, self.best_objective_bound * step + slack))

    return Listener()


if __name__ == "__main__":
    main()
