"""The child process in which HiGHS works; the only module that imports it.

Run as ``python -m twbn.search.highs_process``; jobs and events are those of `process`. A job
without a program opens a linear program that grows: commands follow (see `relax`), and every
``("solve", …)`` is answered by ``("relaxed", status, x, row duals)``.
"""

from __future__ import annotations

import pickle
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from twbn.search.process import end_with_parent, receive_job, send

if TYPE_CHECKING:
    from twbn.search.program import Program

__all__ = ["main", "write_program"]

STATUSES = {
    "Optimal": "optimal",
    "Infeasible": "infeasible",
    "Time limit reached": "time_limit",
    "Solution limit reached": "iteration_limit",  # the limit on nodes
}


def build_model(program: Program) -> Any:
    """Return a silent HiGHS with the program in it."""
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


def write_program(program: Program, path: str) -> None:
    """Write a program as ``.mps`` or ``.lp``, by the ending of the name."""
    build_model(program).writeModel(path)


def main() -> None:
    """Do the job on standard input."""
    job, events = receive_job()
    end_with_parent()
    if job["program"] is None:
        relax(events)
    else:
        solve(job, events)


def relax(events: BinaryIO) -> None:
    """Maximise a linear program that grows, until there are no more commands.

    ``("columns", objective, upper, starts, rows, values)`` and
    ``("rows", lower, upper, starts, columns, values)`` add to it; ``("delete", rows)`` takes rows
    away; ``("solve", "primal" or "dual")`` solves it from where it stood.
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
        else:
            solver.setOptionValue("simplex_strategy", 4 if content[0] == "primal" else 1)
            solver.run()
            status = solver.modelStatusToString(solver.getModelStatus())
            solution = solver.getSolution()
            x, duals = np.array(solution.col_value), np.array(solution.row_dual)
            send(events, ("relaxed", status, x, duals))


def solve(job: dict[str, Any], events: BinaryIO) -> None:
    """Solve one mixed-integer program."""
    solver = build_model(job["program"])
    solver.setOptionValue("threads", int(job["n_jobs"]))
    solver.setOptionValue("random_seed", int(job["seed"]) % 2**31)
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 1e-6)
    if job["time_limit"] is not None:
        solver.setOptionValue("time_limit", float(job["time_limit"]))
    if job["max_nodes"] is not None:
        solver.setOptionValue("mip_max_nodes", min(int(job["max_nodes"]), 2**31 - 1))
    if job["start"] is not None:
        places = np.arange(job["program"].n_columns, dtype=np.int32)
        solver.setSolution(len(places), places, job["start"])

    def improved(event: Any) -> None:
        x = np.array(event.data_out.mip_solution)
        send(events, ("incumbent", x, float(event.data_out.mip_dual_bound)))

    def logged(event: Any) -> None:
        send(events, ("bound", float(event.data_out.mip_dual_bound)))

    solver.cbMipImprovingSolution.subscribe(improved)
    solver.cbMipLogging.subscribe(logged)
    solver.run()
    status = STATUSES.get(solver.modelStatusToString(solver.getModelStatus()), "failed")
    info = solver.getInfo()
    feasible = info.primal_solution_status == 2
    x = np.array(solver.getSolution().col_value) if feasible else None
    send(events, ("done", status, x, int(info.mip_node_count), float(info.mip_dual_bound)))


if __name__ == "__main__":
    main()
