"""Chains of simulated annealing, run in threads or distributed over a cluster by seed."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from twbn import _core
from twbn.scores.lazy import LazyScores
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.graphs.dag import Dag
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.scores.held import HeldScores
    from twbn.scores.protocol import LocalScores
    from twbn.search.limit import WidthLimit
    from twbn.search.relations import Relations

__all__ = [
    "Chain",
    "Round",
    "as_chain",
    "can_be_sent",
    "find_candidates",
    "merged",
    "run_in_threads",
    "run_on_cluster",
]


class Chain(NamedTuple):
    """The best structure of one chain, with the elimination order that proves its width."""

    score: float
    parents: list[list[int]]
    order: list[int]
    n_accepted: int = 0


def as_chain(score: float, dag: Dag, proof: TreeDecomposition) -> Chain:
    """Return a structure with its proof as a chain that has found it."""
    return Chain(score, [list(p) for p in dag.parents], list(proof.elimination_order()))


class Round(NamedTuple):
    """Several chains that cool down from one structure, each with its own random stream."""

    start: Chain
    limit: WidthLimit
    relations: Relations
    streams: Sequence[int]
    hottest: float
    coldest: float
    seed: int
    n_proposals: int  # of each chain; negative: by time
    seconds: float
    max_parents: int  # of the families that are proposed


def find_candidates(
    scores: LocalScores, n_jobs: int, time_limit: float | None, held: HeldScores | None
) -> bool:
    """Find the candidates of scores on demand, on a cluster if there is one; say if Ctrl-C came."""
    if not isinstance(scores, LazyScores):
        return False
    try:
        if held is not None:
            with suppress(Exception):  # whatever the backend raises when workers are gone
                scores.find_single_parents(1, time_limit, held)
        scores.find_single_parents(n_jobs, time_limit)
    except KeyboardInterrupt:
        return True
    return False


def run_in_threads(
    scores: LocalScores,
    work: Round,
    n_jobs: int,
    on_progress: Callable[[int], bool] | None = None,
    on_best: Callable[[float, list[list[int]], list[int]], None] | None = None,
) -> tuple[list[Chain], int, bool]:
    """Return what the chains found, the number of proposals, and whether Ctrl-C came.

    The chains end early if `on_progress` returns True.
    """
    found, n_done, interrupted = _core.anneal(
        scores.lookup,
        _candidate_arcs(scores, n_jobs),
        work.limit.compiled,
        work.relations.compiled,
        work.start.parents,
        work.start.order,
        work.streams,
        work.hottest,
        work.coldest,
        work.seed,
        work.n_proposals,
        work.seconds,
        work.max_parents,
        n_jobs,
        on_progress,
        on_best,
    )
    # A chain that never started has no structure.
    return [Chain(*chain) for chain in found if chain[1]], n_done, interrupted


def run_on_cluster(held: HeldScores, work: Round) -> tuple[list[Chain], int, bool]:
    """Do the same as `run_in_threads`, with one job per chain.

    A job whose worker dies is reassigned to another worker.
    """
    found = held.map(_run_one, [(work._replace(streams=(stream,)),) for stream in work.streams])
    return [chain for chains, _, _ in found for chain in chains], sum(n for _, n, _ in found), False


def _run_one(scores: LocalScores, work: Round) -> tuple[list[Chain], int, bool]:
    return run_in_threads(scores, work, 1)


def merged(scores: LocalScores, work: Round, chains: Sequence[Chain]) -> Chain:
    """Return the best of several chains, with what gains of the changes that the others made."""
    found = _core.merged(
        scores.lookup,
        _candidate_arcs(scores, 1),
        work.limit.compiled,
        work.relations.compiled,
        [(chain.score, chain.parents, chain.order) for chain in chains],
        work.start.parents,
        work.coldest,
        work.seed,
        work.streams[0],
    )
    return Chain(*found)


_arcs: WeakKeyDictionary[LocalScores, _core.CandidateArcs] = WeakKeyDictionary()


def _candidate_arcs(scores: LocalScores, n_jobs: int) -> _core.CandidateArcs:
    """Return the candidate parents of each variable, computed once per table."""
    if scores not in _arcs:
        best = scores.find_single_parents(n_jobs) if isinstance(scores, LazyScores) else None
        _arcs[scores] = (
            _core.CandidateArcs(scores.lookup) if best is None else _core.ranked_arcs(*best)
        )
    return _arcs[scores]


def can_be_sent(scores: LocalScores) -> bool:
    """Say whether the workers of a cluster can hold these scores."""
    return isinstance(scores, ScoreTable) or (
        isinstance(scores, LazyScores) and not scores.by_function
    )
