"""Chains of simulated annealing: in threads, or by seed over a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from twbn import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.cluster import Cluster
    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable

__all__ = ["Chain", "Round", "run_in_threads", "run_on_cluster"]


class Chain(NamedTuple):
    """The best network of one chain, with the elimination order that proves its width."""

    score: float
    parents: list[list[int]]
    order: list[int]
    n_accepted: int = 0


class Round(NamedTuple):
    """Several chains that cool down from one network; each has a stream of random numbers."""

    start: Chain
    k: int
    streams: Sequence[int]
    hottest: float
    coldest: float
    seed: int
    n_proposals: int  # of each chain; negative: by time
    seconds: float


def run_in_threads(
    scores: LocalScores,
    work: Round,
    n_jobs: int,
    on_progress: Callable[[int], None] | None = None,
    on_best: Callable[[float, list[list[int]], list[int]], None] | None = None,
) -> tuple[list[Chain], int, bool]:
    """Return what the chains found, the number of proposals, and whether Ctrl-C came."""
    n_chains = len(work.streams)
    found, n_done, interrupted = _core.anneal(
        scores.lookup,
        _candidate_arcs(scores),
        work.k,
        [work.start.parents] * n_chains,
        [work.start.order] * n_chains,
        work.streams,
        work.hottest,
        work.coldest,
        work.seed,
        work.n_proposals,
        work.seconds,
        n_jobs,
        on_progress,
        on_best,
    )
    # A chain that was never begun has no network.
    return [Chain(*chain) for chain in found if chain[1]], n_done, interrupted


def run_on_cluster(
    cluster: Cluster, scores: ScoreTable, work: Round
) -> tuple[list[Chain], int, bool]:
    """Return the same as `run_in_threads`, with one chain a job.

    A job whose worker dies is given to another.
    """
    jobs = [(scores, scores.digest, work._replace(streams=(stream,))) for stream in work.streams]
    found = cluster.map(_run_one, jobs)
    return [chain for chains, _, _ in found for chain in chains], sum(n for _, n, _ in found), False


def _run_one(scores: ScoreTable, key: str, work: Round) -> tuple[list[Chain], int, bool]:
    # A table comes with every job; what was built from it the first time is used again.
    if key not in _tables:
        while len(_tables) >= MAX_TABLES:
            _tables.pop(next(iter(_tables)))
        _tables[key] = scores
    return run_in_threads(_tables[key], work, 1)


#: On a worker: tables by what is in them.
_tables: dict[str, ScoreTable] = {}
MAX_TABLES = 2


_arcs: WeakKeyDictionary[LocalScores, _core.CandidateArcs] = WeakKeyDictionary()


def _candidate_arcs(scores: LocalScores) -> _core.CandidateArcs:
    """Return who may be whose parent; listed once for each table."""
    if scores not in _arcs:
        _arcs[scores] = _core.CandidateArcs(scores.lookup)
    return _arcs[scores]
