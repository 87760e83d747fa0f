"""The child process that runs CPLEX; the only module that imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.solvers.child import serve
from twbn.solvers.job import Done, Incumbent, Refused

if TYPE_CHECKING:
    from twbn.solvers.child import Send
    from twbn.solvers.job import Job, Status

__all__ = ["main"]

#: Our status for each text that a CPLEX status may contain.
STATUSES: dict[str, Status] = {
    "optimal": "optimal",
    "infeasible": "infeasible",
    "time limit": "time_limit",
    "node limit": "iteration_limit",
}


def main() -> None:
    """Solve the job on standard input."""
    serve(_solve)


def _solve(job: Job, send: Send) -> None:
    import cplex

    try:
        _optimise(job, send, cplex)
    except cplex.exceptions.CplexError as error:  # no licence, or one that is too small
        send(Refused(f"CPLEX: {error}"))


def _optimise(job: Job, send: Send, cplex: Any) -> None:
    program = job.program
    assert program is not None
    model = cplex.Cplex()
    for stream in ("log", "results", "warning", "error"):
        getattr(model, f"set_{stream}_stream")(None)
    model.objective.set_sense(model.objective.sense.maximize)
    model.variables.add(
        obj=program.objective.tolist(),
        lb=program.lower.tolist(),
        ub=program.upper.tolist(),
        types="".join("I" if whole else "C" for whole in program.integer),
    )
    for sense, limits in (("G", program.row_lower), ("L", program.row_upper)):
        rows = np.flatnonzero(np.isfinite(limits))
        model.linear_constraints.add(
            lin_expr=[
                [
                    program.columns[program.starts[r] : program.starts[r + 1]].tolist(),
                    program.values[program.starts[r] : program.starts[r + 1]].tolist(),
                ]
                for r in rows
            ],
            senses=sense * len(rows),
            rhs=limits[rows].tolist(),
        )
    parameters = model.parameters
    parameters.threads.set(int(job.n_jobs))
    parameters.randomseed.set(int(job.seed) % 2_000_000_000)
    parameters.mip.tolerances.mipgap.set(0.0)
    parameters.mip.tolerances.absmipgap.set(1e-6)
    if job.time_limit is not None:
        parameters.timelimit.set(float(job.time_limit))
    if job.max_nodes is not None:
        parameters.mip.limits.nodes.set(int(job.max_nodes))
    if job.start is not None:
        point = [list(range(program.n_columns)), job.start.tolist()]
        model.MIP_starts.add(point, model.MIP_starts.effort_level.solve_fixed)

    class Listener(cplex.callbacks.MIPInfoCallback):  # type: ignore[misc]
        best = -np.inf

        def __call__(self) -> None:
            if self.has_incumbent() and self.get_incumbent_objective_value() > self.best + 1e-9:
                self.best = self.get_incumbent_objective_value()
                x = np.array(self.get_incumbent_values())
                send(Incumbent(x, float(self.get_best_objective_value())))

    model.register_callback(Listener)
    model.solve()
    solution = model.solution
    name = solution.get_status_string()
    status: Status = next((ours for theirs, ours in STATUSES.items() if theirs in name), "failed")
    feasible = solution.is_primal_feasible()
    x = np.array(solution.get_values()) if feasible else None
    bound = solution.MIP.get_best_objective() if feasible else np.inf
    n_nodes = int(solution.progress.get_num_nodes_processed())
    send(Done(status, x, n_nodes, float(bound)))


if __name__ == "__main__":
    main()
