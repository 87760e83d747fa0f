"""The child process that runs RC2; the only module that imports python-sat.

The encoding has a variable for every parent set, for every pair in two linear orders (one for
elimination, one for the structure) and for every edge of a graph that contains the moral graph of
the structure; the number of edges to later vertices is limited.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.solvers.child import serve
from twbn.solvers.job import Done, Incumbent, NewBound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from twbn.solvers.child import Send
    from twbn.solvers.job import MaxSatJob

__all__ = ["main"]


#: Losses are rounded to multiples of these fractions of the largest loss, one after the other.
STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)


class _TooManyCores(Exception):  # noqa: N818
    """The limit on cores is reached."""


def main() -> None:
    """Solve the job on standard input."""
    serve(_solve_ever_finer)


def _solve_ever_finer(job: MaxSatJob, send: Send) -> None:
    """Solve with finer and finer weights.

    Cores with many different weights converge slowly, so a coarse rounding comes first: its
    solution is a structure, and its cost gives a bound once the rounding is allowed for.
    """
    bound, x, n_cores = np.inf, None, 0
    possible = job.losses[np.isfinite(job.losses)]
    largest = max(float(possible.max(initial=0.0)), 1e-300)
    for share in STEPS:
        step = largest * share
        slack = step * (job.n_variables / 2 + 1)  # half a step for each set that is chosen
        try:
            found, cost, n_cores = _solve(job, step, slack, n_cores, send)
        except _TooManyCores as limit:
            cost = int(limit.args[0])
            bound = min(bound, job.best - cost * step + slack)
            send(Done("iteration_limit", x, n_cores, bound))
            return
        if found is None:
            send(Done("infeasible", None, n_cores, np.inf))
            return
        x, bound = found, min(bound, job.best - cost * step + slack)
        send(Incumbent(x, bound))
    send(Done("optimal", x, n_cores, bound))


def _solve(
    job: MaxSatJob, step: float, slack: float, n_cores: int, send: Send
) -> tuple[NDArray[np.float64] | None, int, int]:
    """Return the best structure for losses in whole steps (or None), its cost, number of cores."""
    from pysat.examples.rc2 import RC2Stratified

    losses = np.where(np.isfinite(job.losses), job.losses, -step)  # -1: must not be chosen
    formula, sets, before = _encode(job, np.rint(losses / step).astype(np.int64))

    class Solver(RC2Stratified):  # type: ignore[misc]
        def process_core(self) -> None:
            nonlocal n_cores
            super().process_core()
            n_cores += 1
            send(NewBound(job.best - self.cost * step + slack))
            if job.max_cores is not None and n_cores >= job.max_cores:
                raise _TooManyCores(self.cost)

    with Solver(formula) as solver:
        model = solver.compute()
        cost = int(solver.cost)
    if model is None:
        return None, cost, n_cores
    true = {literal for literal in model if literal > 0}
    # Several sets of one variable may be true; they are in order of their losses.
    chosen = [next(t for t in own if sets[t] in true) for own in _own_sets(job)]
    n = job.n_variables
    n_before = [sum(before(i, j) in true for i in range(n) if i != j) for j in range(n)]
    order = np.argsort(n_before, kind="stable")
    return np.array([*chosen, *order], dtype=np.float64), cost, n_cores


def _own_sets(job: MaxSatJob) -> list[range]:
    return [range(*job.variable_offsets[v : v + 2].tolist()) for v in range(job.n_variables)]


def _encode(
    job: MaxSatJob, losses: NDArray[np.int64]
) -> tuple[Any, list[int], Callable[[int, int], int]]:
    """Return the formula, the variable of every parent set, and that of "i before j"."""
    from pysat.card import CardEnc
    from pysat.formula import WCNF, IDPool

    n, names, formula = job.n_variables, IDPool(), WCNF()

    def ordered(kind: str, i: int, j: int) -> int:
        """Return the literal for "i before j": one variable for a pair, either way."""
        return int(names.id((kind, i, j))) if i < j else -int(names.id((kind, j, i)))

    def edge(i: int, j: int) -> int:
        return int(names.id(("edge", min(i, j), max(i, j))))

    for kind in ("eliminated", "network"):
        for i, j, k in permutations(range(n), 3):  # transitive
            formula.append([-ordered(kind, i, j), -ordered(kind, j, k), ordered(kind, i, k)])
    sets = [int(names.id(("set", t))) for t in range(len(losses))]
    for child, own in enumerate(_own_sets(job)):
        formula.append([sets[t] for t in own])
        for t in own:
            if losses[t] < 0:
                formula.append([-sets[t]])
                continue
            parents = job.parents[job.set_offsets[t] : job.set_offsets[t + 1]].tolist()
            for p in parents:
                formula.append([-sets[t], ordered("network", p, child)])
            for a, b in combinations((child, *parents), 2):
                formula.append([-sets[t], edge(a, b)])
        _weigh(formula, names, child, [(int(losses[t]), sets[t]) for t in own])
    for clause in _width_clauses(n, job.treewidth, names, ordered, edge, CardEnc):
        formula.append(clause)

    def before(i: int, j: int) -> int:
        """Return a variable that is true only if i is eliminated before j."""
        return int(names.id(("before", i, j)))

    for i, j in permutations(range(n), 2):
        formula.append([-before(i, j), ordered("eliminated", i, j)])
        formula.append([before(i, j), -ordered("eliminated", i, j)])
    return formula, sets, before


def _weigh(formula: Any, names: Any, child: int, sets: list[tuple[int, int]]) -> None:
    """Add soft clauses for the losses of a variable's sets, one for each step between losses.

    The clause of a step says "the loss is less than this" and implies that of the next step. A core
    then contains one step of a variable; one clause per set would put all its sets into every core.
    """
    last, lower = 0, None
    for loss in sorted({loss for loss, _ in sets if loss > 0}):
        step = int(names.id(("loss", child, loss)))
        if lower is not None:
            formula.append([-step, lower])
        formula.append([-step], weight=loss - last)
        last, lower = loss, step
    for loss, literal in sets:
        if loss > 0:
            formula.append([-literal, int(names.id(("loss", child, loss)))])


def _width_clauses(
    n: int,
    k: int,
    names: Any,
    ordered: Callable[[str, int, int], int],
    edge: Callable[[int, int], int],
    cards: Any,
) -> Iterator[list[int]]:
    """Yield clauses that allow at most k later neighbours, and make any two of them adjacent."""

    def later(i: int, j: int) -> int:
        return int(names.id(("later", i, j)))

    for i, j in permutations(range(n), 2):
        yield [-edge(i, j), -ordered("eliminated", i, j), later(i, j)]
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j, h in combinations(others, 2):
            yield [-later(i, j), -later(i, h), edge(j, h)]
        if len(others) > k:
            literals = [later(i, j) for j in others]
            yield from cards.atmost(lits=literals, bound=k, vpool=names).clauses


if __name__ == "__main__":
    main()
