"""Scoring and annealing on a real local Ray of two workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pytest

from oracle import random_table
from test_search import untimed
from twbn import LazyScores, compute_scores, learn
from twbn.cluster import active_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

ray = pytest.importorskip("ray", reason="needs the extra twbn[ray], whose wheels are not for all")

TABLE = random_table(np.random.default_rng(8), 12, 300, max_states=3)


@pytest.fixture(scope="module")
def backend() -> Iterator[str]:
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    yield "ray"
    ray.shutdown()


def test_scores_by_variable_are_those_of_one_process(backend: str) -> None:
    here = compute_scores(TABLE, budget=30)
    with joblib.parallel_config(backend=backend):
        cluster = active_cluster()
        assert cluster is not None
        assert cluster.n_workers == 2
        there = compute_scores(TABLE, budget=30)
    assert there.equals(here)


@pytest.mark.parametrize("lazy", [False, True])
def test_the_same_network_as_in_one_process(backend: str, lazy: bool) -> None:
    options: dict[str, Any] = {"treewidth": 3, "method": "anneal", "max_iterations": 50_000}
    source = LazyScores(TABLE, max_parents=3) if lazy else compute_scores(TABLE)
    here = learn(source, **options, seed=5)
    with joblib.parallel_config(backend=backend):
        there = learn(source, **options, seed=5)
    assert untimed(here) == untimed(there)
    assert not any("failed" in note for note in there.notes)
