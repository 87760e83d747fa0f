"""Imputation: observed cells stay, numbers are numbers, what comes in comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from twbn import Inference, as_table, fit, learn, read_table, write_network
from twbn.cli import run
from twbn.errors import OptionError
from twbn.learning.hot_deck import filled_from_others

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(8)
X = RNG.normal(size=600).round(3)
ROWS: dict[str, Any] = {
    "x": X.tolist(),
    "y": (2 * X + RNG.normal(size=600) / 4 + 10).round(3).tolist(),
    "c": np.where(X > 0, "up", "down").tolist(),
}


@pytest.fixture(name="engine", scope="module")
def _engine() -> Inference:
    table = as_table(ROWS)
    return Inference(fit(learn(table, treewidth=2, max_iterations=2000), table))


def gaps(kind: str) -> Any:
    cells = {"c": ["up", None, "sideways"], "extra": [1, 2, 3], "x": [1.5, -1.5, None]}
    cells["y"] = [None, None, 12.5]
    if kind == "dict":
        return cells
    return pytest.importorskip(kind).DataFrame(cells)


@pytest.mark.parametrize("how", ["mean", "mode", "draw"])
@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_what_comes_in_comes_out(engine: Inference, kind: str, how: str) -> None:
    source = gaps(kind)
    with pytest.warns(UserWarning, match="'sideways' of 'c'"):
        filled = engine.impute(source, how=how, seed=3)
    assert type(filled) is type(source)
    assert list(filled if kind == "dict" else filled.columns) == ["c", "extra", "x", "y"]
    assert list(filled["extra"]) == [1, 2, 3]
    assert list(filled["c"]) == ["up", "down", "sideways"]  # not missing, if not known
    assert list(filled["x"])[:2] == [1.5, -1.5]
    x, y = float(filled["x"][2]), [float(value) for value in filled["y"]]
    assert y[2] == 12.5
    assert y[0] > 11
    assert y[1] < 9
    assert 0 < x < 3
    assert source["y"][0] is None or source["y"][0] != source["y"][0]  # unchanged


def test_the_mean_is_that_of_the_posterior(engine: Inference) -> None:
    network = engine.network
    filled = engine.impute({"x": [0.7], "c": ["up"], "y": [None]})
    posterior = engine.query(["y"], {"x": 0.7, "c": "up"}).values
    table = as_table(ROWS)
    v = table.index("y")
    centers = [
        np.mean(np.asarray(ROWS["y"])[table.codes[:, v] == i]) for i in range(len(posterior))
    ]
    assert network.codings[v].centers == pytest.approx(centers)  # type: ignore[union-attr]
    assert filled["y"][0] == pytest.approx(posterior @ np.asarray(centers))


def test_arrays_stay_arrays(engine: Inference) -> None:
    del engine
    array = np.column_stack([ROWS["x"], ROWS["y"]])
    table = as_table(array)
    asked = Inference(fit(learn(table, treewidth=1, max_iterations=500), table))
    array[0, 1] = np.nan
    filled = asked.impute(array)
    assert filled.dtype == float
    assert np.array_equal(filled[1:], array[1:])
    assert np.isfinite(filled).all()
    with pytest.raises(OptionError, match="how must be one of"):
        asked.impute(array, how="median")


def test_the_command_writes_a_file_that_reads_back(engine: Inference, tmp_path: Path) -> None:
    write_network(engine.network, tmp_path / "net.json")
    path, target = tmp_path / "gaps.csv", tmp_path / "filled.csv"
    path.write_text("c,extra,x,y\nup,a b,1.50,\n,c,-1.5,8.25\nNA,d,0.1,?\n", encoding="utf-8")
    options = ["--net", str(tmp_path / "net.json"), "-o", str(target), "--missing", "?"]
    assert run(["impute", str(path), *options]) == 0
    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "c,extra,x,y"
    assert lines[1].startswith("up,a b,1.50,1")
    assert lines[2] == "down,c,-1.5,8.25"
    table = read_table(target)
    assert table.names == ("c", "extra", "x", "y")
    assert not table.n_missing.any()
    assert run(["impute", str(path), *options[:3], str(tmp_path / "f.parquet")]) == 2


def test_the_first_guess_comes_from_rows_that_are_alike() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 400)
    codes = np.column_stack([a, a, a, rng.integers(0, 2, 400)])
    gone = rng.random(codes.shape) < 0.2
    gone[:, 3] = False
    table = as_table(np.where(gone, np.nan, codes))
    filled = filled_from_others(table, seed=1)
    assert (filled.codes >= 0).all()
    assert np.array_equal(filled.codes[~gone], table.codes[~gone])
    lonely = np.asarray(gone[:, :3].all(axis=1))
    asked = gone & ~lonely[:, None]
    assert np.mean(filled.codes[asked] == codes[asked]) > 0.95
    assert np.array_equal(filled_from_others(table, seed=1).codes, filled.codes)
