"""Cuts: quantiles of counted values, the number of intervals, and cuts that tell about a class."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from twbn import Discretize, as_table, compute_scores, learn
from twbn.data.distinct import counted_values, distinct_numbers, positions_in, quantiles
from twbn.data.mdlp import mdlp_edges
from twbn.errors import OptionError


@pytest.mark.parametrize("seed", range(5))
def test_quantiles_are_those_of_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = np.arange(1, 8) / 8
    for numbers in (rng.integers(-5, 40, 300), rng.normal(size=77), rng.integers(0, 2**40, 50)):
        expected = np.quantile(numbers.astype(float), shares)
        assert quantiles(numbers, shares) == pytest.approx(expected)
        times = rng.integers(0, 4, len(numbers))
        repeated = np.repeat(numbers, times).astype(float)
        weighted = quantiles(numbers, shares, times.astype(float))
        assert weighted == pytest.approx(np.quantile(repeated, shares))


def test_distinct_numbers_are_those_of_unique() -> None:
    rng = np.random.default_rng(1)
    for numbers in (
        rng.integers(-9, 9, 5000),
        rng.integers(0, 2**50, 300) // 2**47 * 2**47,
        rng.integers(0, 12, 9000) / 4,
        np.array([7]),
    ):
        values = np.unique(numbers)
        assert distinct_numbers(numbers) == pytest.approx(values)
        assert distinct_numbers(numbers, len(values)) == pytest.approx(values)
        assert distinct_numbers(numbers, len(values) - 1) is None
        assert values[positions_in(numbers, values)] == pytest.approx(numbers)
        assert (positions_in(numbers, values[1:]) < 0).sum() == (numbers == values[0]).sum()
        counted = counted_values(numbers)
        if counted is not None:
            assert counted[0][counted[2]] == pytest.approx(numbers)
            assert counted[1].tolist() == [(numbers == value).sum() for value in counted[0]]


def test_the_number_of_intervals_follows_the_rows() -> None:
    rng = np.random.default_rng(2)
    for n_rows, n_states in ((20, 2), (150, 3), (1000, 5), (20_000, 8)):
        table = as_table({"x": rng.normal(size=n_rows), "b": rng.integers(0, 2, n_rows)})
        assert len(table.states[0]) == n_states
        counts = np.bincount(table.codes[:, 0])
        assert counts.max() - counts.min() <= 1


def brute_force_cut(numbers: np.ndarray, classes: np.ndarray) -> float | None:
    """Return the cut of the first halving by the definition, or None if it does not pay."""

    def entropy(part: np.ndarray) -> float:
        shares = np.unique(part, return_counts=True)[1] / len(part)
        return float(-(shares * np.log2(shares)).sum())

    values = np.unique(numbers)
    best = None
    n = len(numbers)
    for low, high in itertools.pairwise(values):
        cut = (low + high) / 2
        left, right = classes[numbers <= cut], classes[numbers > cut]
        rest = (len(left) * entropy(left) + len(right) * entropy(right)) / n
        if best is None or rest < best[0] - 1e-12:
            best = (rest, cut, left, right)
    assert best is not None
    rest, cut, left, right = best
    k, k1, k2 = (len(np.unique(part)) for part in (classes, left, right))
    delta = np.log2(3.0**k - 2) - (k * entropy(classes) - k1 * entropy(left) - k2 * entropy(right))
    gain = entropy(classes) - rest
    return float(cut) if gain > (np.log2(n - 1) + delta) / n else None


@pytest.mark.parametrize("seed", range(8))
def test_mdlp_cuts_as_defined(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, 25, 120).astype(float)
    noise = rng.random(120) < 0.15 * (seed % 4)
    thirds = np.digitize(numbers, [8, 16])
    classes = np.where(noise, rng.integers(0, 3, 120), thirds).astype(np.int32)
    edges = mdlp_edges(numbers, classes)
    expected = brute_force_cut(numbers, classes)
    if expected is None:
        assert not len(edges)
    else:
        assert any(edge == pytest.approx(expected) for edge in edges)
    for low, high in itertools.pairwise([-np.inf, *edges, np.inf]):
        part = (numbers > low) & (numbers <= high)
        if len(np.unique(numbers[part])) > 1:
            assert brute_force_cut(numbers[part], classes[part]) is None


def test_mdlp_needs_a_class_that_is_one() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    rows = {"x": x, "c": np.where(x > 0.3, "high", "low")}
    table = as_table(rows, discretize=Discretize("mdlp", target="c"))
    assert len(table.states[0]) == 2
    assert np.array_equal(table.codes[:, 0] == 1, np.asarray(rows["c"]) == "high")
    with pytest.raises(OptionError, match="'mdlp' needs a class"):
        as_table(rows, discretize="mdlp")
    with pytest.raises(OptionError, match="unknown column 'd'"):
        as_table(rows, discretize=Discretize("mdlp", target="d"))
    with pytest.raises(OptionError, match="holds numbers with many values"):
        as_table(rows, discretize=Discretize("mdlp", target="x"))


def test_rare_states_are_grouped() -> None:
    cells = ["a"] * 50 + ["b"] * 30 + ["c"] * 3 + ["d"] * 2 + ["e"]
    table = as_table({"c": cells, "b": [0, 1] * 43}, max_categories=3)
    assert table.states[0] == ("a", "b", "other")
    assert np.bincount(table.codes[:, 0]).tolist() == [50, 30, 6]
    again = as_table({"c": ["b", "new", None], "b": [0, 0, 1]}, like=table)
    assert again.codes[:, 0].tolist() == [1, 2, -1]


def test_cuts_by_score_are_where_neighbours_change() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 2000)
    step = np.digitize(x, [2.0, 7.0])
    rows = {"x": x, "c": np.array(["a", "b", "d"])[step], "y": step * 5 + rng.normal(size=2000)}
    result = learn(rows, treewidth=2, max_iterations=3000, discretize="score")
    assert result.coding is not None
    edges = result.coding[0]["bins"]
    for place in (2.0, 7.0):
        assert min(abs(edge - place) for edge in edges) < 0.25
    again = as_table(rows, discretize=Discretize(cut_points={"x": edges}))
    quantiles_of_x = as_table(rows, bins=len(edges) + 1).select(["x", "c"])
    ours = compute_scores(again.select(["x", "c"])).local(1, (0,))
    assert ours > compute_scores(quantiles_of_x).local(1, (0,))
    assert learn(rows, treewidth=2, max_iterations=3000, discretize="score").dag == result.dag


def test_cuts_by_score_need_numbers_that_are_not_cut_yet() -> None:
    table = as_table({"x": np.arange(99.0) % 17, "b": [0, 1, 1] * 33})
    with pytest.raises(OptionError, match="discretize has no effect on a table that is coded"):
        learn(table, discretize="score")
    with pytest.raises(OptionError, match="discretize has no effect on existing scores"):
        learn(compute_scores(table), discretize="score")


def test_the_dynamic_program_finds_the_best_cuts() -> None:
    from twbn.learning.cuts import _dynamic_program

    rng = np.random.default_rng(3)
    n_fine = 7
    gains = rng.normal(size=(n_fine, n_fine + 1)) * 5
    edges = np.arange(1.0, n_fine)
    for price in (0.1, 2.0, 9.0):

        def value(cuts: tuple[float, ...], price: float = price) -> float:
            ends = [0, *(int(cut) for cut in cuts), n_fine]
            return float(sum(gains[a, b] - price for a, b in itertools.pairwise(ends)))

        every = [c for k in range(1, n_fine) for c in itertools.combinations(edges.tolist(), k)]
        found = _dynamic_program(gains, price, edges)
        assert value(found) == pytest.approx(max(map(value, every)))
