"""Upper bounds on the score of any structure within the treewidth limit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from twbn.checks import checked_n_jobs
from twbn.deadline import Deadline
from twbn.interrupts import keeps_best
from twbn.scores.tabulate import tabulated
from twbn.search.bound.rounds import BoundSearch, Goal
from twbn.search.run import check_limits

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from twbn.scores.protocol import LocalScores
    from twbn.search.bound.result import Bound, BoundStatus

__all__ = ["upper_bound"]


@keeps_best
def upper_bound(
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None = 60.0,
    seed: int = 0,
    n_jobs: int | None = None,
    good_enough: float = -math.inf,
    edges: bool | None = None,
    branch: bool = True,
    on_bound: Callable[[float, float], None] | None = None,
    stop: threading.Event | None = None,
) -> Bound:
    """Return an upper bound on the score of every structure within the treewidth limit.

    Parameters
    ----------
    time_limit
        Seconds. The bound is valid whenever the computation stops, and decreases with time.
    good_enough
        Stop as soon as the bound is this low (for example, the score of a known structure).
    edges
        Whether to add rows on the number of edges; by default, only where they pay off.
    branch
        Whether to go beyond the relaxation: to solve blocks of variables, and to branch on edges.
    on_bound
        Called with (seconds, bound) at every improvement.
    stop
        Stop when this is set.

    Notes
    -----
    The linear relaxation of structure learning with cuts for clusters of variables (Jaakkola and
    others, 2010; Bartlett and Cussens, 2017). Columns are generated, and the bound is that of the
    Lagrangian over all families (`FamilyPricer`), so it is valid however few are in the program.
    The prices of clusters are first raised one at a time (`DualAscent`), which gives a bound at
    once and a start for the rest. Where treewidth is not in the rows, blocks of variables are then
    solved exactly at its prices (`BlockBound`), and the relaxation is branched on moral edges
    (`EdgeBranching`). For few variables, the acyclicity rows are replaced
    by the dynamic program over subsets, which solves that part exactly, and rows on the number of
    edges account for treewidth.
    """
    limit = check_limits(treewidth, time_limit, None, seed, n_jobs)
    goal = Goal(
        treewidth,
        Deadline(limit),
        seed,
        checked_n_jobs(n_jobs),
        good_enough,
        edges,
        branch,
        stop,
    )
    search = BoundSearch(tabulated(scores), goal, on_bound)
    # If parent sets are missing, the table bounds only structures made of the sets it has.
    if scores.info.status in {"complete", "lazy"}:
        return search.run(-math.inf)
    found = search.run(scores.trivial_bound())
    note = (
        f"not all parent sets were scored ({scores.info.status.replace('_', ' ')}), and those that "
        "were not may be better: allow more time, or fewer parents (max_parents)"
    )
    status: BoundStatus = "time_limit" if found.status == "complete" else found.status
    return replace(found, status=status, notes=(*found.notes, note))
