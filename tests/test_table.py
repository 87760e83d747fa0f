"""Tables and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from twbn import LazyScores, Table, as_table, compute_scores, learn
from twbn.data import Bins, Categories
from twbn.errors import DataError, MissingCellsError, OptionError


def test_codes_are_read_only() -> None:
    table = Table.from_codes([[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="read-only"):
        table.codes[0, 0] = 1


def test_the_callers_array_is_left_alone() -> None:
    codes = np.array([[0, 1], [1, 0]], dtype=np.int32)
    table = Table.from_codes(codes)
    codes[0, 0] = 1  # still writable, and no longer the table's
    assert table.codes[0, 0] == 0


def test_decoding_gives_the_cells_back() -> None:
    columns = {"a": ["x", None, "y", "x"], "b": [1, 2, 1, None]}
    assert as_table(columns).decode() == columns


def test_select_take_and_weights_keep_the_rest() -> None:
    table = Table.from_codes([[0, 1, 0], [1, 0, 1], [1, 1, 0]], names=["a", "b", "c"])
    assert table.select(["c", "a"]).names == ("c", "a")
    assert table.select(["c", "a"]).codes.tolist() == [[0, 0], [1, 1], [0, 1]]
    heavy = table.with_weights([1, 2, 3]).take([2, 0])
    assert heavy.weights is not None
    assert heavy.weights.tolist() == [3, 1]
    assert heavy.total_weight == 4


def test_duplicate_names_are_refused_by_name() -> None:
    with pytest.raises(DataError, match="'a' occurs 2 times"):
        Table.from_codes([[0, 1], [1, 0]], names=["a", "a"])


def test_a_code_beyond_the_states_is_refused() -> None:
    with pytest.raises(DataError, match="column 'b' has 2 states, but holds the code 5"):
        Table.from_codes([[0, 5], [1, 0]], names=["a", "b"], n_states=[2, 2])


@pytest.mark.parametrize("code", [2**32, 10**9, -2])
def test_a_code_out_of_range_is_refused(code: int) -> None:
    with pytest.raises(DataError, match=f"codes must be between -1 .*got {code}"):
        Table.from_codes(np.array([[code, 0], [1, 1]]), n_states=[2, 2])


def test_pickling_keeps_a_table_read_only() -> None:
    import pickle

    table = Table.from_codes([[0, 1], [1, 0]], weights=[1, 2])
    copy = pickle.loads(pickle.dumps(table))
    assert copy.equals(table)
    assert not copy.codes.flags.writeable


@pytest.mark.parametrize("score", ["bdeu", "bic", "k2", "aic", "loglik"])
def test_a_variable_of_one_state_changes_nothing(score: str) -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (40, 3)).astype(np.int32)
    codes[:, 0] = 0
    table = Table(("a", "b", "c"), (Categories(("x",)), *[Categories(("y", "z"))] * 2), codes)
    assert table.states[0] == ("x",)
    without = compute_scores(table.select(["b", "c"]), score=score, prune=False)
    for scores in (compute_scores(table, score=score, prune=False), LazyScores(table, score=score)):
        for parents in ((), (1,), (1, 2)):
            assert scores.local(0, parents) == pytest.approx(0.0, abs=1e-9)
        assert scores.local(1, (2,)) == pytest.approx(without.local(0, (1,)))
        assert scores.local(1, ()) == pytest.approx(without.local(0, ()))
    result = learn(table, score=score, treewidth=1, max_iterations=100)
    assert result.score == pytest.approx(
        learn(table.select(["b", "c"]), score=score, treewidth=1, max_iterations=100).score
    )


def test_a_column_needs_a_state() -> None:
    codes = np.zeros((3, 2), dtype=np.int32)
    with pytest.raises(DataError, match="column 'a' has no states"):
        Table(("a",), (Categories(()),), codes[:, :1])


@pytest.mark.parametrize("codes", [np.zeros((0, 3), int), np.zeros((3, 0), int)])
def test_a_table_needs_rows_and_columns(codes: np.ndarray) -> None:
    with pytest.raises(DataError, match="a table needs rows and columns, got"):
        Table.from_codes(codes)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2, 1], "not negative, got -2.0 in row 2"),
        ([1, np.nan, 1], "got nan in row 2"),
        ([1, np.inf, 1], "got inf in row 2"),
        ([0, 0, 0], "must have a positive, finite sum, got 0.0"),
        ([1e308] * 3, "finite sum, got inf"),
        ([1, 1], "expected 3"),
        (["a", "b", "c"], "weights must be numbers"),
    ],
)
def test_bad_weights_are_refused(weights: list[object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_table({"a": [0, 1, 0], "b": [1, 1, 0]}, weights=weights)  # type: ignore[arg-type]


def test_weights_may_be_a_column() -> None:
    table = as_table({"a": [0, 1, 0], "b": [1, 1, 0], "w": [0.5, 2, 1]}, weights="w")
    assert table.names == ("a", "b")
    assert table.weights is not None
    assert table.weights.tolist() == [0.5, 2, 1]


def test_a_weight_column_with_text_is_refused() -> None:
    with pytest.raises(DataError, match="column 'w' is to hold row weights"):
        as_table({"a": [0, 1, 0], "w": ["x", "y", "x"]}, weights="w")


def test_an_unknown_column_gets_the_nearest_match() -> None:
    with pytest.raises(OptionError, match=r"unknown column 'smokr'; did you mean 'smoker'\?"):
        as_table({"smoker": [0, 1, 0], "b": [1, 1, 0]}, drop=["smokr"])


def test_missing_cells_are_named_where_they_matter() -> None:
    table = as_table({"a": [0, None, 1, 0], "b": [1, 1, 0, 0]})
    with pytest.raises(MissingCellsError, match=r"1 cells are missing, in a \(1\)"):
        table.require_complete("scoring")
    assert table.complete_rows().n_rows == 3


def test_states_of_bins_are_intervals() -> None:
    assert Bins((1.0, 2.5), at_least=True).states == ("< 1", "[1, 2.5)", ">= 2.5")


def test_cut_points_must_increase() -> None:
    with pytest.raises(OptionError, match=r"increasing, got \[2, 1\]"):
        Bins((2, 1))
