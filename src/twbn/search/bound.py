"""Upper bounds for any number of variables: what no network of bounded treewidth can exceed."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import _core, interrupts
from twbn.interrupts import keeps_best
from twbn.scores.compute import default_memory_limit, n_workers
from twbn.scores.tabulate import tabulated
from twbn.search.feasibility import a_network
from twbn.search.options import check_budget
from twbn.search.relaxation import Multipliers, Relaxation
from twbn.search.result import TOLERANCE
from twbn.search.solver import SolverDiedError

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from numpy.typing import NDArray

    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable

__all__ = ["Bound", "BoundPoint", "upper_bound"]

#: Variables up to which the dynamic programme over subsets is part of the bound.
MAX_SUBSET_VARIABLES = 25
#: Treewidth up to which rows on the number of edges are worth their price for many variables.
MAX_EDGE_TREEWIDTH = 3
#: Variables up to which there are rows on edges by default: they are quadratic in number.
MAX_EDGE_VARIABLES = 500
#: Families that a round of pricing adds for one variable, at most.
FAMILIES_PER_ROUND = 10
#: Cuts that a round of separation adds, at most.
CUTS_PER_ROUND = 40
#: How far towards the best prices known the prices of a round are moved (Wentges, 1997).
SMOOTHING = 0.5
#: Rounds after which a cut that costs nothing is taken away.
IDLE_ROUNDS = 8
#: Steps and tenure of the tabu search for clusters: more effort only where less finds nothing.
SEPARATION = ((40, 4), (120, 8), (400, 12), (1500, 20))


@dataclass(frozen=True)
class BoundPoint:
    """The bound at one time."""

    seconds: float
    bound: float


@dataclass(frozen=True)
class Bound:
    """An upper bound of the score of every network within the treewidth bound."""

    value: float
    treewidth: int
    status: str  # complete (nothing left to add), time_limit, interrupted, good_enough, solver_died
    seconds: float
    n_rounds: int
    n_rows: int
    trace: tuple[BoundPoint, ...]
    multipliers: Multipliers  # of the last relaxation: what is not in it was not tight
    notes: tuple[str, ...] = ()

    def gap(self, score: float) -> float:
        """Return how far above a score the bound is, as a share of the score."""
        return max(self.value - score, 0.0) / max(abs(score), 1e-12)


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
    """Return a number that no network of bounded treewidth exceeds.

    Parameters
    ----------
    time_limit
        Seconds. The bound holds whenever it is stopped; it falls with time.
    good_enough
        Stop as soon as the bound is this low (the score of a known network, say).
    edges
        Have rows on the number of edges; by default where they are worth their price.
    on_bound
        Called with (seconds, bound) at every improvement.
    stop
        Stop when this is set.

    Notes
    -----
    The linear relaxation of structure learning with cuts for clusters of variables (Jaakkola and
    others, 2010; Bartlett and Cussens, 2017). Columns are generated, and the bound is that of the
    Lagrangian over all families (`FamilyPricer`), so it is valid however few are in the program.
    For few variables the rows on acyclicity are replaced by the dynamic programme over subsets,
    which solves that part exactly, and rows on the number of edges charge for treewidth.
    """
    time_limit = check_budget(treewidth, time_limit, None, seed, n_jobs)
    search = _BoundSearch(
        tabulated(scores), treewidth, time_limit, seed, n_workers(n_jobs), good_enough, edges,
        on_bound, stop,
    )  # fmt: skip
    # A table in which sets are missing bounds only networks of its own sets.
    if scores.info.status in {"complete", "lazy"}:
        return search.run(-math.inf)
    found = search.run(scores.upper_bound())
    note = (
        f"not all parent sets were scored ({scores.info.status.replace('_', ' ')}), and those that "
        "were not may be better: allow more time, or fewer parents (max_parents)"
    )
    status = "time_limit" if found.status == "complete" else found.status
    return replace(found, status=status, notes=(*found.notes, note))


class _Stopped(Exception):  # noqa: N818
    """The search for a bound is to end, for the reason given."""


class _BoundSearch:
    def __init__(
        self,
        table: ScoreTable,
        treewidth: int,
        time_limit: float | None,
        seed: int,
        n_jobs: int,
        good_enough: float,
        edges: bool | None,
        on_bound: Callable[[float, float], None] | None,
        stop: threading.Event | None,
    ) -> None:
        self._table = table
        self._n = table.n_variables
        self._k = min(treewidth, max(self._n - 1, 0))
        self._treewidth = treewidth
        self._begun = time.perf_counter()
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._seed = seed
        self._n_jobs = n_jobs
        self._good_enough = good_enough
        self._edges = edges
        self._on_bound = on_bound
        self._multipliers = Multipliers()
        self._stop = stop
        self._pricer = _core.FamilyPricer(table.index)
        self._trace: list[BoundPoint] = []
        self._n_rounds = self._n_rows = 0
        memory = default_memory_limit() * 2**30
        self._by_subsets = (
            self._n <= MAX_SUBSET_VARIABLES and _core.subset_dp_bytes(self._n) <= memory
        )

    def run(self, floor: float) -> Bound:
        self._floor = floor
        status = "complete"
        notes: tuple[str, ...] = ()
        try:
            self._improve(float(self._table.best().sum()))
            if self._n > 1 and self.value > floor:
                self._work()
        except _Stopped as reason:
            status = str(reason)
        except TimeoutError:
            told = self._stop is not None and self._stop.is_set()
            status = "interrupted" if told else "time_limit"
        except KeyboardInterrupt:
            status = "interrupted"
        except SolverDiedError as error:
            status, notes = "solver_died", (str(error),)
        return Bound(
            self.value, self._treewidth, status, self._seconds, self._n_rounds, self._n_rows,
            tuple(self._trace), self._multipliers, notes,
        )  # fmt: skip

    @property
    def value(self) -> float:
        return self._trace[-1].bound if self._trace else math.inf

    @property
    def _seconds(self) -> float:
        return time.perf_counter() - self._begun

    def _improve(self, bound: float) -> None:
        """Note a bound, and see whether there is reason to stop."""
        bound = max(bound, self._floor)
        if bound < self.value:
            self._trace.append(BoundPoint(self._seconds, bound))
            if self._on_bound is not None:
                self._on_bound(self._seconds, bound)
        if self.value <= self._good_enough + TOLERANCE * abs(self._good_enough):
            raise _Stopped("good_enough")  # noqa: EM101
        if interrupts.pending() or (self._stop is not None and self._stop.is_set()):
            raise _Stopped("interrupted")  # noqa: EM101
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise TimeoutError

    def _work(self) -> None:
        if self._by_subsets:
            self._improve(self._subset_bound(Multipliers()))
        binding = self._k < self._n - 1
        with_edges = binding and (self._by_subsets or self._k <= MAX_EDGE_TREEWIDTH)
        with_edges = with_edges and self._n <= MAX_EDGE_VARIABLES
        if self._edges is not None:
            with_edges = binding and self._edges
        if self._by_subsets and not with_edges:
            return  # the dynamic programme has said all there is
        relaxation = Relaxation(self._table, self._k if with_edges else None, self._time_left)
        try:
            self._grow(relaxation, with_edges)
        finally:
            self._n_rows = relaxation.n_rows
            relaxation.close()

    def _grow(self, relaxation: Relaxation, with_edges: bool) -> None:
        """Add families that are worth more than they cost, and cuts that are broken, in turns."""
        relaxation.add_families(self._first_families())
        relaxation.add_clusters([list(range(self._n))])
        strategy = "primal"
        center = None
        while True:
            relaxation.solve(strategy, self._deadline, self._stop)
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
            "seed": self._seed + self._n_rounds,
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
        """Return the best families of every variable, and those of one network."""
        first, last = self._table.variable_offsets[:-1], self._table.variable_offsets[1:]
        best = [np.arange(a, min(a + 10, b)) for a, b in zip(first, last, strict=True)]
        # The families of one network, or some cluster may have no family without parents in it.
        return np.concatenate([*best, a_network(self._table)])

    def _worthwhile(self, values: NDArray[np.float64], relaxation: Relaxation) -> NDArray[np.int64]:
        """Return the best families that the program lacks, some for each variable.

        None, if no variable would gain anything worth a round.
        """
        chosen, surplus = [], 0.0
        for v, price in enumerate(relaxation.prices()):
            first, last = self._table.variable_offsets[v : v + 2]
            gains = values[first:last] - price
            good = np.flatnonzero((gains > 1e-9 * abs(self.value)) & relaxation.lacks(first, last))
            if not len(good):
                continue
            if len(good) > FAMILIES_PER_ROUND:
                good = good[np.argpartition(-gains[good], FAMILIES_PER_ROUND)[:FAMILIES_PER_ROUND]]
            surplus += float(gains[good].max())
            chosen.append(first + good)
        return np.concatenate(chosen) if surplus > 1e-6 * abs(self.value) else np.empty(0, np.int64)

    def _bound_at(self, multipliers: Multipliers) -> tuple[NDArray[np.float64], float]:
        """Return what every family is worth at these prices, and the bound that follows."""
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
        """Return the seconds that are left; TimeoutError if there are none."""
        left = None if self._deadline is None else self._deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        return left

    def _subset_bound(self, multipliers: Multipliers) -> float:
        """Return the bound in which acyclicity is exact and edges have their prices."""
        edges_only = multipliers.without_clusters()
        values = self._values(edges_only)
        tables = _core.subset_tables(self._table.index, values, self._n_jobs, self._time_left())
        if not tables.complete():
            raise TimeoutError
        return tables.optimum() + edges_only.constant(self._k)
