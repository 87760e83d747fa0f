"""The child process that runs Gurobi; the only module that imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.solvers.child import serve
from twbn.solvers.job import Done, Incumbent, Refused
from twbn.solvers.program import comparisons

if TYPE_CHECKING:
    from twbn.solvers.child import Send
    from twbn.solvers.job import Job, Status

__all__ = ["main"]


def main() -> None:
    """Solve the job on standard input."""
    serve(_solve)


def _solve(job: Job, send: Send) -> None:
    import gurobipy

    try:
        environment = gurobipy.Env(params={"OutputFlag": 0})
        _optimise(job, send, gurobipy, environment)
    except gurobipy.GurobiError as error:  # no licence, or one that is too small
        send(Refused(f"Gurobi: {error}"))


def _optimise(job: Job, send: Send, gurobi: Any, environment: Any) -> None:
    program = job.program
    assert program is not None
    model = gurobi.Model(env=environment)
    kinds = np.where(program.integer, "I", "C")
    x = model.addMVar(
        program.n_columns, lb=program.lower, ub=program.upper, obj=program.objective, vtype=kinds
    )
    model.ModelSense = gurobi.GRB.MAXIMIZE
    for columns, values, low, high in program.rows():
        for condition in comparisons(values @ x[columns], low, high):
            model.addConstr(condition)
    model.Params.Threads = int(job.n_jobs)
    model.Params.Seed = int(job.seed) % 2_000_000_000
    model.Params.MIPGap, model.Params.MIPGapAbs = 0.0, 1e-6
    if job.time_limit is not None:
        model.Params.TimeLimit = float(job.time_limit)
    if job.max_nodes is not None:
        model.Params.NodeLimit = int(job.max_nodes)
    if job.start is not None:
        x.Start = job.start
    every = x.tolist()

    def listen(source: Any, where: int) -> None:
        if where == gurobi.GRB.Callback.MIPSOL:
            bound = source.cbGet(gurobi.GRB.Callback.MIPSOL_OBJBND)
            send(Incumbent(np.array(source.cbGetSolution(every)), float(bound)))

    model.optimize(listen)
    statuses: dict[int, Status] = {
        gurobi.GRB.OPTIMAL: "optimal",
        gurobi.GRB.INFEASIBLE: "infeasible",
        gurobi.GRB.TIME_LIMIT: "time_limit",
        gurobi.GRB.NODE_LIMIT: "iteration_limit",
    }
    best = np.array(x.X) if model.SolCount else None
    status = statuses.get(model.Status, "failed")
    send(Done(status, best, int(model.NodeCount), float(model.ObjBound)))


if __name__ == "__main__":
    main()
