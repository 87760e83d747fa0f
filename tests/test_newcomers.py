"""What a newcomer's table is read as, it stays: in learning, fitting, asking and filling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from twbn import Inference, TreewidthBN, as_table, fit, learn, read_network, read_table
from twbn.cli import run

if TYPE_CHECKING:
    from pathlib import Path

pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(6)
A = RNG.integers(0, 2, 120)
B = np.where(RNG.random(120) < 0.1, 1 - A, A)


def through(path: Path, *options: str) -> tuple[Path, Path]:
    """Learn, fit, predict and impute on the command line; return network and filled file."""
    result, net = path.with_name("r.json"), path.with_name("n.json")
    filled = path.with_name("filled.csv")
    budget = ("-k", "1", "--max-iterations", "200", "-o", str(result))
    assert run(["learn", str(path), *options, *budget]) == 0
    assert run(["fit", str(result), "--data", str(path), "-o", str(net)]) == 0
    assert run(["verify", str(result), "--data", str(path)]) == 0
    of_text = [word for word in options if word not in {"--drop", "unusable"}]
    predicted = ["predict", str(path), "--net", str(net), "-q", "a", "-o", str(filled)]
    assert run([*predicted, *of_text]) == 0
    assert run(["impute", str(path), "--net", str(net), "-o", str(filled), *of_text]) == 0
    return net, filled


def test_truth_values_in_any_spelling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "b.csv"
    pd.DataFrame({"a": A, "alarm": np.where(B == 1, "TRUE", "FALSE")}).to_csv(path, index=False)
    net, _ = through(path)
    assert "not seen before" not in capsys.readouterr().err
    engine = Inference(read_network(net))
    for spelling in (True, "True", "TRUE", "true"):
        assert engine.query(["a"], {"alarm": spelling})[1] > 0.5
    assert fit(learn(path, treewidth=1, max_iterations=50), path).states[1] == (False, True)


def test_odd_tokens_among_few_numbers(tmp_path: Path) -> None:
    cells = np.where(np.arange(120) % 9 == 0, ".", (B * 2 + 1).astype(str))
    path = tmp_path / "d.csv"
    pd.DataFrame({"a": A, "q": cells}).to_csv(path, index=False)
    _, filled = through(path)
    assert set(read_table(filled).states[1]) == {1, 3}
    assert not read_table(filled).n_missing.any()


@pytest.mark.parametrize("missing", [[-999], ["-999"], [-999.0], ["-999.0"]])
def test_numbers_that_mean_missing(tmp_path: Path, missing: list[Any]) -> None:
    frame = pd.DataFrame(
        {"t": [-999.0, 1.5, 2.5] * 50, "s": [-999, 1, 2] * 50, "a": list("xyz") * 50}
    )
    frame.to_csv(tmp_path / "m.csv", index=False)
    for table in (
        as_table(frame, missing=missing),
        read_table(tmp_path / "m.csv", missing=missing),
    ):
        assert table.n_missing.tolist() == [50, 50, 0]
        assert table.states[:2] == ((1.5, 2.5), (1, 2))
    infinite = pd.DataFrame({"x": [1.0, 2.0, float("inf")] * 9, "a": list("xyz") * 9})
    assert as_table(infinite, missing=["inf"]).n_missing.tolist() == [9, 0]


def test_how_numbers_are_written_can_be_told_to_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [f"{1000 + 7 * i + 900 * int(B[i]):,}" for i in range(120)]
    cells[3] = "k.A."
    path = tmp_path / "t.csv"
    pd.DataFrame({"v": cells, "a": A}).to_csv(path, index=False, sep=";")
    assert run(["info", str(path)]) == 0
    assert "--thousands ," in capsys.readouterr().out
    _, filled = through(path, "--thousands", ",")
    assert "not seen before" not in capsys.readouterr().err
    assert float(pd.read_csv(filled)["v"][3].replace(",", "")) > 1000


def test_an_encoding_can_be_told_to_every_command(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    text = "a,ö\n" + "".join(f"{a},{'ä' if b else 'ü'}\n" for a, b in zip(A, B, strict=True))
    path.write_text(text, encoding="cp1252")
    _, filled = through(path, "--encoding", "cp1252")
    assert read_table(filled).states[1] == ("ä", "ü")


def test_results_from_missing_cells_are_verified_as_far_as_can_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "g.csv"
    pd.DataFrame({"a": A, "b": B, "c": [None, "x", "y"] * 40}).to_csv(path, index=False)
    through(path)
    said = capsys.readouterr().err
    assert "structure and proof are checked, the score is not" in said


def test_estimators_leave_out_what_they_cannot_use() -> None:
    frame = pd.DataFrame({"id": [f"p{i}" for i in range(120)], "a": A, "b": B})
    frame["v"] = [f"{1000 + i:,}" for i in range(120)]
    with pytest.warns(UserWarning, match="not used, and another column"):
        model = TreewidthBN(treewidth=1, random_state=0).fit(frame)
    assert model.edges_ in ([("a", "b")], [("b", "a")])


def test_columns_may_be_called_by_their_own_labels() -> None:
    columns = pd.MultiIndex.from_product([["q1"], ["a", "b"]])
    frame = pd.DataFrame(np.column_stack([A, B]), columns=columns)
    engine = Inference(fit(learn(frame, treewidth=1, max_iterations=50), frame))
    assert engine.query([("q1", "a")], {("q1", "b"): 1})[1] > 0.5  # type: ignore[list-item]


def test_dates_stay_dates() -> None:
    when = pd.date_range("2024-01-01", periods=120, tz="Europe/Berlin")
    frame = pd.DataFrame({"when": when, "late": (np.arange(120) > 60).astype(int)})
    engine = Inference(fit(learn(frame, treewidth=1, max_iterations=50), frame))
    assert engine.query(["late"], {"when": when[100]})[1] > 0.9
    assert engine.query(["late"], {"when": "2024-01-03"})[1] < 0.1
    frame.loc[3, "when"] = pd.NaT
    filled = engine.impute(frame)
    assert filled["when"].dtype == frame["when"].dtype
    assert filled["when"][3] < when[70]


def test_codes_for_missing_cells_are_noticed() -> None:
    numbers = RNG.normal(20, 5, 300).round(1)
    numbers[::20] = -999
    table = as_table({"t": numbers, "a": np.arange(300) % 2})
    (finding,) = table.findings
    assert (finding.column, finding.kind) == ("t", "missing code")
    assert finding.remedy == (("missing", ("-999",)),)
    assert not as_table({"t": numbers, "a": np.arange(300) % 2}, missing=["-999"]).findings
