"""Simulated annealing in the space of networks, with the treewidth checked last."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twbn import _core
from twbn.errors import OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.scores.score_table import ScoreTable
from twbn.search.options import SearchOptions
from twbn.search.result import TOLERANCE, SearchResult, TracePoint
from twbn.search.sample import sample

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.search.options import Progress, Start

__all__ = ["anneal", "temperature_scale"]

#: The hottest temperature, as a share of what a variable gains from its best parents on average.
HOTTEST = 0.2
#: The coldest: log scores that differ by less than this are the same to any reader.
COLDEST = 0.2
#: Chains of a budget in proposals, whatever the number of workers.
CHAINS = 4


class Chain(NamedTuple):
    """The best network of one chain, with the elimination order that proves its width."""

    score: float
    parents: list[list[int]]
    order: list[int]
    n_accepted: int


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
) -> SearchResult:
    """Return the best network that simulated annealing finds.

    An iteration is one proposal to give a variable other parents.

    Notes
    -----
    Metropolis's rule decides by the score, which costs nanoseconds; what passes must be acyclic
    (an order is kept up to date) and of bounded treewidth (an elimination forest is, too). The
    temperatures come from the scores themselves.
    """
    options = SearchOptions.check(
        scores, treewidth=treewidth, time_limit=time_limit, max_iterations=max_iterations,
        seed=seed, n_jobs=n_jobs, start=start,
    )  # fmt: skip
    bound = scores.upper_bound()
    first = _first(scores, options)
    trace = [TracePoint(options.seconds, 0, first.score, bound)]
    best, n_done, interrupted = first, 0, False
    if options.n > 1:
        n_chains = CHAINS if options.max_iterations is not None else options.n_jobs
        each = -1 if options.max_iterations is None else -(-options.max_iterations // n_chains)
        scale = temperature_scale(scores)
        report = None
        if on_progress is not None:
            report = lambda n: on_progress(options.seconds, n, best.score)  # noqa: E731
        found, n_done, interrupted = _core.anneal(
            scores.lookup,
            options.k,
            [first.parents] * n_chains,
            [first.order] * n_chains,
            range(n_chains),
            max(HOTTEST * scale, COLDEST),
            COLDEST,
            options.seed,
            each,
            options.time_left or math.inf,
            options.n_jobs,
            report,
        )
        # A chain that was never begun has no network.
        chains = [Chain(*chain) for chain in found if chain[1]]
        best = max([first, *chains], key=lambda chain: chain.score)
    dag = Dag(tuple(map(tuple, best.parents)))
    proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), best.order)
    score = scores.total(dag)
    if score > trace[-1].score:
        trace.append(TracePoint(options.seconds, n_done, score, bound))
    status = "time_limit" if options.max_iterations is None else "iteration_limit"
    if score >= bound - TOLERANCE * abs(bound):
        status = "optimal"
    return SearchResult(
        scores, dag, proof, options.treewidth, "anneal",
        "interrupted" if interrupted else status, bound, n_done, options.seconds, options.seed,
        tuple(trace), options.notes,
    )  # fmt: skip


def temperature_scale(scores: LocalScores) -> float:
    """Return what a variable gains from its best parents, on average over the variables."""
    n = scores.n_variables
    best = scores.best() if isinstance(scores, ScoreTable) else scores.single_parents().max(axis=1)
    empty = np.array([scores.local(v, ()) for v in range(n)])
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
        return Chain(score, [[] for _ in range(options.n)], list(range(options.n)), 0)
    try:
        found = sample(scores, treewidth=options.treewidth, max_iterations=1000, seed=options.seed)
    except OptionError as error:
        msg = f"{error}; or give a start"
        raise OptionError(msg) from None
    return _as_chain(found.score, found.dag, found.decomposition)


def _as_chain(score: float, dag: Dag, proof: TreeDecomposition) -> Chain:
    return Chain(score, [list(p) for p in dag.parents], list(proof.elimination_order()), 0)
