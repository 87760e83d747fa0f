"""The child process that runs SCIP; the only module that imports it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import _core
from twbn.solvers.child import serve
from twbn.solvers.job import Done, Incumbent, NewBound
from twbn.solvers.program import comparisons

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.solvers.child import Send
    from twbn.solvers.job import Families, Job, Status
    from twbn.solvers.program import Program

__all__ = ["main"]

STATUSES: dict[str, Status] = {
    "optimal": "optimal",
    "infeasible": "infeasible",
    "timelimit": "time_limit",
    "nodelimit": "iteration_limit",
    "totalnodelimit": "iteration_limit",
}
#: Maximum number of cluster cuts that one call of the separator adds.
CUTS_PER_CALL = 30


def main() -> None:
    """Solve the job on standard input."""
    serve(_solve)


def _solve(job: Job, send: Send) -> None:
    import pyscipopt

    assert job.program is not None
    model = pyscipopt.Model()
    model.hideOutput()
    variables = _build(model, job.program, pyscipopt.quicksum)
    model.setParam("randomization/randomseedshift", int(job.seed) % 2**31)
    model.setParam("limits/gap", 0.0)
    model.setParam("limits/absgap", 1e-6)
    model.setParam("numerics/feastol", 1e-7)
    if job.time_limit is not None:
        model.setParam("limits/time", float(job.time_limit))
    if job.max_nodes is not None:
        model.setParam("limits/nodes", int(job.max_nodes))
    if job.start is not None:
        solution = model.createSol()
        for variable, value in zip(variables, job.start, strict=True):
            model.setSolVal(solution, variable, float(value))
        model.addSol(solution)
    _report_events(model, variables, send, pyscipopt)
    if job.families is not None:
        _separate_in_tree(model, variables, job.families, pyscipopt)
    model.optimize()
    x = _values(model, variables, model.getBestSol()) if model.getNSols() else None
    status = STATUSES.get(model.getStatus(), "failed")
    send(Done(status, x, int(model.getNTotalNodes()), _bound(model)))


def _build(model: Any, program: Program, total: Any) -> list[Any]:
    infinity = model.infinity()

    def finite(value: float) -> float:
        return float(np.clip(value, -infinity, infinity))

    variables = [
        model.addVar(vtype="I" if whole else "C", lb=finite(low), ub=finite(high), obj=float(cost))
        for whole, low, high, cost in zip(
            program.integer, program.lower, program.upper, program.objective, strict=True
        )
    ]
    model.setMaximize()
    for columns, values, low, high in program.rows():
        pairs = zip(columns, values, strict=True)
        terms = total(float(value) * variables[column] for column, value in pairs)
        for condition in comparisons(terms, low, high):
            model.addCons(condition)
    return variables


def _values(model: Any, variables: list[Any], solution: Any) -> NDArray[np.float64]:
    return np.array([model.getSolVal(solution, variable) for variable in variables])


def _bound(model: Any) -> float:
    bound = float(model.getDualbound())
    return bound if abs(bound) < model.infinity() else math.inf


def _report_events(model: Any, variables: list[Any], send: Send, scip: Any) -> None:
    class Listener(scip.Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            self.model.catchEvent(scip.SCIP_EVENTTYPE.BESTSOLFOUND, self)
            self.model.catchEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)

        def eventexec(self, event: Any) -> None:
            if event.getType() == scip.SCIP_EVENTTYPE.BESTSOLFOUND:
                x = _values(self.model, variables, self.model.getBestSol())
                send(Incumbent(x, _bound(self.model)))
            else:
                send(NewBound(_bound(self.model)))

    model.includeEventhdlr(Listener(), "news", "reports solutions and bounds")


def _separate_in_tree(model: Any, variables: list[Any], families: Families, scip: Any) -> None:
    """Add cuts for clusters of variables, found on the relaxation of every node."""
    columns, variable_offsets, set_offsets, parents = families
    n = len(variable_offsets) - 1
    child = np.repeat(np.arange(n, dtype=np.int32), np.diff(variable_offsets))

    class ClusterCuts(scip.Sepa):  # type: ignore[misc]
        def sepaexeclp(self) -> dict[str, Any]:
            own = [self.model.getTransformedVar(variables[c]) for c in columns]
            weights = np.array([self.model.getSolVal(None, v) for v in own])
            used = np.flatnonzero(weights > 1e-6)
            lists = [parents[set_offsets[t] : set_offsets[t + 1]] for t in used]
            found = _core.find_clusters(
                n,
                child[used],
                weights[used],
                np.concatenate([[0], np.cumsum([len(p) for p in lists])]).astype(np.int64),
                np.concatenate(lists) if lists else np.empty(0, dtype=np.int32),
                40,
                4,
                0.02,
                CUTS_PER_CALL,
                int(self.model.getNNodes()),
                None,
            )
            for _, members in found:
                inside = np.zeros(n, dtype=bool)
                inside[members] = True
                row = self.model.createEmptyRowSepa(self, "cluster", lhs=1.0, rhs=None, local=False)
                self.model.cacheRowExtensions(row)
                for t in np.flatnonzero(inside[child]):
                    if not inside[parents[set_offsets[t] : set_offsets[t + 1]]].any():
                        self.model.addVarToRow(row, own[t], 1.0)
                self.model.flushRowExtensions(row)
                self.model.addCut(row)
                self.model.releaseRow(row)
            return {"result": scip.SCIP_RESULT.SEPARATED if found else scip.SCIP_RESULT.DIDNOTFIND}

    model.includeSepa(ClusterCuts(), "clusters", "cuts for clusters", priority=1000, freq=1)


if __name__ == "__main__":
    main()
