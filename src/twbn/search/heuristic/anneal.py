"""Simulated annealing in the space of structures, with the treewidth checked last."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from twbn import interrupts
from twbn.checks import checked_whole
from twbn.cluster import active_cluster
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.graphs.ktree import KTree
from twbn.scores.held import HeldScores
from twbn.scores.lazy import LazyScores
from twbn.scores.score_table import ScoreTable
from twbn.search.heuristic.chains import (
    Chain,
    Round,
    as_chain,
    can_be_sent,
    find_candidates,
    merged,
    run_in_threads,
    run_on_cluster,
)
from twbn.search.heuristic.first import first_chain
from twbn.search.heuristic.polish import best_dag_inside
from twbn.search.heuristic.temperature import temperature_scale
from twbn.search.method import register, search_method
from twbn.search.result import TOLERANCE, TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.result import SearchResult, Status
    from twbn.search.run import Run

__all__ = ["anneal"]

#: The hottest temperature, as a share of what a variable gains from its best parents on average.
HOTTEST = 0.2
#: The lowest temperature, below which differences of log scores do not matter to a reader; if
#: scores are large, this fraction of the same average gain.
COLDEST, COLDEST_SHARE = 0.2, 0.0005
#: Share of the budget for the first round, which starts from nothing.
FIRST_SHARE = 0.2
#: Later rounds, each from the best known structure, reheated to a fraction drawn from this range.
REHEATS = 24
REHEATED = (0.01, 0.4)
#: The same for many chains, each with less of the budget: their rounds are longer and fewer.
MANY_CHAINS, FIRST_SHARE_OF_MANY, REHEATS_OF_MANY = 4, 0.4, 12
#: Proposals per variable in a round that suffice for a problem, so that fresh starts pay off.
ENOUGH_TO_START_AFRESH = 30_000
#: Chains when proposals are limited; with fewer proposals than this, a single round of one chain.
CHAINS, LEAST_FOR_ROUNDS = 2, 20_000
#: Where scores are computed on demand: up to which share of the rounds no larger parent sets than
#: these are proposed.
SIZES = ((0.03, 3), (0.3, 5))
#: Share of the time for finding the candidates of scores on demand.
CANDIDATES_SHARE = 0.15
#: The longest round on a cluster, and the number of failed ones after which it is given up.
CLUSTER_ROUND_SECONDS, MAX_LOST_ROUNDS = 60.0, 2
#: Shortest time between reports of better structures.
SECONDS_BETWEEN_NEWS = 1.0
#: Largest treewidth and number of variables for which polishing takes milliseconds.
MAX_POLISH_WIDTH, MAX_POLISH_VARIABLES = 4, 300


@register
@search_method(
    "anneal",
    "simulated annealing over structures; the best for many variables",
    improves=True,
    limits_states=True,
    on_demand=True,
    keeps_relations=True,
    chains="chains at a time; as many as workers by default, or 2 for a budget in iterations",
)
def anneal(scores: LocalScores, run: Run, *, chains: int | None = None) -> SearchResult:
    """Return the best structure that simulated annealing finds.

    An iteration is one proposal to give a variable other parents. `on_improvement` is called with
    the best result so far, at most once a second.

    Notes
    -----
    A proposal is first judged by its score with the Metropolis rule, which takes nanoseconds. If it
    passes, it must be acyclic (a topological order is kept up to date) and within the treewidth
    limit (so is an elimination forest). The temperatures are derived from the scores. The first
    round cools down from the highest temperature; later rounds continue from the best known
    structure, reheated to varying degrees. At the end of a chain, windows of twelve variables are
    solved exactly. For small treewidths, the best structure inside the decomposition is taken after
    every round (`polish`). At the end of a round, the best of several chains takes over what gains
    of the changes that the others made.
    """
    if chains is not None:
        checked_whole("chains", chains, least=1)
    search = _Annealing(scores, run, chains)
    if run.n > 1:
        search.run()
    return search.result()


class _Annealing:
    """The rounds of one run, and the best structure so far."""

    def __init__(self, scores: LocalScores, run: Run, chains: int | None) -> None:
        self._scores = scores
        self._run = run
        self._chains = chains
        self._cluster = active_cluster() if can_be_sent(scores) else None
        self._held: HeldScores | None = None
        if self._cluster is not None and isinstance(scores, ScoreTable | LazyScores):
            self._held = HeldScores(self._cluster, scores)
        self._told, self._told_score = run.seconds, -math.inf
        self._bound = scores.trivial_bound()
        self._best = self._first = self._pending = first_chain(scores, run)
        self._given = run.first is not None
        self._n_done = self._n_accepted = self._n_lost = 0
        self._interrupted = self._out_of_time = False
        self._trace = [TracePoint(run.seconds, 0, self._best.score, self._bound)]

    def run(self) -> None:
        run = self._run
        seconds = None if run.time_left is None else CANDIDATES_SHARE * run.time_left
        self._interrupted = find_candidates(self._scores, run.workers, seconds, self._held)
        if self._interrupted:
            return
        self._scale = temperature_scale(self._scores)
        self._coldest = max(COLDEST, COLDEST_SHARE * self._scale)
        rng = np.random.default_rng(run.seed)
        many = self._n_chains() >= MANY_CHAINS
        n_reheats = REHEATS_OF_MANY if many else REHEATS
        limit = run.deadline.time_limit
        if self._cluster is not None and limit is not None:
            # Results of a round are known only when it ends, so long runs have more rounds.
            n_reheats = max(n_reheats, math.ceil(limit / CLUSTER_ROUND_SECONDS))
        first = FIRST_SHARE_OF_MANY if many else FIRST_SHARE
        if n_reheats > REHEATS:
            first = 1 / (n_reheats + 1)
        shares = [first, *[(1 - first) / n_reheats] * n_reheats]
        budget = run.max_iterations
        if budget is not None and budget < LEAST_FOR_ROUNDS:
            shares = [1.0]
        time_left = run.time_left or math.inf
        per_variable = 0.0
        for number, share in enumerate(shares):
            low, high = np.log(REHEATED)
            hottest = math.exp(rng.uniform(low, high)) if number or self._given else HOTTEST
            last = number == len(shares) - 1
            if budget is None:
                left = run.time_left or 0.0
                seconds = left if last else min(share * time_left, left)
                n_chains, each = self._n_chains(), -1
            else:
                seconds = run.time_left or math.inf
                n_chains = 1 if len(shares) == 1 else self._n_chains()
                each = (budget - self._n_done if last else int(share * budget)) // n_chains
            # Small problems are solved in a fraction of a round, so some rounds start afresh.
            fresh = number % 4 == 3 and per_variable >= ENOUGH_TO_START_AFRESH
            if fresh:
                hottest = HOTTEST
            before = self._n_done
            start = self._first if fresh else self._best
            most_parents = self._most_parents(number / len(shares))
            self._round(start, n_chains, number, hottest, each, seconds, most_parents)
            per_variable = (self._n_done - before) / n_chains / run.n
            if self._done(last):
                return

    def _most_parents(self, done: float) -> int:
        """Return the largest parent sets to propose when a share of the rounds is done.

        Where scores are computed on demand, large families cost most and are hardly ever met again.
        """
        if self._given or not isinstance(self._scores, LazyScores):
            return self._run.k
        return next((size for share, size in SIZES if done < share), self._run.k)

    def _n_chains(self) -> int:
        """Return the number of chains in a round."""
        if self._chains is not None:
            return self._chains
        if self._run.max_iterations is not None:
            return CHAINS
        return self._run.workers if self._cluster is None else self._cluster.n_workers

    def _round(
        self,
        start: Chain,
        n_chains: int,
        number: int,
        hottest: float,
        each: int,
        seconds: float,
        most_parents: int,
    ) -> None:
        """Cool down several chains, all from the same structure."""
        run = self._run
        work = Round(
            start,
            run.limit,
            run.relations,
            [number * n_chains + chain for chain in range(n_chains)],
            max(hottest * self._scale, self._coldest),
            self._coldest,
            run.seed,
            each,
            seconds,
            most_parents,
        )
        found, n_done, interrupted = self._cool(work)
        self._interrupted = interrupted or interrupts.pending()
        self._n_done += n_done
        late = run.max_iterations is None and not run.deadline.left_or_forever > 0
        if found and not self._interrupted and not late:
            # Also from a chain that ends below the best: it may be better somewhere.
            found = [*found, merged(self._scores, work, [self._best, *found])]
        if self._cluster is not None:
            run.tell(self._n_done, self._best.score)
        for chain in found:
            self._n_accepted += chain.n_accepted
            if chain.score > self._best.score:
                self._best = chain
        self._tell()

    def _cool(self, work: Round) -> tuple[list[Chain], int, bool]:
        if self._cluster is not None and self._held is not None:
            try:
                return run_on_cluster(self._held, work)
            except KeyboardInterrupt:
                return [], 0, True
            except Exception as error:  # whatever the backend raises when workers are gone
                self._n_lost += 1
                self._why_lost = f"{type(error).__name__}: {error}"
                if self._n_lost == MAX_LOST_ROUNDS:
                    self._cluster = None
                left = self._run.time_left or math.inf
                work = work._replace(seconds=min(work.seconds, left))
        run = self._run
        listeners = (run.on_progress, run.on_improvement, run.enough)
        watched = any(listener is not None for listener in listeners)
        before, live = self._n_done, self._best.score

        def on_best(score: float, parents: list[list[int]], order: list[int]) -> None:
            nonlocal live
            if score > self._best.score:
                live = score
                self._pending = Chain(score, parents, order)

        def report(n_done: int) -> bool:
            self._tell()
            run.tell(before + n_done, live)
            return self._is_enough(live) and run.max_iterations is None

        return run_in_threads(
            self._scores,
            work,
            run.workers,
            report if watched else None,
            on_best if watched else None,
        )

    def _tell(self) -> None:
        """Report the best structure so far if it is new and the last report is a second old."""
        best = max(self._best, self._pending, key=lambda chain: chain.score)
        now, tell = self._run.seconds, self._run.on_improvement
        if (
            tell is None
            or best.score <= self._told_score
            or now - self._told < SECONDS_BETWEEN_NEWS
        ):
            return
        self._told, self._told_score = now, best.score
        tell(self._result(best, "time_limit"))

    def _done(self, last: bool) -> bool:
        """Polish and record what the round found, and return whether there is a reason to stop."""
        run, best = self._run, self._best
        if best.score > self._trace[-1].score:
            small = run.k <= MAX_POLISH_WIDTH and run.n <= MAX_POLISH_VARIABLES
            if small and not (run.max_states or run.relations or self._interrupted):
                self._polish()
            now = TracePoint(run.seconds, self._n_done, self._best.score, self._bound)
            self._trace.append(now)
        enough = self._is_enough(self._best.score)
        # A limit on proposals is always used up, so that results do not depend on thread timing.
        over = run.deadline.left_or_forever <= 0.001
        if over and run.max_iterations is not None:
            self._out_of_time = self._n_done < run.max_iterations - self._n_chains()
        return last or over or self._interrupted or (enough and run.max_iterations is None)

    def _is_enough(self, score: float) -> bool:
        """Say whether no structure can score more, or none is asked for."""
        if score >= self._bound - TOLERANCE * abs(self._bound):
            return True
        return self._run.enough is not None and self._run.enough(score)

    def _polish(self) -> None:
        """Take the best structure inside the decomposition of the current best, if it is better."""
        n, k = self._run.n, self._run.k
        dag = Dag(tuple(map(tuple, self._best.parents)))
        proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), self._best.order)
        tree = KTree.containing(proof, n, k)
        try:
            better, score = best_dag_inside(tree, self._scores, time_limit=self._run.time_left)
        except KeyboardInterrupt:
            self._interrupted = True
            return
        except TimeoutError:
            return
        if score > self._best.score + TOLERANCE * abs(score):
            self._best = as_chain(score, better, tree.decomposition())

    def result(self) -> SearchResult:
        """Return the best structure as a result, with its status and bound."""
        run, score = self._run, self._best.score
        by_time = run.max_iterations is None or self._out_of_time
        status: Status = "time_limit" if by_time else "iteration_limit"
        if score >= self._bound - TOLERANCE * abs(self._bound):
            status = "optimal"
        elif self._interrupted:
            status = "interrupted"
        return self._result(self._best, status)

    def _result(self, best: Chain, status: Status) -> SearchResult:
        run, scores = self._run, self._scores
        dag = Dag(tuple(map(tuple, best.parents)))
        proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), best.order)
        score = scores.total(dag)  # summed in one order
        point = TracePoint(run.seconds, self._n_done, score, self._bound)
        if best.score > self._trace[-1].score:
            trace = [*self._trace, point]
        else:
            trace = [*self._trace[:-1], self._trace[-1]._replace(score=score)]
        notes = run.notes
        if self._n_lost:
            lost = f"{self._n_lost} round{'s' * (self._n_lost > 1)} of the cluster failed"
            notes = (*notes, f"{lost} and ran here instead ({self._why_lost})")
        return run.result(
            dag,
            proof,
            status=status,
            bound=self._bound,
            n_iterations=self._n_done,
            trace=tuple(trace),
            notes=notes,
            n_accepted=self._n_accepted,
        )
