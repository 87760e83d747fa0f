"""Answers as frames, of the library that the rows came in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import twbn
from twbn.errors import OptionError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

ROWS = {
    "sky": ["clear", "rain", "rain", "clear", "rain", "clear"] * 20,
    "lamp": [1, 0, 0, 1, 0, 1] * 20,
    "door": ["open", "shut", "open", "open", "shut", "shut"] * 20,
}


@pytest.fixture(scope="module")
def result() -> twbn.SearchResult:
    return twbn.learn(ROWS, treewidth=1, max_iterations=200)


@pytest.fixture(scope="module")
def engine(result: twbn.SearchResult) -> twbn.Inference:
    return twbn.Inference(twbn.fit(result, ROWS, ess=1.0))


@pytest.mark.parametrize("library", [pandas, polars])
def test_predictions_come_out_as_the_rows_came_in(library: Any, engine: twbn.Inference) -> None:
    rows = library.DataFrame({"sky": ["rain", "clear"], "door": ["open", None]})
    found = engine.predict(rows, "lamp")
    assert type(found) is library.DataFrame
    assert list(found.columns) == ["lamp", "P(0)", "P(1)"]
    values = engine.predict_proba(rows, "lamp")
    assert found["P(1)"].to_list() == values[:, 1].tolist()
    assert found["lamp"].to_list() == values.argmax(axis=1).tolist()
    assert type(engine.predict(rows, "lamp", kind="polars")) is polars.DataFrame


def test_marginals_are_a_dict_and_a_frame(engine: twbn.Inference) -> None:
    found = engine.marginals({"door": "open"})
    frame = found.to_frame("polars")
    assert frame.columns == ["variable", "state", "probability"]
    assert len(frame) == 6
    for name, state, p in frame.rows():
        own = found[name].to_dict()
        assert p == next(value for s, value in own.items() if str(s) == state)


def test_tables_are_decoded(engine: twbn.Inference) -> None:
    table = twbn.as_table({"sky": ["rain", None], "lamp": [1, 0], "door": ["open", "shut"]})
    frame = table.to_frame()
    assert list(frame["lamp"]) == [1, 0]
    assert frame["sky"][0] == "rain"
    assert frame["sky"].isna().tolist() == [False, True]
    assert table.to_frame("polars")["sky"].to_list() == ["rain", None]
    assert len(engine.network.sample(5, seed=1).to_frame("pyarrow")) == 5


def test_results_give_their_families_and_their_trace(result: twbn.SearchResult) -> None:
    families = result.families_to_frame("polars")
    assert families["variable"].to_list() == list(ROWS)
    for name, parents, n in families.rows():
        assert parents == ", ".join(result.parents[name])
        assert n == len(result.parents[name])
    trace = result.trace_to_frame("polars")
    assert trace.columns == ["seconds", "iteration", "score", "bound"]
    assert len(trace) == len(result.trace)
    assert np.array_equal(trace["score"].to_numpy(), [point.score for point in result.trace])


def test_an_unknown_library_is_named(result: twbn.SearchResult) -> None:
    with pytest.raises(OptionError, match=r"kind must be one of .*got 'excel'"):
        result.trace_to_frame("excel")


def test_predictions_have_the_index_of_the_rows(engine: twbn.Inference) -> None:
    rows = pandas.DataFrame({"sky": ["rain", "clear"]}, index=[5, 9])
    found = engine.predict(rows, "lamp")
    assert list(found.index) == [5, 9]
    assert list(rows.join(found)["lamp"]) == list(found["lamp"])


def test_names_of_columns_do_not_clash_and_weights_are_not_lost() -> None:
    rows = {"P(0)": [0, 1, 1, 0] * 9, "b": [0, 1, 1, 1] * 9}
    network = twbn.fit(twbn.Dag(((), (0,))), rows, ess=1.0)
    found = twbn.Inference(network).predict({"b": [1]}, "P(0)", kind="polars")
    assert found.columns == ["P(0)", "P(0)_", "P(1)"]
    table = twbn.as_table({"weight": ["x", "y"], "b": [0, 1]}, weights=[2.0, 3.0])
    assert table.to_frame("polars").columns == ["weight", "b", "weight_"]
    assert table.to_frame()["weight_"].tolist() == [2.0, 3.0]
