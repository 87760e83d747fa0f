"""Upper bounds on the score of any structure within the treewidth limit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from twbn import _core, interrupts
from twbn.checks import checked_n_jobs, half_of_memory
from twbn.deadline import Deadline
from twbn.interrupts import keeps_best
from twbn.scores.tabulate import tabulated
from twbn.search.bound.multipliers import Multipliers
from twbn.search.bound.relaxation import Relaxation
from twbn.search.bound.result import Bound, BoundPoint, BoundStatus
from twbn.search.feasibility import a_structure
from twbn.search.result import TOLERANCE
from twbn.search.run import check_limits
from twbn.solvers.process import SolverDiedError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable

__all__ = ["upper_bound"]

#: Largest number of variables for which the bound uses the dynamic program over subsets.
MAX_SUBSET_VARIABLES = 25
#: Largest treewidth for which rows on the number of edges pay off with many variables.
MAX_EDGE_TREEWIDTH = 3
#: Largest number of variables with edge rows by default, as the rows grow quadratically.
MAX_EDGE_VARIABLES = 500
#: Families that a round of pricing adds for one variable, at most.
FAMILIES_PER_ROUND = 10
#: Cuts that a round of separation adds, at most.
CUTS_PER_ROUND = 40
#: How far the prices of a round are moved towards the best known prices (Wentges, 1997).
SMOOTHING = 0.5
#: Rounds after which a cut that costs nothing is taken away.
IDLE_ROUNDS = 8
#: Steps and tenure of the tabu search for clusters; each is tried only if those before find none.
SEPARATION = ((40, 4), (120, 8), (400, 12), (1500, 20))


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
    on_bound
        Called with (seconds, bound) at every improvement.
    stop
        Stop when this is set.

    Notes
    -----
    The linear relaxation of structure learning with cuts for clusters of variables (Jaakkola and
    others, 2010; Bartlett and Cussens, 2017). Columns are generated, and the bound is that of the
    Lagrangian over all families (`FamilyPricer`), so it is valid however few are in the program.
    For few variables, the acyclicity rows are replaced by the dynamic program over subsets, which
    solves that part exactly, and rows on the number of edges account for treewidth.
    """
    limit = check_limits(treewidth, time_limit, None, seed, n_jobs)
    goal = _Goal(treewidth, Deadline(limit), seed, checked_n_jobs(n_jobs), good_enough, edges, stop)
    search = _BoundSearch(tabulated(scores), goal, on_bound)
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


class _Stopped(Exception):  # noqa: N818
    """Raised to end the search for a bound, with the reason as its status."""

    def __init__(self, status: BoundStatus) -> None:
        super().__init__(status)
        self.status = status


class _Goal(NamedTuple):
    """The options of one search for a bound."""

    treewidth: int
    deadline: Deadline
    seed: int
    n_jobs: int
    good_enough: float
    edges: bool | None
    stop: threading.Event | None


class _BoundSearch:
    """The rounds of one relaxation, and the best bound so far."""

    def __init__(
        self, table: ScoreTable, goal: _Goal, on_bound: Callable[[float, float], None] | None
    ) -> None:
        self._table = table
        self._goal = goal
        self._n = table.n_variables
        self._k = min(goal.treewidth, max(self._n - 1, 0))
        self._deadline = goal.deadline
        self._n_jobs = goal.n_jobs
        self._on_bound = on_bound
        self._multipliers = Multipliers()
        self._pricer = _core.FamilyPricer(table.index)
        self._trace: list[BoundPoint] = []
        self._n_rounds = self._n_rows = 0
        memory = half_of_memory() * 2**30
        self._by_subsets = (
            self._n <= MAX_SUBSET_VARIABLES and _core.subset_dp_bytes(self._n) <= memory
        )

    def run(self, floor: float) -> Bound:
        self._floor = floor
        status: BoundStatus = "complete"
        notes: tuple[str, ...] = ()
        try:
            self._improve(float(self._table.best().sum()))
            if self._n > 1 and self.value > floor:
                self._work()
        except _Stopped as reason:
            status = reason.status
        except TimeoutError:
            told = self._goal.stop is not None and self._goal.stop.is_set()
            status = "interrupted" if told else "time_limit"
        except KeyboardInterrupt:
            status = "interrupted"
        except SolverDiedError as error:
            status, notes = "solver_died", (str(error),)
        return Bound(
            value=self.value,
            treewidth=self._goal.treewidth,
            status=status,
            seconds=self._deadline.seconds,
            n_rounds=self._n_rounds,
            n_rows=self._n_rows,
            trace=tuple(self._trace),
            multipliers=self._multipliers,
            notes=notes,
        )

    @property
    def value(self) -> float:
        return self._trace[-1].bound if self._trace else math.inf

    def _improve(self, bound: float) -> None:
        """Record a bound, and raise if there is a reason to stop."""
        bound = max(bound, self._floor)
        if bound < self.value:
            self._trace.append(BoundPoint(self._deadline.seconds, bound))
            if self._on_bound is not None:
                self._on_bound(self._deadline.seconds, bound)
        enough = self._goal.good_enough
        if self.value <= enough + TOLERANCE * abs(enough):
            raise _Stopped("good_enough")
        stop = self._goal.stop
        if interrupts.pending() or (stop is not None and stop.is_set()):
            raise _Stopped("interrupted")
        self._deadline.check()

    def _work(self) -> None:
        if self._by_subsets:
            self._improve(self._subset_bound(Multipliers()))
        binding = self._k < self._n - 1
        with_edges = binding and (self._by_subsets or self._k <= MAX_EDGE_TREEWIDTH)
        with_edges = with_edges and self._n <= MAX_EDGE_VARIABLES
        if self._goal.edges is not None:
            with_edges = binding and self._goal.edges
        if self._by_subsets and not with_edges:
            return  # the relaxation could not improve on the dynamic program
        relaxation = Relaxation(self._table, self._k if with_edges else None, self._deadline)
        try:
            self._grow(relaxation, with_edges)
        finally:
            self._n_rows = relaxation.n_rows
            relaxation.close()

    def _grow(self, relaxation: Relaxation, with_edges: bool) -> None:
        """Add families that are worth more than their price, alternating with violated cuts."""
        relaxation.add_families(self._first_families())
        relaxation.add_clusters([list(range(self._n))])
        strategy: Literal["primal", "dual"] = "primal"
        center = None
        while True:
            relaxation.solve(strategy, self._goal.stop)
            self._n_rounds += 1
            here = self._multipliers = relaxation.multipliers()
            # Prices jump from round to round; a point near the best known is the better guide.
            tried = here if center is None else here.blend(center, SMOOTHING)
            values, bound = self._bound_at(tried)
            if bound < self.value:
                center = tried
            self._improve(bound)
            new = self._worthwhile(values, relaxation)
            if not len(new) and tried is not here:
                values, bound = self._bound_at(here)
                if bound < self.value:
                    center = here
                self._improve(bound)
                new = self._worthwhile(values, relaxation)
            if len(new):
                relaxation.add_families(new)
                strategy = "primal"
                continue
            strategy = "dual"
            relaxation.drop_idle_clusters(IDLE_ROUNDS)
            if self._cut(relaxation, with_edges) == 0:
                if self._by_subsets:
                    self._improve(self._subset_bound(here))
                return

    def _cut(self, relaxation: Relaxation, with_edges: bool) -> int:
        options: dict[str, Any] = {
            "max_cuts": CUTS_PER_ROUND,
            "seed": self._goal.seed + self._n_rounds,
        }
        clusters: list[list[int]] = []
        for n_steps, tenure in SEPARATION:
            clusters = relaxation.find_clusters(
                n_steps=n_steps, tenure=tenure, time_limit=self._time_left(), **options
            )
            if clusters:
                break
        if clusters:
            relaxation.add_clusters(clusters)
        n_cuts = len(clusters)
        if with_edges:
            if self._by_subsets and not clusters:
                self._improve(self._subset_bound(relaxation.multipliers()))
            n_cuts += relaxation.add_broken_pairs()
            dense = relaxation.find_dense_sets(n_steps=40, time_limit=self._time_left(), **options)
            if dense:
                relaxation.add_dense_sets(dense)
            n_cuts += len(dense)
        return n_cuts

    def _first_families(self) -> NDArray[np.int64]:
        """Return the best families of every variable, and those of one structure."""
        own = [self._table.positions(v) for v in range(self._n)]
        best = [np.array(positions[:10]) for positions in own]
        # Without the families of one structure, a cluster row might have no column at all.
        return np.concatenate([*best, a_structure(self._table)])

    def _worthwhile(self, values: NDArray[np.float64], relaxation: Relaxation) -> NDArray[np.int64]:
        """Return the best families not yet in the program, a few for each variable.

        The array is empty if the total gain would not be worth another round.
        """
        chosen, surplus = [], 0.0
        for v, price in enumerate(relaxation.prices()):
            own = self._table.positions(v)
            gains = values[own.start : own.stop] - price
            lacking = relaxation.lacks(own.start, own.stop)
            good = np.flatnonzero((gains > 1e-9 * abs(self.value)) & lacking)
            if not len(good):
                continue
            if len(good) > FAMILIES_PER_ROUND:
                good = good[np.argpartition(-gains[good], FAMILIES_PER_ROUND)[:FAMILIES_PER_ROUND]]
            surplus += float(gains[good].max())
            chosen.append(own.start + good)
        return np.concatenate(chosen) if surplus > 1e-6 * abs(self.value) else np.empty(0, np.int64)

    def _bound_at(self, multipliers: Multipliers) -> tuple[NDArray[np.float64], float]:
        """Return the value of every family at these prices, and the resulting bound."""
        values = self._values(multipliers)
        best = np.maximum.reduceat(values, self._table.variable_offsets[:-1])
        return values, float(best.sum()) + multipliers.constant(self._k)

    def _values(self, multipliers: Multipliers) -> NDArray[np.float64]:
        arcs = multipliers.arcs
        pairs = np.array(list(multipliers.pairs), dtype=np.int32).reshape(-1, 3)
        values = self._pricer.values(
            [list(members) for members in multipliers.clusters],
            list(multipliers.clusters.values()),
            np.empty(0) if arcs is None else arcs.ravel(),
            np.ascontiguousarray(pairs[:, 0]),
            np.ascontiguousarray(pairs[:, 1]),
            np.ascontiguousarray(pairs[:, 2]),
            np.array(list(multipliers.pairs.values()), dtype=np.float64),
            self._n_jobs,
            self._time_left(),
        )
        if not len(values):
            raise TimeoutError
        return values

    def _time_left(self) -> float | None:
        """Return the seconds left, or raise TimeoutError if there are none."""
        if self._deadline.passed:
            raise TimeoutError
        return self._deadline.left

    def _subset_bound(self, multipliers: Multipliers) -> float:
        """Return the bound in which acyclicity is enforced exactly and edges are priced."""
        edges_only = multipliers.without_clusters()
        values = self._values(edges_only)
        tables = _core.subset_tables(self._table.index, values, self._n_jobs, self._time_left())
        if not tables.complete():
            raise TimeoutError
        return tables.optimum() + edges_only.constant(self._k)
