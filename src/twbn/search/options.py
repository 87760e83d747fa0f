"""What every search takes: checked once, in one place."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from twbn.checks import checked_time_limit, checked_whole
from twbn.errors import GraphError, OptionError
from twbn.graphs.dag import Dag
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.scores.compute import n_workers
from twbn.scores.score_table import ScoreTable
from twbn.search.feasibility import conflict
from twbn.search.formats import ResultFile
from twbn.search.result import SearchResult, VerificationError

if TYPE_CHECKING:
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.scores.protocol import LocalScores

__all__ = [
    "DEFAULT_TIME_LIMIT",
    "Improvement",
    "Progress",
    "SearchOptions",
    "Start",
    "check_budget",
    "network_of",
]

#: Called with (seconds, iterations, best score).
Progress = Callable[[float, int, float], None]
#: Called with the best result so far.
Improvement = Callable[[SearchResult], None]


class ProvedDag(NamedTuple):
    """A network with the decomposition that proves its width."""

    dag: Dag
    decomposition: TreeDecomposition


Start = Dag | SearchResult | ResultFile | ProvedDag
#: Share of the time limit to find a decomposition of a start that brings none.
START_SHARE = 0.2

#: Seconds that a search takes when it is given neither a time nor a number of iterations.
DEFAULT_TIME_LIMIT = 10.0


@dataclass(frozen=True)
class SearchOptions:
    """The checked options of one run. `k` is the bound that matters: at most n - 1."""

    n: int
    k: int
    treewidth: int
    time_limit: float | None
    max_iterations: int | None
    seed: int
    n_jobs: int
    start: ProvedDag | None
    started: float
    notes: tuple[str, ...]

    @classmethod
    def check(
        cls,
        scores: LocalScores,
        *,
        treewidth: int,
        time_limit: float | None,
        max_iterations: int | None,
        seed: int,
        n_jobs: int | None,
        start: Start | None,
    ) -> SearchOptions:
        """Return the options, or raise OptionError naming the one at fault."""
        n, started = scores.n_variables, time.perf_counter()
        time_limit = check_budget(treewidth, time_limit, max_iterations, seed, n_jobs)
        if time_limit is None and max_iterations is None:
            time_limit = DEFAULT_TIME_LIMIT
        reason = conflict(scores, treewidth) if isinstance(scores, ScoreTable) else None
        if reason is not None:
            msg = f"no network has all its parent sets in the scores: {reason}"
            raise OptionError(msg)
        notes = []
        if treewidth >= n > 1:
            notes.append(f"treewidth {treewidth} does not bind {n} variables: {n - 1} is no bound")
        if scores.info.status not in {"complete", "lazy"}:
            reason = scores.info.status.replace("_", " ")
            notes.append(f"not all parent sets were scored ({reason}), so the bound is weak")
        return cls(
            n,
            max(min(treewidth, n - 1), 0),
            int(treewidth),
            None if time_limit is None else float(time_limit),
            max_iterations,
            int(seed),
            n_workers(n_jobs),
            None if start is None else _checked_start(start, scores, treewidth, time_limit),
            started,
            tuple(notes),
        )

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return time.perf_counter() - self.started

    @property
    def time_left(self) -> float | None:
        """Seconds until the time limit, or None."""
        return None if self.time_limit is None else max(self.time_limit - self.seconds, 0.001)


def check_budget(
    treewidth: int,
    time_limit: float | None,
    max_iterations: int | None,
    seed: int,
    n_jobs: int | None,
) -> float | None:
    """Return the time limit, or raise OptionError naming the option that makes no sense."""
    checked_whole("treewidth", treewidth, least=1)
    checked_whole("seed", seed, least=0, most=2**63 - 1)
    n_workers(n_jobs)
    if max_iterations is not None:
        checked_whole("max_iterations", max_iterations, least=1, most=2**62)
    return checked_time_limit(time_limit)


def _checked_start(
    start: Start, scores: LocalScores, treewidth: int, time_limit: float | None
) -> ProvedDag:
    dag, proof = network_of(start)
    if dag.n_vertices != scores.n_variables:
        msg = f"start has {dag.n_vertices} variables, the scores have {scores.n_variables}"
        raise OptionError(msg)
    if isinstance(start, SearchResult | ResultFile):
        _check_same_data(start, scores)
    if scores.total(dag) == -math.inf:
        child = next(v for v, p in enumerate(dag.parents) if scores.local(v, p) == -math.inf)
        parents = [scores.names[p] for p in dag.parents[child]]
        msg = (
            f"start has a parent set that is not in the scores: {parents} "
            f"of {scores.names[child]!r}"
        )
        raise OptionError(msg)
    if proof is None or proof.width > treewidth:
        seconds = 10.0 if time_limit is None else min(10.0, START_SHARE * time_limit)
        found = exact_treewidth(dag.moral_graph(), time_limit=seconds)
        proof = found.decomposition
        if found.lower > treewidth:
            msg = f"start has treewidth {found.lower}, the bound is {treewidth}"
            raise OptionError(msg)
    if proof.width > treewidth:
        msg = (
            f"start may be too wide: no decomposition of width {treewidth} was found in "
            f"{seconds:.1f} s, one of {proof.width} was"
        )
        raise OptionError(msg)
    return ProvedDag(dag, proof)


def network_of(start: Start) -> tuple[Dag, TreeDecomposition | None]:
    """Return the network to start from, with its proof if it brings one."""
    if isinstance(start, Dag):
        return start, None
    if isinstance(start, SearchResult | ProvedDag):
        return start.dag, start.decomposition
    if isinstance(start, ResultFile):
        try:
            start.decomposition.check(start.dag.moral_graph())
        except (VerificationError, GraphError) as error:
            msg = f"start is not a valid result: {error}"
            raise OptionError(msg) from None
        return start.dag, start.decomposition
    msg = f"start must be a Dag, a SearchResult or a ResultFile, got {type(start).__name__}"
    raise OptionError(msg)


def _check_same_data(start: SearchResult | ResultFile, scores: LocalScores) -> None:
    """Refuse a result of other data: what it says of itself would not hold for these."""
    if start.names != tuple(scores.names):
        msg = "start has other variables than the scores, or in another order"
        raise OptionError(msg)
    theirs, ours = start.fingerprint, scores.fingerprint
    if theirs is not None and theirs != ours:
        msg = (
            f"start was learned from other data: its fingerprint is {theirs}, these have {ours}; "
            "from Python, start=result.dag takes the network alone"
        )
        raise OptionError(msg)
