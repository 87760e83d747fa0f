"""Tables from memory: frames, arrays, dicts, and new rows coded like old ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from twbn import Discretize, Table, as_table, learn
from twbn.errors import DataError, OptionError, UnknownStateError

COLUMNS: dict[str, list[Any]] = {
    "sex": ["f", "m", "m", None, "f", "f"],
    "smoker": [True, False, True, True, False, False],
    "age": [20.5, 31.0, 44.0, 58.25, float("nan"), 61.0],
    "children": [0, 2, 1, 0, 3, 1],
}


def frames() -> list[Any]:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    nulls = {**COLUMNS, "age": [None if math.isnan(v) else v for v in COLUMNS["age"]]}
    return [
        COLUMNS,
        pd.DataFrame(COLUMNS),
        pd.DataFrame(COLUMNS).convert_dtypes(),  # pd.NA instead of NaN
        pl.DataFrame(nulls),
        pa.table(nulls),
    ]


@pytest.mark.parametrize(
    "source", frames(), ids=["dict", "pandas", "pandas-na", "polars", "pyarrow"]
)
def test_every_frame_gives_the_same_table(source: Any) -> None:
    table = as_table(source, discretize=Discretize("median", max_distinct=4))
    assert table.names == ("sex", "smoker", "age", "children")
    assert table.states[0] == ("f", "m")
    assert table.states[1] == (False, True)
    assert table.states[2] == ("<= 44", "> 44")
    assert table.states[3] == (0, 1, 2, 3)
    assert table.codes[:, 0].tolist() == [0, 1, 1, -1, 0, 0]
    assert table.codes[:, 1].tolist() == [1, 0, 1, 1, 0, 0]
    assert table.codes[:, 2].tolist() == [0, 0, 0, 1, -1, 1]


def test_a_matrix_of_numbers_is_a_table() -> None:
    rng = np.random.default_rng(0)
    table = as_table(rng.normal(size=(50, 3)), names=["a", "b", "c"])
    assert table.names == ("a", "b", "c")
    assert table.n_states.tolist() == [2, 2, 2]
    assert table.codes.sum(axis=0).tolist() == [25, 25, 25]


def test_new_rows_are_coded_by_the_old_rule() -> None:
    old = as_table({"x": np.arange(100.0), "c": ["a", "b"] * 50})
    new = as_table({"c": ["b", "a"], "x": [12.0, 99.0]}, like=old)
    assert new.names == old.names
    assert new.codings == old.codings
    assert old.states[0] == ("<= 33", "(33, 66]", "> 66")
    assert new.codes.tolist() == [[0, 1], [2, 0]]


def test_an_unseen_state_names_column_and_value() -> None:
    old = as_table({"smoker": ["no", "yes", "no"], "b": [0, 1, 1]})
    with pytest.raises(
        UnknownStateError,
        match=r"unknown state 'yess' of variable 'smoker'; expected one of \['no', 'yes'\]",
    ):
        as_table({"smoker": ["yess"], "b": [0]}, like=old)


def test_text_in_a_numeric_column_names_column_and_value() -> None:
    old = as_table({"x": np.arange(100.0), "c": ["a", "b"] * 50})
    with pytest.raises(UnknownStateError, match="variable 'x' holds numbers, got 'tall'"):
        as_table({"c": ["b"], "x": ["tall"]}, like=old)


def test_a_missing_column_of_new_rows_is_named() -> None:
    old = as_table({"a": [0, 1, 0], "b": [0, 1, 1]})
    with pytest.raises(DataError, match="unknown column 'b'"):
        as_table({"a": [0]}, like=old)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"a": [1.0, float("inf"), 2.0], "b": [0, 1, 0]},
            "column 'a', row 2: numbers must be finite",
        ),
        ({"a": [0, 1], "b": [0, 1, 0]}, "'a' has 2 rows, 'b' has 3"),
        ({}, "the table has no columns"),
        ({"a": [], "b": []}, "the table has no rows"),
    ],
)
def test_columns_that_cannot_be_used_are_named(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_table(columns)


@pytest.mark.parametrize(
    ("columns", "message", "unusable"),
    [
        ({"a": [1, 1, 1], "b": [0, 1, 0]}, "is constant: every value is 1", False),
        ({"a": [None, None], "b": [0, 1]}, "has no values: all its cells are missing", False),
        ({"a": ["p", "q", "r"], "b": [0, 1, 0]}, "like an identifier", True),
        ({"a": np.arange(3000), "b": [0, 1, 0] * 1000}, "counts the rows, from 0 to 2999", True),
    ],
)
def test_columns_that_tell_nothing_are_carried_and_told(
    columns: dict[str, Any], message: str, unusable: bool
) -> None:
    table = as_table(columns)
    assert table.names == ("a", "b")
    (finding,) = table.findings
    assert finding.column == "a"
    assert message in finding.message
    assert finding.unusable == unusable
    if unusable:
        with pytest.raises(DataError, match=rf"learning cannot use column 'a', which .*{message}"):
            learn(columns, max_iterations=10)
        with pytest.raises(DataError, match="1 usable columns, a network needs at least 2"):
            as_table(columns, drop="unusable")
    else:
        assert learn(columns, treewidth=1, max_iterations=10).dag.arcs == ()


def test_duplicate_names_of_a_frame_are_told_apart() -> None:
    import pandas as pd

    frame = pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"])
    assert as_table(frame).names == ("a", "a.1")


def test_declared_categories_keep_their_order_and_unobserved_states() -> None:
    import pandas as pd
    import polars as pl

    sizes = ["low", "mid", "high", "unused"]
    pandas = pd.DataFrame({"s": pd.Categorical(["mid", "low", "high"], sizes), "b": [0, 1, 1]})
    polars = pl.DataFrame(
        {"s": pl.Series(["mid", "low", "high"], dtype=pl.Enum(sizes)), "b": [0, 1, 1]}
    )
    for frame in (pandas, polars):
        table = as_table(frame)
        assert table.states[0] == tuple(sizes)
        assert table.codes[:, 0].tolist() == [1, 0, 2]


def test_a_coded_table_can_be_coded_again() -> None:
    table = as_table({"ab": np.arange(50.0), "a": [0, 1] * 25, "b": ["x", "y"] * 25})
    assert as_table(table, like=table).equals(table)
    assert as_table(table, drop="ab").names == ("a", "b")
    with pytest.raises(DataError, match="unknown column 'c'"):
        as_table(table, drop=["c"])


def test_names_rename_the_columns_of_a_frame() -> None:
    assert as_table({"a": [0, 1], "b": [1, 0]}, names=["c", "d"]).names == ("c", "d")


def test_a_dict_of_scalars_is_refused() -> None:
    with pytest.raises(DataError, match="column 'a' must be a sequence of cells, got 3"):
        as_table({"a": 3, "b": 4})


def test_values_that_look_alike_are_refused() -> None:
    with pytest.raises(DataError, match="column 'a' mixes values that look alike"):
        as_table({"a": [1, "1", "z", 1], "b": [0, 1, 0, 1]})


def test_something_else_is_refused_by_type() -> None:
    with pytest.raises(DataError, match=r"cannot make a table from a value of type builtins\.int"):
        as_table(3)


def test_a_table_passes_through() -> None:
    table = Table.from_codes([[0, 1], [1, 0]])
    assert as_table(table) is table


@pytest.mark.parametrize("at_least", [False, True])
def test_quantile_bins_hold_about_equal_shares(at_least: bool) -> None:
    rule = Discretize("quantile", bins=4, at_least=at_least)
    table = as_table({"x": np.arange(1000.0), "b": [0, 1] * 500}, discretize=rule)
    shares = np.bincount(table.codes[:, 0])
    assert len(shares) == 4
    assert shares.min() >= 249


def test_uniform_bins_are_equally_wide() -> None:
    rule = Discretize("uniform", bins=5)
    table = as_table({"x": np.arange(0.0, 100.5, 0.5), "b": [0] * 100 + [1] * 101}, discretize=rule)
    assert table.states[0] == ("<= 20", "(20, 40]", "(40, 60]", "(60, 80]", "> 80")


def test_given_cut_points_are_used_even_for_few_values() -> None:
    rule = Discretize(cut_points={"x": [1.5]})
    table = as_table({"x": [1, 2, 3, 1], "b": [0, 1, 0, 1]}, discretize=rule)
    assert table.states[0] == ("<= 1.5", "> 1.5")
    assert table.codes[:, 0].tolist() == [0, 1, 1, 0]


def test_quantiles_of_a_lopsided_column_still_give_two_states() -> None:
    values = [0.0] * 90 + [float(i) for i in range(1, 21)]
    table = as_table({"x": values, "b": [0, 1] * 55}, discretize="quantile")
    assert np.unique(table.codes[:, 0]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "deciles"}, "discretize must be one of"),
        ({"bins": 1}, "bins must be a whole number, 2 or more, got 1"),
        ({"max_distinct": -1}, "max_distinct must be a whole number, 0 or more"),
        ({"method": "median", "bins": 3}, "bins has no effect with 'median'"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Discretize(**options)


def test_the_row_of_an_infinite_number_is_its_own() -> None:
    cells = ["1.5", "1.5", "2.5", "inf", "1.5"]
    with pytest.raises(DataError, match=r"column 'a', row 4: .*got inf; .* list it in missing"):
        as_table({"a": cells, "b": [0, 1, 0, 1, 1]})
