"""The rounds behind an upper bound: ascent, relaxation, cuts, branching."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from twbn import _core, interrupts
from twbn.checks import half_of_memory
from twbn.deadline import Deadline
from twbn.search.bound.blocks import BlockBound
from twbn.search.bound.edge_branching import EdgeBranching, Relaxed
from twbn.search.bound.multipliers import Multipliers
from twbn.search.bound.pricing import Pricing
from twbn.search.bound.relaxation import Relaxation
from twbn.search.bound.result import Bound, BoundPoint, BoundStatus
from twbn.search.result import TOLERANCE
from twbn.solvers.process import SolverDiedError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from twbn.scores.score_table import ScoreTable

__all__ = ["BoundSearch", "Goal"]

#: Largest number of variables for which the bound uses the dynamic program over subsets.
MAX_SUBSET_VARIABLES = 25
#: Largest treewidth for which rows on the number of edges pay off with many variables.
MAX_EDGE_TREEWIDTH = 3
#: Largest number of variables with edge rows by default, as the rows grow quadratically.
MAX_EDGE_VARIABLES = 500
#: Cuts that a round of separation adds, at most.
CUTS_PER_ROUND = 40
#: How far the prices of a round are moved towards the best known prices (Wentges, 1997).
SMOOTHING = 0.5
#: Rounds after which a cut that costs nothing is taken away.
IDLE_ROUNDS = 8
#: Seconds of dual ascent between two looks at the clock, at most, and beyond the first climb: at
#: most, and as a share of the time left; it ends sooner after so many rounds without a gain.
SLICE, ASCENT_SECONDS, ASCENT_SHARE, IDLE_ASCENTS = 0.3, 3.0, 0.05, 1000
#: Share of the time left after which blocks are solved although there are still rows to add.
GROW_SHARE = 0.6
#: Rounds of pricing and cutting for one node, when branching on edges.
MAX_ROUNDS_A_NODE = 6
#: Steps and tenure of the tabu search for clusters; each is tried only if those before find none.
SEPARATION = ((40, 4), (120, 8), (400, 12), (1500, 20))


class _Stopped(Exception):  # noqa: N818
    """Raised to end the search for a bound, with the reason as its status."""

    def __init__(self, status: BoundStatus) -> None:
        super().__init__(status)
        self.status = status


class Goal(NamedTuple):
    """The options of one search for a bound; see `twbn.upper_bound`."""

    treewidth: int
    deadline: Deadline
    seed: int
    n_jobs: int
    good_enough: float
    edges: bool | None
    branch: bool
    stop: threading.Event | None


class BoundSearch:
    """The rounds of one relaxation, and the best bound so far."""

    def __init__(
        self, table: ScoreTable, goal: Goal, on_bound: Callable[[float, float], None] | None
    ) -> None:
        self._table = table
        self._goal = goal
        self._n = table.n_variables
        self._k = min(goal.treewidth, max(self._n - 1, 0))
        self._deadline = goal.deadline
        self._n_jobs = goal.n_jobs
        self._on_bound = on_bound
        self._multipliers = Multipliers()
        self._pricing = Pricing(table, self._k, goal.n_jobs, goal.deadline)
        self._trace: list[BoundPoint] = []
        self._n_rounds = self._n_rows = 0
        memory = half_of_memory() * 2**30
        self._by_subsets = (
            self._n <= MAX_SUBSET_VARIABLES and _core.subset_dp_bytes(self._n) <= memory
        )

    def run(self, floor: float) -> Bound:
        """Return the best bound found in time; none is claimed below `floor`."""
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
        """The best bound so far."""
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
        if not self._by_subsets:
            self._ascend()
        relaxation = Relaxation(self._table, self._k if with_edges else None, self._deadline)
        try:
            relaxation.add_families(self._pricing.first_families(self._multipliers))
            relaxation.add_clusters([list(range(self._n)), *map(list, self._multipliers.clusters)])
            if self._by_subsets or not (self._goal.branch and binding):
                self._grow(relaxation, with_edges)
                return
            until = self._deadline.share(GROW_SHARE)
            if self._grow(relaxation, with_edges, until):
                self._solve_blocks()
            else:
                self._solve_blocks()
                self._grow(relaxation, with_edges)
            if not with_edges:
                self._branch(relaxation)
        finally:
            self._n_rows = relaxation.n_rows
            relaxation.close()

    def _ascend(self) -> None:
        """Raise the prices of clusters one at a time: a bound at once, and a start for the rest."""
        ascent = _core.DualAscent(self._table.index, self._goal.seed)
        while not ascent.climb(min(self._time_left() or SLICE, SLICE)):
            self._improve(self._ascended(ascent))
        self._improve(self._ascended(ascent))
        left = self._time_left()
        rest = Deadline(
            ASCENT_SECONDS if left is None else min(ASCENT_SECONDS, ASCENT_SHARE * left)
        )
        while not rest.passed:
            ascent.improve(IDLE_ASCENTS, min(rest.left or SLICE, SLICE))
            self._improve(self._ascended(ascent))

    def _ascended(self, ascent: _core.DualAscent) -> float:
        """Return the bound at the prices of an ascent, computed anew."""
        clusters = map(tuple, ascent.clusters())
        self._multipliers = Multipliers.of_clusters(zip(clusters, ascent.prices(), strict=True))
        return self._pricing.bound_at(self._multipliers)[1]

    def _grow(
        self, relaxation: Relaxation, with_edges: bool, until: Deadline | None = None
    ) -> bool:
        """Add families that are worth more than their price, alternating with violated cuts.

        Returns whether there are no more: not if the time is over before.
        """
        strategy: Literal["primal", "dual"] = "primal"
        center = None
        while until is None or not until.passed:
            relaxation.solve(strategy, self._goal.stop)
            self._n_rounds += 1
            here = self._multipliers = relaxation.multipliers()
            # Prices jump from round to round; a point near the best known is the better guide.
            tried = here if center is None else here.blend(center, SMOOTHING)
            values, bound = self._pricing.bound_at(tried)
            if bound < self.value:
                center = tried
            self._improve(bound)
            new = self._pricing.worthwhile(values, relaxation, self.value)
            if not len(new) and tried is not here:
                values, bound = self._pricing.bound_at(here)
                if bound < self.value:
                    center = here
                self._improve(bound)
                new = self._pricing.worthwhile(values, relaxation, self.value)
            if len(new):
                relaxation.add_families(new)
                strategy = "primal"
                continue
            strategy = "dual"
            relaxation.drop_idle_clusters(IDLE_ROUNDS)
            if self._cut(relaxation, with_edges) == 0:
                if self._by_subsets:
                    self._improve(self._subset_bound(here))
                return True
        if center is not None:
            self._multipliers = center
        return False

    def _solve_blocks(self) -> None:
        """Solve blocks of variables exactly at the prices of the relaxation."""
        blocks = BlockBound(
            self._table,
            self._pricing,
            self._multipliers,
            self._k,
            self.value,
            n_jobs=self._n_jobs,
            deadline=self._deadline,
            seed=self._goal.seed,
            stop=lambda: self._improve(math.inf),
        )
        for bound in blocks.bounds():
            self._improve(bound)

    def _branch(self, relaxation: Relaxation) -> None:
        """Branch on moral edges, which the rows of the relaxation know nothing of."""
        relaxation.drop_idle_clusters(1)

        def relax(blocked: NDArray[np.bool_]) -> Relaxed:
            relaxation.allow(blocked)
            strategy: Literal["primal", "dual"] = "dual"
            best = math.inf
            for _ in range(MAX_ROUNDS_A_NODE):
                relaxation.solve(strategy, self._goal.stop)
                self._n_rounds += 1
                used = relaxation.used()
                prices = relaxation.multipliers()
                values = self._pricing.values(prices)
                values[blocked] = -math.inf
                best = min(best, self._pricing.total(values, prices))
                new = self._pricing.worthwhile(values, relaxation, self.value)
                strategy = "primal" if len(new) else "dual"
                if len(new):
                    relaxation.add_families(new)
                elif not self._cut(relaxation, with_edges=False, n_levels=1):
                    break
            return best, *used

        for bound in EdgeBranching(self._table, self._k, relax).bounds():
            self._improve(bound)

    def _cut(self, relaxation: Relaxation, with_edges: bool, n_levels: int | None = None) -> int:
        """Add violated cuts, looked for at some levels of effort; return how many."""
        options: dict[str, Any] = {
            "max_cuts": CUTS_PER_ROUND,
            "seed": self._goal.seed + self._n_rounds,
        }
        clusters: list[list[int]] = []
        for n_steps, tenure in SEPARATION[:n_levels]:
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

    def _time_left(self) -> float | None:
        """Return the seconds left, or raise TimeoutError if there are none."""
        if self._deadline.passed:
            raise TimeoutError
        return self._deadline.left

    def _subset_bound(self, multipliers: Multipliers) -> float:
        """Return the bound in which acyclicity is enforced exactly and edges are priced."""
        edges_only = multipliers.with_clusters({})
        values = self._pricing.values(edges_only)
        tables = _core.subset_tables(self._table.index, values, self._n_jobs, self._time_left())
        if not tables.complete():
            raise TimeoutError
        return tables.optimum() + edges_only.constant(self._k)
