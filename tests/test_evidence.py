"""Evidence in every form that callers have it in, and what is missing in it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import twbn
from twbn.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

ROWS = {
    "length": [1.0, 1.2, 1.4, 4.1, 4.4, 4.6, 5.5, 5.9, 6.1, 6.3, 1.1, 4.2] * 3,
    "width": [0.2, 0.3, 0.2, 1.1, 1.3, 1.2, 2.0, 2.2, 2.4, 2.1, 0.1, 1.4] * 3,
    "kind": ["a", "a", "a", "b", "b", "b", "c", "c", "c", "c", "a", "b"] * 3,
}
MISSING = [float("nan"), np.float64("nan"), np.float32("nan"), None, pd.NA, pd.NaT, "", " ", "nan"]


@pytest.fixture(scope="module")
def engine() -> twbn.Inference:
    table = twbn.as_table(ROWS)
    dag = twbn.Dag.from_arcs(3, [(2, 0), (2, 1)])
    return twbn.Inference(twbn.fit(dag, table))


def close(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(np.allclose(a[name].values, b[name].values, rtol=1e-12) for name in a)


@pytest.mark.parametrize("nothing", MISSING, ids=repr)
@pytest.mark.parametrize("name", ["length", "kind"])
def test_missing_evidence_is_no_evidence_in_every_question(
    engine: twbn.Inference, name: str, nothing: Any
) -> None:
    for rest in ({}, {"width": 2.2}):
        gap = {**rest, name: nothing}
        assert close(engine.marginals(gap), engine.marginals(rest))
        assert np.allclose(engine.query([name], gap).values, engine.query([name], rest).values)
        joint = ["length", "kind"]
        assert np.allclose(engine.query(joint, gap).values, engine.query(joint, rest).values)
        assert engine.log_evidence(gap) == engine.log_evidence(rest)
        assert engine.log_possible(gap) == engine.log_possible(rest)
        assert engine.most_probable(gap) == engine.most_probable(rest)
        assert engine.sample_given(gap, seed=3) == engine.sample_given(rest, seed=3)
        found, wanted = (engine.marginal_map(["length"], e, seed=0) for e in (gap, rest))
        assert (found.states, found.log_probability) == (wanted.states, wanted.log_probability)
        assert engine.marginal_map_cost(["width"], gap) == engine.marginal_map_cost(["width"], rest)


def test_the_answer_to_missing_evidence_is_the_prior(engine: twbn.Inference) -> None:
    prior = engine.query(["kind"]).to_dict()
    asked = engine.marginals({"length": float("nan")})["kind"].to_dict()
    assert asked == pytest.approx(prior, rel=1e-12)


def test_a_state_called_nan_is_a_state() -> None:
    network = twbn.Network.from_tables(
        {"x": ["nan", "is"], "y": ["no", "yes"]},
        {"x": [], "y": ["x"]},
        {"x": [0.5, 0.5], "y": [[1.0, 0.0], [0.0, 1.0]]},
    )
    assert twbn.Inference(network).query(["y"], {"x": "nan"})["no"] == 1.0


@pytest.mark.parametrize("kind", ["series", "pandas", "polars", "tuple"])
def test_a_row_of_a_frame_is_evidence(engine: twbn.Inference, kind: str) -> None:
    frame = pd.DataFrame({"width": [2.2, 0.1], "kind": ["c", None]})
    given: Any = {
        "series": lambda i: frame.iloc[i],
        "pandas": lambda i: frame.iloc[[i]],
        "polars": lambda i: pl.DataFrame({"width": [2.2, 0.1], "kind": ["c", None]})[i],
        "tuple": lambda i: list(frame.itertuples(index=False))[i],
    }[kind]
    assert close(engine.marginals(given(0)), engine.marginals({"width": 2.2, "kind": "c"}))
    assert close(engine.marginals(given(1)), engine.marginals({"width": 0.1}))
    assert engine.log_evidence(given(1)) == engine.log_evidence({"width": 0.1})


def test_evidence_that_is_no_row_is_refused(engine: twbn.Inference) -> None:
    with pytest.raises(DataError, match="evidence must be one row, got a frame of 2 rows"):
        engine.marginals(pd.DataFrame({"width": [1.0, 2.0]}))
    with pytest.raises(DataError, match=r"evidence must be states by variable .* got list"):
        engine.marginals([1, 2])


def test_no_code_of_a_state_is_ever_negative(engine: twbn.Inference) -> None:
    for nothing in MISSING:
        with pytest.raises(DataError, match="unknown state"):
            engine.network.state_code(0, nothing)


def test_missing_evidence_on_the_command_line(engine: twbn.Inference, tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    twbn.write_network(engine.network, path)
    prior = engine.query(["kind"]).to_dict()
    for text in ("length=nan", "length=", "length=NA"):
        done = subprocess.run(
            [sys.executable, "-m", "twbn", "query", path, "-q", "kind", "-e", text, "--json"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert json.loads(done.stdout)["kind"] == pytest.approx(prior, rel=1e-12)
    assert all(math.isfinite(p) for p in prior.values())


def test_nothing_is_not_the_state_called_none() -> None:
    network = twbn.Network.from_tables(
        {"a": ["None", "Mild", "nan"], "b": ["x", "y"]},
        {"a": [], "b": ["a"]},
        {"a": [0.2, 0.3, 0.5], "b": [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]},
    )
    engine = twbn.Inference(network)
    prior = engine.query(["b"]).values
    for nothing in (None, float("nan"), pd.NA):
        assert np.allclose(engine.marginals({"a": nothing})["b"].values, prior)
        assert np.allclose(engine.query(["b"], {"a": nothing}).values, prior)
    assert engine.query(["b"], {"a": "None"})["x"] == 1.0
    assert engine.query(["b"], {"a": "nan"})["y"] == 1.0


def test_a_row_with_its_index_is_evidence(engine: twbn.Inference) -> None:
    row = next(pd.DataFrame({"width": [2.2]}).itertuples())
    assert close(engine.marginals(row), engine.marginals({"width": 2.2}))
