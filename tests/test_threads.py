"""Objects that several threads share: answers are those of one thread alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn

if TYPE_CHECKING:
    from collections.abc import Callable

N_THREADS = 8


def in_threads(work: Callable[[int], Any], n: int) -> list[Any]:
    with ThreadPoolExecutor(N_THREADS) as pool:
        return list(pool.map(work, range(n)))


@pytest.fixture(scope="module")
def table() -> twbn.Table:
    rng = np.random.default_rng(7)
    codes = rng.integers(0, 3, (400, 12))
    for v in range(1, 12):
        copied = rng.random(400) < 0.7
        codes[copied, v] = codes[copied, v - 1]
    return twbn.Table.from_codes(codes, n_states=[3] * 12)


@pytest.fixture(scope="module")
def network(table: twbn.Table) -> twbn.Network:
    return twbn.fit(twbn.learn(table, treewidth=3, max_iterations=20_000, seed=1), table)


def with_gaps(table: twbn.Table, seed: int) -> twbn.Table:
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(table.codes.shape) < 0.4, -1, table.codes)
    return twbn.Table(table.names, table.codings, codes)


def test_threads_share_an_inference(network: twbn.Network, table: twbn.Table) -> None:
    rows = [with_gaps(table, seed) for seed in range(4)]

    def work(engine: twbn.Inference, i: int) -> Any:
        data = rows[i % 4]
        name = network.names[i % 3]  # few targets, so that threads meet at the same one
        evidence = {network.names[3 + i % 5]: i % 3}
        return (
            engine.predict_proba(data, name).tobytes(),
            engine.score_samples(data).tobytes(),
            engine.impute(data).codes.tobytes(),
            engine.query([name], evidence).values.tobytes(),
            engine.log_evidence(evidence),
            engine.most_probable(evidence),
        )

    alone = twbn.Inference(network)
    expected = [work(alone, i) for i in range(60)]
    for _ in range(3):  # each time from the first question on
        shared = twbn.Inference(network)
        assert in_threads(lambda i, shared=shared: work(shared, i), 60) == expected  # type: ignore[misc]


def test_threads_share_an_inference_that_keeps_few_trees(
    network: twbn.Network, table: twbn.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twbn.inference.junction_tree.MAX_KEPT_ENTRIES", 1)
    alone, shared = twbn.Inference(network), twbn.Inference(network)

    def work(engine: twbn.Inference, i: int) -> bytes:
        return engine.predict_proba(table, network.names[i % 12]).tobytes()

    expected = [work(alone, i) for i in range(12)]
    assert in_threads(lambda i: work(shared, i), 96) == expected * 8


def test_threads_share_a_network(network: twbn.Network, table: twbn.Table) -> None:
    def work(i: int) -> Any:
        rows = network.sample(200, seed=i % 5)
        return rows.codes.tobytes(), network.log_likelihood(table).tobytes(), network.states

    assert in_threads(work, 40) == [work(i) for i in range(40)]


@pytest.mark.parametrize("lazy", [False, True])
def test_threads_share_scores(table: twbn.Table, lazy: bool) -> None:
    def made() -> twbn.LocalScores:
        return twbn.LazyScores(table) if lazy else twbn.compute_scores(table)

    def work(scores: twbn.LocalScores, i: int) -> Any:
        rng = np.random.default_rng(i)
        families = []
        for _ in range(200):
            child, *parents = rng.permutation(12)[: 1 + rng.integers(0, 4)].tolist()
            families.append(scores.local(child, parents))
        result = twbn.learn(scores, treewidth=2, method="anneal", max_iterations=2000, seed=i)
        return families, result.dag, result.score

    alone, shared = made(), made()
    expected = [work(alone, i) for i in range(16)]
    assert in_threads(lambda i: work(shared, i), 16) == expected
