"""The child process that runs HiGHS; the only module that imports it.

A job without a program starts an incremental linear program: commands follow (see `relax`), and
each ``("solve", …)`` is answered by a `Relaxed` event.
"""

from __future__ import annotations

import pickle
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.solvers.child import serve
from twbn.solvers.job import Done, Incumbent, NewBound, Relaxed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.solvers.child import Send
    from twbn.solvers.job import Job, Status
    from twbn.solvers.program import Program

__all__ = ["main", "solve_here"]

STATUSES: dict[str, Status] = {
    "Optimal": "optimal",
    "Infeasible": "infeasible",
    "Time limit reached": "time_limit",
    "Solution limit reached": "iteration_limit",  # the limit on nodes
}


def build_model(program: Program) -> Any:
    """Return a HiGHS solver with the program loaded and output disabled."""
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = program.n_columns, program.n_rows
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.objective, program.lower, program.upper
    lp.row_lower_, lp.row_upper_ = program.row_lower, program.row_upper
    lp.sense_ = highspy.ObjSense.kMaximize
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.starts
    lp.a_matrix_.index_ = program.columns
    lp.a_matrix_.value_ = program.values
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[int(whole)] for whole in program.integer]
    solver: Any = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(lp)
    return solver


def solve_here(program: Program, time_limit: float) -> tuple[Status, NDArray[np.float64] | None]:
    """Solve a small program in this process, where a child would take longer to start."""
    solver = build_model(program)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", float(time_limit))
    solver.run()
    status = STATUSES.get(solver.modelStatusToString(solver.getModelStatus()), "failed")
    feasible = solver.getInfo().primal_solution_status == 2
    return status, np.array(solver.getSolution().col_value) if feasible else None


def main() -> None:
    """Do the job on standard input."""
    serve(lambda job, send: relax(send) if job.program is None else solve(job, send))


def relax(send: Send) -> None:
    """Maximise an incremental linear program until there are no more commands.

    ``("columns", objective, upper, starts, rows, values)`` and
    ``("rows", lower, upper, starts, columns, values)`` add to it; ``("delete", rows)`` removes
    rows; ``("limits", columns, upper)`` changes upper limits of columns;
    ``("solve", "primal" or "dual")`` solves it, starting from the previous basis.
    """
    import highspy

    solver: Any = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solver", "simplex")
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    while True:
        try:
            command, *content = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if command == "columns":
            objective, upper, starts, rows, values = content
            lower = np.zeros(len(objective))
            solver.addCols(len(lower), objective, lower, upper, len(rows), starts, rows, values)
        elif command == "rows":
            lower, upper, starts, columns, values = content
            solver.addRows(len(lower), lower, upper, len(columns), starts, columns, values)
        elif command == "delete":
            solver.deleteRows(len(content[0]), content[0])
        elif command == "limits":
            columns, upper = content
            solver.changeColsBounds(len(columns), columns, np.zeros(len(columns)), upper)
        else:
            solver.setOptionValue("simplex_strategy", 4 if content[0] == "primal" else 1)
            solver.run()
            status = solver.modelStatusToString(solver.getModelStatus())
            solution = solver.getSolution()
            x, duals = np.array(solution.col_value), np.array(solution.row_dual)
            send(Relaxed(status, x, duals))


def solve(job: Job, send: Send) -> None:
    """Solve one mixed-integer program."""
    assert job.program is not None
    solver = build_model(job.program)
    solver.setOptionValue("threads", int(job.n_jobs))
    solver.setOptionValue("random_seed", int(job.seed) % 2**31)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 1e-6)
    if job.time_limit is not None:
        solver.setOptionValue("time_limit", float(job.time_limit))
    if job.max_nodes is not None:
        solver.setOptionValue("mip_max_nodes", min(int(job.max_nodes), 2**31 - 1))
    if job.start is not None:
        places = np.arange(job.program.n_columns, dtype=np.int32)
        solver.setSolution(len(places), places, job.start)

    def improved(event: Any) -> None:
        x = np.array(event.data_out.mip_solution)
        send(Incumbent(x, float(event.data_out.mip_dual_bound)))

    def logged(event: Any) -> None:
        send(NewBound(float(event.data_out.mip_dual_bound)))

    solver.cbMipImprovingSolution.subscribe(improved)
    solver.cbMipLogging.subscribe(logged)
    solver.run()
    status = STATUSES.get(solver.modelStatusToString(solver.getModelStatus()), "failed")
    info = solver.getInfo()
    feasible = info.primal_solution_status == 2
    x = np.array(solver.getSolution().col_value) if feasible else None
    send(Done(status, x, int(info.mip_node_count), float(info.mip_dual_bound)))


if __name__ == "__main__":
    main()
