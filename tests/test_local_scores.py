"""Local scores against their definitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from oracle import local_score, random_table
from twbn import LazyScores, Table, as_table, compute_scores
from twbn.errors import DataError, MissingCellsError, OptionError
from twbn.scores import SCORES

#: The running example of the .jkl format: C = A, twelve rows.
ABC = as_table({"A": [0, 0, 1, 1] * 3, "B": [0, 1, 0, 1] * 3, "C": [0, 0, 1, 1] * 3})


def families(n: int, max_parents: int) -> list[tuple[int, tuple[int, ...]]]:
    return [
        (child, parents)
        for child in range(n)
        for size in range(max_parents + 1)
        for parents in itertools.combinations([v for v in range(n) if v != child], size)
    ]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_rows", "max_states"), [(1, 3), (40, 2), (60, 5), (300, 12)])
def test_scores_equal_their_definitions(
    score: str, weighted: bool, n_rows: int, max_states: int
) -> None:
    rng = np.random.default_rng(n_rows * 7 + max_states)
    table = random_table(rng, 5, n_rows, max_states=max_states, weighted=weighted)
    scores = compute_scores(table, score=score, ess=2.5, max_parents=4, prune=False)
    lazy = LazyScores(table, score=score, ess=2.5, max_parents=4)
    for child, parents in families(5, 4):
        expected = local_score(table, child, parents, score, 2.5)
        assert scores.local(child, parents) == pytest.approx(expected, rel=1e-10, abs=1e-8)
        assert lazy.local(child, parents) == pytest.approx(expected, rel=1e-10, abs=1e-8)


def test_whole_weights_count_like_repeated_rows() -> None:
    rng = np.random.default_rng(3)
    table = random_table(rng, 4, 30)
    times = rng.integers(1, 5, 30)
    repeated = table.take(np.repeat(np.arange(30), times))
    weighted = table.with_weights(times)
    for score in SCORES:
        a = compute_scores(repeated, score=score, prune=False)
        b = compute_scores(weighted, score=score, prune=False)
        for child, parents in families(4, 3):
            assert a.local(child, parents) == pytest.approx(b.local(child, parents), abs=1e-8)


@pytest.mark.parametrize("unit", [1.0, 0.5, 0.2, 1 / 3, 1 / 256, 0.7123456789])
@pytest.mark.parametrize("max_states", [2, 4, 11])
def test_weights_of_any_unit_are_counted_right(unit: float, max_states: int) -> None:
    rng = np.random.default_rng(max_states)
    table = random_table(rng, 5, 120, max_states=max_states)
    table = table.with_weights(unit * rng.integers(0, 16, 120))
    for score in SCORES:
        scores = compute_scores(table, score=score, max_parents=3, prune=False)
        lazy = LazyScores(table, score=score, max_parents=4)
        for child, parents in families(5, 3):
            expected = local_score(table, child, parents, score, 1.0)
            assert scores.local(child, parents) == pytest.approx(expected, rel=1e-10, abs=1e-8)
            assert lazy.local(child, parents) == pytest.approx(expected, rel=1e-10, abs=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [150, 3000])
def test_large_families_are_scored_by_definition(weighted: bool, n_rows: int) -> None:
    rng = np.random.default_rng(n_rows)
    table = random_table(rng, 12, n_rows, max_states=3)
    if weighted:
        table = table.with_weights(rng.integers(0, 9, n_rows))
    for score in ("bdeu", "k2", "aic"):
        lazy = LazyScores(table, score=score, max_parents=None)
        for size in range(4, 11):
            child, *parents = rng.permutation(12)[: size + 1].tolist()
            expected = local_score(table, child, parents, score, 1.0)
            assert lazy.local(child, parents) == pytest.approx(expected, rel=1e-10, abs=1e-8)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"score": "bic"},
            [-9.560219491613, -10.802672816507, -2.484906649788, -4.969813299576],
        ),
        ({"score": "bdeu", "ess": 1}, [-9.80682, -11.589277, -2.317231, -3.422664]),
        ({"score": "bdeu", "ess": 10}, [-8.725594, -9.160193, -5.323549, -5.841609]),
    ],
)
def test_published_vectors(options: dict[str, Any], expected: list[float]) -> None:
    scores = compute_scores(ABC, prune=False, **options)
    found = [scores.local(0, parents) for parents in [(), (1,), (2,), (1, 2)]]
    assert found == pytest.approx(expected, abs=1e-6)


def test_mdl_is_bic() -> None:
    assert compute_scores(ABC, score="mdl").equals(compute_scores(ABC, score="bic"))


@pytest.mark.parametrize("score", ["bdeu", "bic", "aic", "loglik"])
def test_equivalent_networks_score_alike(score: str) -> None:
    table = random_table(np.random.default_rng(5), 3, 80)
    scores = compute_scores(table, score=score, prune=False)
    chain = scores.total([(), (0,), (1,)])
    assert scores.total([(1,), (2,), ()]) == pytest.approx(chain)
    assert scores.total([(1,), (), (1,)]) == pytest.approx(chain)


def test_pgmpy_agrees() -> None:
    structure = pytest.importorskip("pgmpy.structure_score", reason="pgmpy is not installed")
    import pandas as pd

    # Every parent configuration occurs: pgmpy's prior looks at the observed ones only.
    table = Table.from_codes(np.random.default_rng(8).integers(0, 3, (600, 5)))
    frame = pd.DataFrame({n: [f"s{c}" for c in cells] for n, cells in table.decode().items()})
    states = {
        n: [f"s{s}" for s in range(r)] for n, r in zip(table.names, table.n_states, strict=True)
    }
    peers = {
        "bdeu": structure.BDeu(frame, equivalent_sample_size=3, state_names=states),
        "bic": structure.BIC(frame, state_names=states),
        "k2": structure.K2(frame, state_names=states),
    }
    for score, peer in peers.items():
        scores = compute_scores(table, score=score, ess=3, prune=False)
        for child, parents in families(5, 3):
            theirs = peer.local_score(table.names[child], tuple(table.names[p] for p in parents))
            assert scores.local(child, parents) == pytest.approx(theirs, abs=1e-6)


def test_any_number_of_workers_gives_the_same_table() -> None:
    table = random_table(np.random.default_rng(9), 12, 300, max_states=3)
    one = compute_scores(table)
    for n_jobs in (2, 3, 7):
        assert compute_scores(table, n_jobs=n_jobs).equals(one)


def test_a_function_scores_like_the_compiled_path() -> None:
    table = random_table(np.random.default_rng(2), 5, 100)

    def bic(data: Table, child: int, parents: tuple[int, ...]) -> float:
        return local_score(data, child, parents, "bic", 1.0)

    ours, theirs = compute_scores(table, score="bic"), compute_scores(table, score=bic)
    assert np.array_equal(ours.set_offsets, theirs.set_offsets)
    assert np.array_equal(ours.parents, theirs.parents)
    assert np.allclose(ours.scores, theirs.scores)
    assert LazyScores(table, score=bic).local(0, [1]) == pytest.approx(ours.local(0, [1]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": "bge"}, "unknown score 'bge'; expected one of bdeu"),
        ({"ess": -1}, r"ess \(equivalent sample size\) must be a positive number, got -1"),
        ({"ess": 0}, "got 0"),
        ({"ess": float("nan")}, "got nan"),
        ({"max_parents": -1}, "max_parents must be a whole number, 0 or more, got -1"),
        ({"max_parents": 1.5}, "got 1.5"),
        ({"n_jobs": 0}, "n_jobs must be a positive number"),
        ({"time_limit": 0}, "time_limit must be a positive number of seconds, got 0"),
        ({"memory_limit": -1}, "memory_limit must be a positive, finite number of GiB, got -1"),
        ({"budget": -5}, "budget must be a whole number, 0 or more, got -5"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        compute_scores(ABC, **options)


def test_missing_cells_are_refused() -> None:
    with pytest.raises(MissingCellsError, match="scoring needs complete rows"):
        compute_scores(as_table({"a": [0, 1, None], "b": [0, 1, 1]}))


def test_too_many_states_are_refused() -> None:
    values = np.arange(5000) % 4999
    table = Table.from_codes(np.column_stack([values, values % 2]))
    with pytest.raises(DataError, match="column 'x1' has 4999 states; scoring takes at most 4096"):
        compute_scores(table)


def test_many_states_and_rows_are_counted_right() -> None:
    rng = np.random.default_rng(4)
    table = Table.from_codes(rng.integers(0, 500, (3000, 3)), n_states=[500] * 3)
    scores = compute_scores(table, score="loglik", max_parents=2, prune=False)
    expected = local_score(table, 0, (1, 2), "loglik", 1.0)
    assert scores.local(0, (1, 2)) == pytest.approx(expected, abs=1e-6)


def test_more_cells_than_32_bits_number_are_counted_right() -> None:
    # Cells times states pass 2^32 on the way.
    rng = np.random.default_rng(1)
    n_rows = 1_100_000
    codes = np.column_stack([rng.integers(0, 4096, (n_rows, 3)), np.arange(n_rows) % 2])
    lazy = LazyScores(Table.from_codes(codes, n_states=[4096, 4096, 4096, 2]), score="loglik")
    cells = codes[:, :3].astype(np.int64) @ np.array([4096**2, 4096, 1])
    _, parents = np.unique(cells, return_counts=True)
    _, joint = np.unique(cells * 2 + codes[:, 3], return_counts=True)
    expected = np.sum(joint * np.log(joint)) - np.sum(parents * np.log(parents))
    assert lazy.local(3, [0, 1, 2]) == pytest.approx(expected, abs=1e-6)
