"""Scoring and annealing on a real Dask cluster of two worker processes."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pytest

from oracle import random_table
from test_search import untimed
from twbn import LazyScores, compute_scores, learn
from twbn.cluster import active_cluster
from twbn.scores.held import HeldScores

if TYPE_CHECKING:
    from collections.abc import Iterator

distributed = pytest.importorskip("distributed", reason="needs the extra twbn[cluster]")

TABLE = random_table(np.random.default_rng(8), 12, 300, max_states=3)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_without_a_cluster_there_is_none() -> None:
    assert active_cluster() is None
    with joblib.parallel_config(backend="threading"):
        assert active_cluster() is None


def test_scores_by_variable_are_those_of_one_process(client: Any) -> None:
    assert client.status == "running"
    limits = {name: 3 if v < 6 else 2 for v, name in enumerate(TABLE.names)}
    required = [(TABLE.names[0], TABLE.names[11])]
    for options in ({}, {"budget": 30}, {"max_parents": limits, "required": required}):
        here: Any = compute_scores(TABLE, **options)
        with joblib.parallel_config(backend="dask"):
            there: Any = compute_scores(TABLE, **options)
        assert there.equals(here)
        assert there.info.status == here.info.status
        assert there.info.complete_size == here.info.complete_size


@pytest.mark.parametrize("method", ["anneal", "auto"])
def test_the_same_network_as_in_one_process(client: Any, method: str) -> None:
    assert client.status == "running"
    here = [
        learn(TABLE, treewidth=3, method=method, max_iterations=50_000, seed=5, n_jobs=jobs)
        for jobs in (1, 2, 3)
    ]
    with joblib.parallel_config(backend="dask"):
        there = learn(TABLE, treewidth=3, method=method, max_iterations=50_000, seed=5)
    assert {untimed(result) for result in here} == {untimed(there)}


def test_scores_on_demand_are_held_by_the_workers(client: Any) -> None:
    assert client.status == "running"
    options: dict[str, Any] = {"treewidth": 3, "method": "anneal", "max_iterations": 60_000}
    here = learn(LazyScores(TABLE, max_parents=3), **options, chains=3)
    with joblib.parallel_config(backend="dask"):
        there = learn(LazyScores(TABLE, max_parents=3), **options, chains=3)
    assert untimed(here) == untimed(there)
    assert not any("failed" in note for note in there.notes)


class _Here:
    """A cluster of one worker, in this process, that counts what it is sent."""

    n_workers = 2

    def __init__(self) -> None:
        self.sent = 0

    def map(self, function: Any, jobs: Any) -> list[Any]:
        self.sent += sum(job[2] is not None for job in jobs)
        return [function(*job) for job in jobs]


def test_scores_are_sent_once_and_again_where_they_are_lacking() -> None:
    cluster: Any = _Here()
    scores = [LazyScores(random_table(np.random.default_rng(s), 4, 30)) for s in range(4)]
    first = HeldScores(cluster, scores[0])
    asked = [(v,) for v in range(4)]
    expected = [scores[0].local(v, ()) for v in range(4)]
    assert first.map(_local, asked) == expected
    assert cluster.sent == 4
    assert first.map(_local, asked) == expected
    assert cluster.sent == 4
    for other in scores[1:]:  # the first are forgotten
        HeldScores(cluster, other).map(_local, [(0,)])
    assert first.map(_local, asked) == expected
    assert cluster.sent == 4 + 3 + 4


def _local(scores: Any, child: int) -> float:
    return float(scores.local(child, ()))


def test_a_killed_worker_costs_its_chain_not_the_run(client: Any) -> None:
    scores = compute_scores(TABLE)
    pids = list(client.run(os.getpid).values())

    def kill() -> None:
        time.sleep(1.0)
        os.kill(pids[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    with joblib.parallel_config(backend="dask"):
        result = learn(scores, treewidth=3, method="anneal", time_limit=4.0, seed=1)
    thread.join()
    assert pids[0] not in client.run(os.getpid).values()
    alone = learn(scores, treewidth=3, method="anneal", max_iterations=20_000)
    assert result.score >= alone.score - 1e-6  # equivalent networks differ in the last digit
    assert 3.0 < result.seconds < 30
    assert not any("failed" in note for note in result.notes)  # another worker took the job


class _Broken(joblib.parallel.ThreadingBackend):  # type: ignore[misc]
    """A cluster that has gone."""

    def submit(self, *_: Any, **__: Any) -> Any:
        msg = "no worker answers"
        raise ConnectionError(msg)

    apply_async = submit


def test_without_its_cluster_a_run_goes_on_here() -> None:
    joblib.register_parallel_backend("broken", _Broken)
    scores = compute_scores(TABLE)
    alone = learn(scores, treewidth=3, method="anneal", max_iterations=50_000, seed=5)
    with joblib.parallel_config(backend="broken", n_jobs=2):
        timed = learn(scores, treewidth=3, method="anneal", time_limit=1.0)
        counted = learn(scores, treewidth=3, method="anneal", max_iterations=50_000, seed=5)
    assert timed.score >= alone.score - 1e-6
    assert counted.dag == alone.dag
    lazy = LazyScores(TABLE, max_parents=3)
    options: dict[str, Any] = {"treewidth": 3, "method": "anneal", "max_iterations": 50_000}
    here = learn(LazyScores(TABLE, max_parents=3), **options)
    with joblib.parallel_config(backend="broken", n_jobs=2):
        on_demand = learn(lazy, **options)
    assert on_demand.dag == here.dag
    for result in (timed, counted, on_demand):
        assert any("rounds of the cluster failed and ran here" in note for note in result.notes)
