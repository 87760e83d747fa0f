"""Chains of simulated annealing, run in threads or distributed over a cluster by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from twbn import _core
from twbn.scores.lazy import LazyScores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.cluster import Cluster
    from twbn.graphs.dag import Dag
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.limit import WidthLimit

__all__ = ["Chain", "Round", "as_chain", "run_in_threads", "run_on_cluster"]


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
    found, n_done, interrupted = _core.anneal(
        scores.lookup,
        _candidate_arcs(scores, n_jobs),
        work.limit.compiled,
        work.start.parents,
        work.start.order,
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
    # A chain that never started has no structure.
    return [Chain(*chain) for chain in found if chain[1]], n_done, interrupted


def run_on_cluster(
    cluster: Cluster, scores: ScoreTable, work: Round
) -> tuple[list[Chain], int, bool]:
    """Do the same as `run_in_threads`, with one job per chain.

    A job whose worker dies is reassigned to another worker.
    """
    jobs = [(scores, scores.digest, work._replace(streams=(stream,))) for stream in work.streams]
    found = cluster.map(_run_one, jobs)
    return [chain for chains, _, _ in found for chain in chains], sum(n for _, n, _ in found), False


def _run_one(scores: ScoreTable, key: str, work: Round) -> tuple[list[Chain], int, bool]:
    # Every job brings a table; what the first job built from it is reused.
    if key not in _tables:
        while len(_tables) >= MAX_TABLES:
            _tables.pop(next(iter(_tables)))
        _tables[key] = scores
    return run_in_threads(_tables[key], work, 1)


#: On a worker: tables by their digest.
_tables: dict[str, ScoreTable] = {}
MAX_TABLES = 2


_arcs: WeakKeyDictionary[LocalScores, _core.CandidateArcs] = WeakKeyDictionary()


def _candidate_arcs(scores: LocalScores, n_jobs: int) -> _core.CandidateArcs:
    """Return the candidate parents of each variable, computed once per table."""
    if scores not in _arcs:
        best = scores.best_single_parents(n_jobs) if isinstance(scores, LazyScores) else None
        _arcs[scores] = (
            _core.CandidateArcs(scores.lookup) if best is None else _core.ranked_arcs(*best)
        )
    return _arcs[scores]
