"""The child process in which HiGHS works; the only module that imports it.

Run as ``python -m twbn.search.highs_process``. It reads one pickled job from standard input and
writes events to standard output, each a pickle behind its length: ``("incumbent", x, bound)``,
``("bound", bound)`` and at the end ``("done", status, x or None, nodes, bound)``.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from twbn.search.program import Program

__all__ = ["main", "write_program"]


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
    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.passModel(lp)
    return solver


def write_program(program: Program, path: str) -> None:
    """Write a program as ``.mps`` or ``.lp``, by the ending of the name."""
    build_model(program).writeModel(path)


def main() -> None:
    """Solve the job on standard input."""
    job: dict[str, Any] = pickle.load(sys.stdin.buffer)
    # Whatever HiGHS prints must not get between the events.
    events = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
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
        _send(events, ("incumbent", x, float(event.data_out.mip_dual_bound)))

    def logged(event: Any) -> None:
        _send(events, ("bound", float(event.data_out.mip_dual_bound)))

    solver.cbMipImprovingSolution.subscribe(improved)
    solver.cbMipLogging.subscribe(logged)
    solver.run()
    status = solver.modelStatusToString(solver.getModelStatus())
    info = solver.getInfo()
    feasible = info.primal_solution_status == 2
    x = np.array(solver.getSolution().col_value) if feasible else None
    _send(events, ("done", status, x, int(info.mip_node_count), float(info.mip_dual_bound)))


def _send(stream: BinaryIO, event: tuple[Any, ...]) -> None:
    content = pickle.dumps(event, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(struct.pack("<Q", len(content)) + content)
    stream.flush()


if __name__ == "__main__":
    main()
