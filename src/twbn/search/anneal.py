"""Simulated annealing in the space of networks, with the treewidth checked last."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from twbn import interrupts
from twbn.cluster import active_cluster
from twbn.errors import OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.ktree import KTree
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.interrupts import keeps_best
from twbn.scores.score_table import ScoreTable
from twbn.search.chains import Chain, Round, run_in_threads, run_on_cluster
from twbn.search.feasibility import a_network
from twbn.search.ktree_dp import best_dag_inside
from twbn.search.options import SearchOptions
from twbn.search.result import TOLERANCE, SearchResult, TracePoint
from twbn.search.sample import sample

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.options import Improvement, Progress, Start

__all__ = ["anneal", "temperature_scale"]

#: The hottest temperature, as a share of what a variable gains from its best parents on average.
HOTTEST = 0.2
#: The coldest: log scores that differ by less are the same to any reader; or, where scores are
#: large, this share of the same gain.
COLDEST, COLDEST_SHARE = 0.2, 0.0005
#: Share of the budget for the first round, which starts from nothing.
FIRST_SHARE = 0.2
#: Rounds after it, each from the best network known, reheated to a share drawn from this range.
REHEATS = 24
REHEATED = (0.01, 0.4)
#: Proposals for each variable in a round that settle a problem, so that starting afresh pays.
ENOUGH_TO_START_AFRESH = 30_000
#: Chains of a budget in proposals, whatever the number of workers.
CHAINS = 2
#: Budgets in proposals below which there is one round, with one chain.
LEAST_FOR_ROUNDS = 20_000
#: Variables whose gain is looked at where scores are computed on demand.
MAX_SCALE_VARIABLES = 50
#: The longest round on a cluster, and the number of failed ones after which it is given up.
CLUSTER_ROUND_SECONDS = 60.0
MAX_LOST_ROUNDS = 2
#: How often to tell of a better network.
SECONDS_BETWEEN_NEWS = 1.0
#: Treewidth and variables up to which the best network inside a k-tree takes milliseconds.
MAX_POLISH_WIDTH, MAX_POLISH_VARIABLES = 4, 300


@keeps_best
def anneal(
    scores: LocalScores,
    *,
    treewidth: int,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    start: Start | None = None,
    on_progress: Progress | None = None,
    on_improvement: Improvement | None = None,
) -> SearchResult:
    """Return the best network that simulated annealing finds.

    An iteration is one proposal to give a variable other parents. `on_improvement` is called with
    the best result so far, at most once a second.

    Notes
    -----
    Metropolis's rule decides by the score, which costs nanoseconds; what passes must be acyclic
    (an order is kept up to date) and of bounded treewidth (an elimination forest is, too). The
    temperatures come from the scores themselves. A first round cools down from hot; the others go
    on from the best network known, reheated more or less. A chain ends with windows of twelve
    variables that are solved exactly. For small treewidths the best network
    inside the decomposition is taken after every round (`polish`).
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    search = _Annealing(scores, options, on_progress, on_improvement)
    if options.n > 1:
        search.run()
    return search.result()


class _Annealing:
    """The rounds of one run, and the best network so far."""

    def __init__(
        self,
        scores: LocalScores,
        options: SearchOptions,
        on_progress: Progress | None,
        on_improvement: Improvement | None,
    ) -> None:
        self._scores = scores
        self._options = options
        self._on_progress = on_progress
        self._on_improvement = on_improvement
        self._cluster = active_cluster() if isinstance(scores, ScoreTable) else None
        self._n_lost = 0
        self._told, self._told_score = time.perf_counter(), -math.inf
        self._bound = scores.upper_bound()
        self._best = self._first = self._pending = _first(scores, options)
        self._given = options.start is not None
        self._n_done = self._n_accepted = 0
        self._interrupted = self._out_of_time = False
        self._trace = [TracePoint(options.seconds, 0, self._best.score, self._bound)]

    def run(self) -> None:
        options = self._options
        self._scale = temperature_scale(self._scores)
        self._coldest = max(COLDEST, COLDEST_SHARE * self._scale)
        rng = np.random.default_rng(options.seed)
        n_reheats = REHEATS
        if self._cluster is not None and options.time_limit is not None:
            # What a round has found is known when it ends: long runs have more of them.
            n_reheats = max(REHEATS, math.ceil(options.time_limit / CLUSTER_ROUND_SECONDS))
        first = FIRST_SHARE if n_reheats == REHEATS else 1 / (n_reheats + 1)
        shares = [first, *[(1 - first) / n_reheats] * n_reheats]
        budget = options.max_iterations
        if budget is not None and budget < LEAST_FOR_ROUNDS:
            shares = [1.0]
        time_left = options.time_left or math.inf
        per_variable = 0.0
        for number, share in enumerate(shares):
            low, high = np.log(REHEATED)
            hottest = math.exp(rng.uniform(low, high)) if number or self._given else HOTTEST
            last = number == len(shares) - 1
            if budget is None:
                left = options.time_left or 0.0
                seconds = left if last else min(share * time_left, left)
                n_chains, each = self._n_chains(), -1
            else:
                seconds = options.time_left or math.inf
                n_chains = 1 if len(shares) == 1 else CHAINS
                each = (budget - self._n_done if last else int(share * budget)) // n_chains
            # Small problems are settled in a fraction of a round: some of these start afresh.
            fresh = number % 4 == 3 and per_variable >= ENOUGH_TO_START_AFRESH
            if fresh:
                hottest = HOTTEST
            before = self._n_done
            start = self._first if fresh else self._best
            self._round(start, n_chains, number, hottest, each, seconds)
            per_variable = (self._n_done - before) / n_chains / options.n
            if self._done(last):
                return

    def _n_chains(self) -> int:
        """Return how many chains a round by time has."""
        return self._options.n_jobs if self._cluster is None else self._cluster.n_workers

    def _round(
        self,
        start: Chain,
        n_chains: int,
        number: int,
        hottest: float,
        each: int,
        seconds: float,
    ) -> None:
        """Cool several chains down, all from one network."""
        options = self._options
        work = Round(
            start,
            options.k,
            [number * n_chains + chain for chain in range(n_chains)],
            max(hottest * self._scale, self._coldest),
            self._coldest,
            options.seed,
            each,
            seconds,
        )
        found, n_done, interrupted = self._run(work)
        self._interrupted = interrupted or interrupts.pending()
        self._n_done += n_done
        if self._cluster is not None and self._on_progress is not None:
            self._on_progress(options.seconds, self._n_done, self._best.score)
        for chain in found:
            self._n_accepted += chain.n_accepted
            if chain.score > self._best.score:
                self._best = chain
        self._tell()

    def _run(self, work: Round) -> tuple[list[Chain], int, bool]:
        if self._cluster is not None and isinstance(self._scores, ScoreTable):
            try:
                return run_on_cluster(self._cluster, self._scores, work)
            except KeyboardInterrupt:
                return [], 0, True
            except Exception as error:  # whatever the backend raises when workers are gone
                self._n_lost += 1
                self._why_lost = f"{type(error).__name__}: {error}"
                if self._n_lost == MAX_LOST_ROUNDS:
                    self._cluster = None
                left = self._options.time_left or math.inf
                work = work._replace(seconds=min(work.seconds, left))
        watched = self._on_progress is not None or self._on_improvement is not None
        before, live = self._n_done, self._best.score

        def on_best(score: float, parents: list[list[int]], order: list[int]) -> None:
            nonlocal live
            if score > self._best.score:
                live = score
                self._pending = Chain(score, parents, order)

        def report(n_done: int) -> None:
            self._tell()
            if self._on_progress is not None:
                self._on_progress(self._options.seconds, before + n_done, live)

        return run_in_threads(
            self._scores,
            work,
            self._options.n_jobs,
            report if watched else None,
            on_best if watched else None,
        )

    def _tell(self) -> None:
        """Hand on the best network so far, if it is news and a second has passed."""
        best = max(self._best, self._pending, key=lambda chain: chain.score)
        now = time.perf_counter()
        if (
            self._on_improvement is None
            or best.score <= self._told_score
            or now - self._told < SECONDS_BETWEEN_NEWS
        ):
            return
        self._told, self._told_score = now, best.score
        self._on_improvement(self._result(best, "time_limit"))

    def _done(self, last: bool) -> bool:
        """Polish what the round found, note it, and say whether there is reason to stop."""
        options, best = self._options, self._best
        if best.score > self._trace[-1].score:
            small = options.k <= MAX_POLISH_WIDTH and options.n <= MAX_POLISH_VARIABLES
            if small and not self._interrupted:
                self._polish()
            point = TracePoint(options.seconds, self._n_done, self._best.score, self._bound)
            self._trace.append(point)
        optimal = self._best.score >= self._bound - TOLERANCE * abs(self._bound)
        # A budget in proposals is used up, so that answers do not depend on who comes first.
        over = options.time_limit is not None and (options.time_left or 0.0) <= 0.001
        if over and options.max_iterations is not None:
            self._out_of_time = self._n_done < options.max_iterations - CHAINS
        return last or over or self._interrupted or (optimal and options.max_iterations is None)

    def _polish(self) -> None:
        """Take the best network inside the decomposition of the one there is, if it is better."""
        n, k = self._options.n, self._options.k
        dag = Dag(tuple(map(tuple, self._best.parents)))
        proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), self._best.order)
        tree = KTree.containing(proof, n, k)
        try:
            better, score = best_dag_inside(tree, self._scores, time_limit=self._options.time_left)
        except KeyboardInterrupt:
            self._interrupted = True
            return
        except TimeoutError:
            return
        if score > self._best.score + TOLERANCE * abs(score):
            self._best = _as_chain(score, better, tree.decomposition())

    def result(self) -> SearchResult:
        """Return the best network with what is known of it."""
        options, score = self._options, self._best.score
        by_time = options.max_iterations is None or self._out_of_time
        status = "time_limit" if by_time else "iteration_limit"
        if score >= self._bound - TOLERANCE * abs(self._bound):
            status = "optimal"
        elif self._interrupted:
            status = "interrupted"
        return self._result(self._best, status)

    def _result(self, best: Chain, status: str) -> SearchResult:
        options, scores = self._options, self._scores
        dag = Dag(tuple(map(tuple, best.parents)))
        proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), best.order)
        score = scores.total(dag)  # summed in one order
        point = TracePoint(options.seconds, self._n_done, score, self._bound)
        if best.score > self._trace[-1].score:
            trace = [*self._trace, point]
        else:
            trace = [*self._trace[:-1], self._trace[-1]._replace(score=score)]
        notes = options.notes
        if self._n_lost:
            lost = f"{self._n_lost} round{'s' * (self._n_lost > 1)} of the cluster failed"
            notes = (*notes, f"{lost} and ran here instead ({self._why_lost})")
        return SearchResult(
            scores, dag, proof, options.treewidth, "anneal", status, self._bound, self._n_done,
            options.seconds, options.seed, tuple(trace), notes, self._n_accepted,
        )  # fmt: skip


def temperature_scale(scores: LocalScores) -> float:
    """Return what a variable gains from its best parents, on average over the variables."""
    n = scores.n_variables
    if isinstance(scores, ScoreTable):
        best = scores.best()
        empty = np.array([scores.local(v, ()) for v in range(n)])
    else:  # the best single parent, for some of the variables
        some = np.linspace(0, n - 1, min(n, MAX_SCALE_VARIABLES)).astype(int).tolist()
        best = np.array([max(scores.local(v, (u,)) for u in range(n) if u != v) for v in some])
        empty = np.array([scores.local(v, ()) for v in some])
    gains = (best - empty)[np.isfinite(best - empty)]
    return float(gains.clip(min=0.0).mean()) if len(gains) else 0.0


def _first(scores: LocalScores, options: SearchOptions) -> Chain:
    """Return the network to begin with: the given one, or the one without arcs."""
    if options.start is not None:
        dag, proof = options.start
        return _as_chain(scores.total(dag), dag, proof)
    empty = Dag.empty(options.n)
    score = scores.total(empty)
    if score > -math.inf:
        return Chain(score, [[] for _ in range(options.n)], list(range(options.n)))
    required = _required(scores, options) if isinstance(scores, ScoreTable) else None
    if required is not None:
        return required
    try:
        found = sample(scores, treewidth=options.treewidth, max_iterations=1000, seed=options.seed)
    except OptionError as error:
        msg = f"{error}; or give a start"
        raise OptionError(msg) from None
    return _as_chain(found.score, found.dag, found.decomposition)


def _required(table: ScoreTable, options: SearchOptions) -> Chain | None:
    """Return a network with hardly more than the parents that are required, if it is narrow."""
    families = a_network(table)
    if len(families) < options.n:
        return None
    bounds = [table.set_offsets[t : t + 2] for t in np.sort(families)]
    dag = Dag(tuple(tuple(table.parents[first:last].tolist()) for first, last in bounds))
    width = exact_treewidth(dag.moral_graph(), time_limit=2.0)
    if width.upper > options.k:
        return None
    return _as_chain(table.total(dag), dag, width.decomposition)


def _as_chain(score: float, dag: Dag, proof: TreeDecomposition) -> Chain:
    return Chain(score, [list(p) for p in dag.parents], list(proof.elimination_order()))
