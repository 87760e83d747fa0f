"""The child process in which CPLEX works; the only module that imports it."""

from __future__ import annotations

from typing import Any

import numpy as np

from twbn.search.process import end_with_parent, receive_job, send

__all__ = ["main"]


def main() -> None:
    """Solve the job on standard input."""
    job, events = receive_job()
    end_with_parent()
    import cplex

    try:
        _solve(job, events, cplex)
    except cplex.exceptions.CplexError as error:  # no licence, or one that is too small
        send(events, ("error", f"CPLEX: {error}"))


def _solve(job: dict[str, Any], events: Any, cplex: Any) -> None:
    program = job["program"]
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
    parameters.threads.set(int(job["n_jobs"]))
    parameters.randomseed.set(int(job["seed"]) % 2_000_000_000)
    parameters.mip.tolerances.mipgap.set(0.0)
    parameters.mip.tolerances.absmipgap.set(1e-6)
    if job["time_limit"] is not None:
        parameters.timelimit.set(float(job["time_limit"]))
    if job["max_nodes"] is not None:
        parameters.mip.limits.nodes.set(int(job["max_nodes"]))
    if job["start"] is not None:
        point = [list(range(program.n_columns)), job["start"].tolist()]
        model.MIP_starts.add(point, model.MIP_starts.effort_level.solve_fixed)

    class Listener(cplex.callbacks.MIPInfoCallback):  # type: ignore[misc]
        best = -np.inf

        def __call__(self) -> None:
            if self.has_incumbent() and self.get_incumbent_objective_value() > self.best + 1e-9:
                self.best = self.get_incumbent_objective_value()
                x = np.array(self.get_incumbent_values())
                send(events, ("incumbent", x, float(self.get_best_objective_value())))

    model.register_callback(Listener)
    model.solve()
    solution = model.solution
    name = solution.get_status_string()
    status = (
        "optimal"
        if "optimal" in name
        else "infeasible"
        if "infeasible" in name
        else "time_limit"
        if "time limit" in name
        else "iteration_limit"
        if "node limit" in name
        else "failed"
    )
    feasible = solution.is_primal_feasible()
    x = np.array(solution.get_values()) if feasible else None
    bound = solution.MIP.get_best_objective() if feasible else np.inf
    n_nodes = int(solution.progress.get_num_nodes_processed())
    send(events, ("done", status, x, n_nodes, float(bound)))


if __name__ == "__main__":
    main()
