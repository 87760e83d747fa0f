"""Rows other than those a structure was learned from: coded as those were, or refused."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from twbn.errors import DataError, UnknownStateError

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(0)
X = np.round(RNG.normal(4.5, 1.0, 80), 2)
FIRST = {"x": X.tolist(), "y": (X > 4.5).astype(int).tolist(), "z": ["r", "s", "t", "s"] * 20}
OTHER = {"x": (X[:40] - 0.3).tolist(), "y": [0, 1] * 20, "z": ["s", "r"] * 20}


@pytest.fixture(scope="module")
def result() -> twbn.SearchResult:
    return twbn.learn(FIRST, treewidth=1, max_iterations=100)


def test_other_rows_are_cut_where_the_first_were(result: twbn.SearchResult) -> None:
    network = twbn.fit(result, OTHER)
    learned = twbn.as_table(FIRST)
    assert network.codings == learned.codings
    assert network.states[2] == ("r", "s", "t")  # t does not occur in the other rows
    assert network.equals(twbn.fit(result, twbn.as_table(OTHER, like=learned)))


def test_a_structure_alone_is_fitted_to_the_rows_as_they_are() -> None:
    table = twbn.as_table(OTHER)
    assert twbn.fit(twbn.Dag.empty(3), OTHER).codings == table.codings


def test_a_table_that_is_coded_otherwise_is_refused(result: twbn.SearchResult) -> None:
    with pytest.raises(DataError, match=r"coded otherwise than the data of the structure"):
        twbn.fit(result, twbn.as_table(OTHER))


def test_a_new_state_is_refused(result: twbn.SearchResult) -> None:
    rows = {**OTHER, "z": ["s", "new"] * 20}
    with pytest.raises(UnknownStateError, match="unknown state 'new' of variable 'z'"):
        twbn.fit(result, rows)


def test_a_result_file_remembers_the_coding(result: twbn.SearchResult, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    twbn.write_result(result, path)
    claimed = twbn.read_result(path)
    assert claimed.dag == result.dag
    assert claimed.decomposition == result.decomposition
    assert twbn.fit(claimed, OTHER).equals(twbn.fit(result, OTHER))
    table = twbn.as_table(FIRST)
    assert twbn.fit(claimed, table).equals(twbn.fit(result, table))


def write_csv(path: Path, rows: dict[str, list[Any]]) -> Path:
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_command_line_codes_other_rows_alike(tmp_path: Path) -> None:
    first, other = write_csv(tmp_path / "a.csv", FIRST), write_csv(tmp_path / "b.csv", OTHER)
    result, net = tmp_path / "result.json", tmp_path / "net.json"
    for arguments in (
        ("learn", first, "-k", 1, "--max-iterations", 100, "-o", result),
        ("fit", result, "--data", other, "-o", net),
    ):
        subprocess.run([sys.executable, "-m", "twbn", *map(str, arguments)], check=True)
    assert twbn.read_network(net).codings == twbn.as_table(FIRST).codings


def test_structural_em_takes_other_rows_alike(result: twbn.SearchResult) -> None:
    from twbn.learning import fit_incomplete

    rows: dict[str, list[Any]] = {**OTHER, "y": [None, 1] * 20}
    fitted = fit_incomplete(result, rows, max_iterations=3).network
    assert fitted.codings == twbn.as_table(FIRST).codings


# Columns that are called otherwise


@pytest.fixture(scope="module")
def engine() -> twbn.Inference:
    rows = {
        "petal length": ["long", "short"] * 10, "petal width": ["wide", "slim"] * 10,
        "kind": ["a", "b"] * 10,
    }  # fmt: skip
    return twbn.Inference(twbn.fit(twbn.Dag.from_arcs(3, [(2, 0), (2, 1)]), rows))


@pytest.mark.parametrize("name", ["petal lenght", "Petal Length", "petal_length", "petal.length"])
def test_a_misspelt_column_is_refused_by_name(engine: twbn.Inference, name: str) -> None:
    rows = {name: ["long"], "petal width": ["wide"]}
    for ask in (
        lambda: engine.predict_proba(rows, "kind"),
        lambda: engine.score_samples(rows),
        lambda: engine.impute(rows),
    ):
        with pytest.raises(DataError, match=f"{name!r}; rename the column to 'petal length'"):
            ask()


def test_columns_that_are_not_there_are_told(engine: twbn.Inference) -> None:
    rows = {"height": [1.5], "petal width": ["wide"]}
    with pytest.warns(UserWarning, match="no column for 'petal length', taken as unknown"):
        values = engine.predict_proba(rows, "kind")
    assert np.array_equal(values, engine.predict_proba({"petal width": ["wide"]}, "kind"))


def test_an_extra_column_beside_all_of_them_is_left_out(engine: twbn.Inference) -> None:
    rows = {"id": [1], "petal length": ["long"], "petal width": ["wide"]}
    assert engine.predict_proba(rows, "kind").shape == (1, 2)


def test_a_misspelt_column_of_a_file_is_refused(engine: twbn.Inference, tmp_path: Path) -> None:
    net = tmp_path / "net.json"
    twbn.write_network(engine.network, net)
    data = write_csv(tmp_path / "rows.csv", {"petal lenght": ["long"], "petal width": ["wide"]})
    done = subprocess.run(
        [sys.executable, "-m", "twbn", "predict", data, "--net", net, "-q", "kind"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert (
        "no variable is called 'petal lenght'; rename the column to 'petal length'" in done.stderr
    )


@pytest.mark.parametrize(
    ("column", "variable"),
    [
        ("temp_min", "temp_max"),
        ("petal width (cm)", "sepal width (cm)"),
        ("+", "-"),
        ("a_1_11", "a_11_1"),
        ("x_mean", "y_mean"),
        ("sensor12", "sensor21"),
        ("age", "wage"),
    ],
)
def test_a_column_of_another_name_is_another_column(column: str, variable: str) -> None:
    rows = {variable: ["a", "b"] * 4, "kind": ["a", "b"] * 4, "other": ["a", "b", "b", "a"] * 2}
    engine = twbn.Inference(twbn.fit(twbn.Dag.from_arcs(3, [(0, 1)]), rows))
    with pytest.warns(UserWarning, match="taken as unknown"):
        engine.predict_proba({column: ["x"], "other": ["a"]}, "kind")


def test_thousands_of_columns_are_compared_at_once() -> None:
    from twbn.data.names import check_misnamed

    columns = [f"column number {v}" for v in range(20_000)]
    with pytest.warns(UserWarning, match="and 19995 more, taken as unknown"):
        check_misnamed(columns, [f"variable called {v}" for v in range(20_000)], None)


def test_states_of_numpy_are_kept_with_a_result(tmp_path: Path) -> None:
    from twbn.data import Categories

    coding = Categories((np.int64(0), np.int64(1)))  # type: ignore[arg-type]
    codes = np.array([[0, 0], [1, 1], [0, 0], [1, 0]] * 5, dtype=np.int32)
    table = twbn.Table(("a", "b"), (coding, coding), codes)
    result = twbn.learn(table, treewidth=1)
    twbn.write_result(result, tmp_path / "result.json")
    network = twbn.fit(result, table)
    assert network.equals(twbn.fit(twbn.read_result(tmp_path / "result.json"), table))


def test_padded_numbers_are_the_numbers_of_a_coding() -> None:
    like = twbn.as_table({"h": [5, 10, 15] * 4, "y": [0, 1, 1] * 4})
    again = twbn.as_table({"h": ["05", "10", "15"], "y": ["0", "1", "1"]}, like=like)
    assert again.codes[:, 0].tolist() == [0, 1, 2]


def test_a_network_is_fitted_to_other_rows_as_it_is_coded(result: twbn.SearchResult) -> None:
    from twbn.learning import fit_incomplete

    network = twbn.fit(result, FIRST)
    assert twbn.fit(network, OTHER).codings == network.codings
    gaps: dict[str, list[Any]] = {**OTHER, "y": [None, 1.0] * 20}  # as pandas has them
    for found in (
        fit_incomplete(network, gaps, max_iterations=2),
        fit_incomplete(network.dag, gaps, max_iterations=2, start=network),
    ):
        assert found.network.codings == network.codings
