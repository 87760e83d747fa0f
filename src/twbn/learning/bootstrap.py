"""Confidence in arcs: how often they are found again when the rows are drawn anew."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn import interrupts
from twbn.checks import checked_n_jobs, checked_whole
from twbn.cluster import active_cluster
from twbn.data.table import Table
from twbn.deadline import Deadline
from twbn.errors import Option, OptionError
from twbn.learning.arc_confidence import Confidence
from twbn.learning.learn import learn
from twbn.learning.scoring import ScoringOptions
from twbn.learning.usable import usable_table
from twbn.scores.kinds import score_name
from twbn.scores.protocol import ScoringInfo
from twbn.scores.rules import RuleOptions, listed_pairs, listed_rules
from twbn.search.limit import width_limit
from twbn.search.relations import RELATIONS, make_relations
from twbn.search.run import check_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from twbn.cluster import Cluster
    from twbn.data.discretize import Discretize
    from twbn.graphs.dag import Dag
    from twbn.scores.kinds import ScoreOption

__all__ = ["confidence"]

#: Seconds for everything if neither a time limit nor a number of iterations is given.
DEFAULT_TIME_LIMIT = 60.0
#: The shortest search that is planned, and the shortest that is started at the end of the time.
LEAST_SECONDS, LAST_SECONDS = 0.05, 0.02
#: Resamples in one job on a cluster, at least: the table travels with every job.
JOBS_FOR_EACH_WORKER = 4
#: Weights of the rows of a table are counted as this many rows at most.
MAX_DRAWN = 2**31


def confidence(
    data: Any,
    *,
    treewidth: int | None = None,
    n: int = 200,
    max_states: int | None = None,
    score: ScoreOption = "bdeu",
    ess: float = 1.0,
    max_parents: int | Mapping[str, int] | None = None,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Sequence[Iterable[str]] | None = None,
    roots: Iterable[str] = (),
    leaves: Iterable[str] = (),
    adjacent: Iterable[tuple[str, str]] = (),
    ancestors: Iterable[tuple[str, str]] = (),
    non_ancestors: Iterable[tuple[str, str]] = (),
    time_limit: float | None = None,
    max_iterations: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    drop: Sequence[str] | str = (),
    discretize: str | Discretize = "quantile",
    on_progress: Callable[[int, int], None] | None = None,
) -> Confidence:
    """Return how often each arc is learned from rows that are drawn anew from the data.

    Parameters
    ----------
    data
        Anything that `as_table` takes.
    n
        Resamples: each has as many rows as the data, drawn with replacement, and is searched by a
        short annealing of its own.
    treewidth, max_states, score, ess, max_parents
        As for `learn`, of every search.
    required, forbidden, tiers, roots, leaves, adjacent, ancestors, non_ancestors
        Rules that every search keeps; see `learn`.
    time_limit
        Seconds for everything, divided among the resamples; any that do not fit are skipped. 60
        when `max_iterations` is not given either.
    max_iterations
        Proposals of each search instead: the answer is then the same on every machine.
    seed, drop, discretize
        As for `learn`.
    n_jobs
        Searches at a time; None is one, -1 one per core. Inside
        ``joblib.parallel_config(backend="dask")`` (or Ray) the cluster's workers do them.
    on_progress
        Called with the number of resamples done and `n`.

    Notes
    -----
    The bootstrap of Friedman, Goldszmidt and Wyner (1999). Rows get whole weights instead of being
    copied. Ctrl-C keeps the resamples that are done. O(n) searches.

    Examples
    --------
    >>> rows = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "c": [0, 0, 1, 1] * 9}
    >>> found = confidence(rows, treewidth=1, n=20, max_iterations=100)
    >>> found.adjacent["a", "c"]
    1.0
    """
    limit = check_limits(treewidth, time_limit, max_iterations, seed, n_jobs)
    checked_whole("n", n, least=1)
    if limit is None and max_iterations is None:
        limit = DEFAULT_TIME_LIMIT
    clock = Deadline(limit)
    table = usable_table(data, drop, discretize)
    if on_progress is not None and not callable(on_progress):
        raise OptionError(Option("on_progress"), f" must be a function, got {on_progress!r}")
    given = RuleOptions(max_parents, required, forbidden, tiers, roots, leaves)
    scoring = ScoringOptions(score, ess, **listed_rules(given))
    pairs = {
        name: listed_pairs(name, listed)
        for name, listed in zip(RELATIONS, (adjacent, ancestors, non_ancestors), strict=True)
    }
    options = {
        **scoring._asdict(),
        **pairs,
        "treewidth": treewidth,
        "max_states": max_states,
        "max_iterations": max_iterations,
        "method": "anneal",
    }
    work = _Resamples(table, options, seed, clock)
    with interrupts.deferred():
        found = list(_searched(work, n, n_jobs, on_progress))
        interrupted = interrupts.pending()
    if not found:
        if interrupted:
            raise KeyboardInterrupt
        msg = f"no resample was searched within {limit:g} s; allow more time"
        raise OptionError(msg)
    info = ScoringInfo(
        score_name(score),
        float(ess) if score_name(score) == "bdeu" else None,
        fingerprint=table.fingerprint,
        coding=table.coding,
        n_states=tuple(table.n_states.tolist()),
    )
    return Confidence(
        names=table.names,
        structures=tuple(dag for _, dag in sorted(found, key=lambda pair: pair[0])),
        n_asked=n,
        treewidth_limit=_limit_of(treewidth, max_states, table),
        max_states=max_states,
        seed=seed,
        seconds=clock.seconds,
        info=info,
        rules=scoring.rules,
        relations=make_relations(table.names, **pairs),
        interrupted=interrupted,
    )


class _Resamples(NamedTuple):
    """What resamples are drawn from, and how each is searched."""

    table: Table
    options: dict[str, Any]
    seed: int
    clock: Deadline

    def search(self, number: int, time_limit: float | None) -> Dag:
        """Return the structure that is learned from one resample."""
        rng = np.random.default_rng([self.seed, number])
        table = self.table
        p = None if table.weights is None else table.weights / table.weights.sum()
        n_drawn = table.n_rows if table.weights is None else round(float(table.weights.sum()))
        n_drawn = min(max(n_drawn, 1), MAX_DRAWN)
        even = np.full(table.n_rows, 1 / table.n_rows)
        weights = rng.multinomial(n_drawn, even if p is None else p).astype(np.float64)
        drawn = Table(table.names, table.codings, table.codes, weights)
        seed = int(rng.integers(2**31))
        return learn(drawn, **self.options, seed=seed, time_limit=time_limit, n_jobs=1).dag

    def search_unless_interrupted(self, number: int, time_limit: float | None) -> Dag | None:
        """Return the same, or None where Ctrl-C ended it before there was a structure."""
        try:
            return self.search(number, time_limit)
        except KeyboardInterrupt:
            if interrupts.pending():  # what the others have found is kept
                return None
            raise


def _limit_of(treewidth: int | None, max_states: int | None, table: Table) -> int:
    return width_limit(treewidth, max_states, table.names, table.n_states.tolist()).treewidth


def _searched(
    work: _Resamples,
    n: int,
    n_jobs: int | None,
    on_progress: Callable[[int, int], None] | None,
) -> Iterator[tuple[int, Dag]]:
    """Yield the number of each resample and its structure, in any order."""
    cluster = active_cluster()
    if cluster is None:
        found = _in_threads(work, n, checked_n_jobs(n_jobs))
    else:
        found = _on(cluster, work, n)
    for done, pair in enumerate(found, start=1):
        if on_progress is not None:
            on_progress(done, n)
        yield pair


def _in_threads(work: _Resamples, n: int, workers: int) -> Iterator[tuple[int, Dag]]:
    """Search in threads: the compiled core works outside Python's lock."""
    waiting, lock = iter(range(n)), threading.Lock()
    found: SimpleQueue[tuple[int, Dag] | None] = SimpleQueue()

    def search_some() -> None:
        try:
            while True:
                with lock:
                    number = next(waiting, None)
                if number is None or interrupts.pending():
                    return
                seconds = _share(work.clock, n - number, workers)
                if seconds is not None and seconds < LAST_SECONDS:
                    return
                dag = work.search_unless_interrupted(number, seconds)
                if dag is None:
                    return
                found.put((number, dag))
        finally:
            found.put(None)

    with ThreadPoolExecutor(workers) as pool:
        running = [pool.submit(search_some) for _ in range(workers)]
        for _ in running:
            yield from iter(found.get, None)
        for future in running:
            future.result()  # raises what went wrong in it


def _share(clock: Deadline, n_left: int, workers: int) -> float | None:
    """Return the seconds for a search, of which so many are left, if there is a limit."""
    if clock.time_limit is None:
        return None
    left = clock.left_or_forever
    return min(max(left * min(workers, n_left) / n_left, LEAST_SECONDS), left)


def _on(cluster: Cluster, work: _Resamples, n: int) -> Iterator[tuple[int, Dag]]:
    """Search on the workers of a cluster, several resamples in a job."""
    n_jobs = min(n, JOBS_FOR_EACH_WORKER * cluster.n_workers)
    parts = [range(n)[first::n_jobs] for first in range(n_jobs)]
    left = work.clock.left if work.clock.time_limit is not None else None
    share = None if left is None else left * min(cluster.n_workers, n_jobs) / n_jobs
    jobs = [(work.table, work.options, work.seed, share, part) for part in parts]
    for pairs in cluster.map(_part, jobs):
        yield from pairs


def _part(
    table: Table, options: dict[str, Any], seed: int, share: float | None, numbers: range
) -> list[tuple[int, Dag]]:
    """Search some of the resamples, as a job of a cluster."""
    work = _Resamples(table, options, seed, Deadline(share))
    return list(
        filter(None, (_one_of(work, number, len(numbers) - i) for i, number in enumerate(numbers)))
    )


def _one_of(work: _Resamples, number: int, n_left: int) -> tuple[int, Dag] | None:
    seconds = _share(work.clock, n_left, 1)
    if seconds is not None and seconds < LAST_SECONDS:
        return None
    dag = work.search_unless_interrupted(number, seconds)
    return None if dag is None else (number, dag)
