"""What a newcomer's table is read as, it stays: in learning, fitting, asking and filling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from twbn import (
    Inference,
    TreewidthBN,
    TreewidthClassifier,
    as_table,
    fit,
    learn,
    read_network,
    read_result,
    read_table,
)
from twbn.cli import run
from twbn.errors import DataError, FileFormatError, OptionError

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
    assert float(pd.read_csv(filled, sep=";")["v"][3].replace(",", "")) > 1000


def test_an_encoding_can_be_told_to_every_command(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    text = "a,ö\n" + "".join(f"{a},{'ä' if b else 'ü'}\n" for a, b in zip(A, B, strict=True))
    path.write_text(text, encoding="cp1252")
    _, filled = through(path, "--encoding", "cp1252")
    assert read_table(filled, encoding="cp1252").states[1] == ("ä", "ü")


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


def test_a_title_above_the_table_is_told_and_can_be_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"{a},{b},{a + b}\n" for a, b in zip(A, B, strict=True))
    path.write_text(f"Alarms of 2024\n\na,b,c\n{rows}", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"line 1: 1 value .* line 3 .* skip_rows=2"):
        read_table(path)
    assert run(["info", str(path)]) == 1
    assert "give --skip-rows 2" in capsys.readouterr().err
    whole = read_table(path, skip_rows=2)
    assert (whole.names, whole.n_rows) == (("a", "b", "c"), 120)
    in_chunks = read_table(path, skip_rows=2, distinct=True)
    assert in_chunks.weights is not None
    assert in_chunks.weights.sum() == 120
    through(path, "--skip-rows", "2")
    path.write_text(f"a,b,c\n{rows}1,2\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="line 122: expected 3 values, found 2"):
        read_table(path)
    with pytest.raises(FileFormatError, match="nothing below its first 900 lines"):
        read_table(path, skip_rows=900)


def test_numbers_with_signs_are_numbers(tmp_path: Path) -> None:
    price = [f"${1000 + 10 * b + i:,.2f}" for i, b in enumerate(B)]
    share = [f"{10 * a + i / 7:.1f} %" for i, a in enumerate(A)]
    path = tmp_path / "s.csv"
    pd.DataFrame({"a": A, "price": price, "share": share}).to_csv(path, index=False)
    found = read_table(path).diagnosis()
    assert found.unusable == ("price",)
    assert found.remedy == {"thousands": ","}
    table = read_table(path, thousands=",")
    assert [column.kind for column in table.diagnosis().columns[1:]] == ["numbers", "numbers"]
    assert {finding.kind for finding in table.findings} == {"signs"}
    assert table.fingerprint == as_table(pd.read_csv(path), thousands=",").fingerprint
    through(path, "--thousands", ",")
    mixed = as_table({"a": A, "m": [f"{'$€'[i % 2]}{i % 5}" for i in range(120)]})
    assert not mixed.findings
    assert len(mixed.states[1]) == 10


def test_dates_that_may_be_read_in_two_ways_are_told() -> None:
    days = [f"0{1 + i % 9}/0{1 + i % 7}/2024" for i in range(120)]
    table = as_table({"a": A, "d": days})
    assert next(finding.kind for finding in table.findings) == "ambiguous dates"
    assert not as_table({"a": A, "d": [*days[:-1], "31/01/2024"]}).unusable


def test_states_that_look_alike_are_told() -> None:
    city = np.array(["Boston", "boston ", "New York"])[A + B]
    (finding,) = as_table({"a": A, "city": city.tolist()}).findings
    assert finding.kind == "states alike"
    assert "'Boston' and 'boston '" in finding.message
    assert not as_table({"a": A, "city": np.array(["x", "y"])[B].tolist()}).findings


def test_durations_and_nullable_columns_come_back_as_such() -> None:
    hours = np.where(A == 1, 30.0, 2.0) + RNG.random(120)
    frame = pd.DataFrame(
        {
            "a": pd.array(A, dtype="Int64"),
            "flag": pd.array(B == 1, dtype="boolean"),
            "text": pd.array(np.array(["x", "y"])[B], dtype="string"),
            "time": pd.to_timedelta(hours, unit="h"),
        }
    )
    for v, name in enumerate(frame.columns):
        frame.loc[v * 3 :: 11, name] = None
    network = fit(learn(frame, treewidth=1, max_iterations=200), frame)
    filled = Inference(network).impute(frame)
    assert filled.dtypes.tolist() == frame.dtypes.tolist()
    assert not filled.isna().any().any()
    known = frame.notna()
    assert ((filled == frame) | ~known).all().all()


@pytest.mark.parametrize(("dtype", "kind"), [("Int64", "i"), ("boolean", "b"), ("string", "OU")])
def test_labels_of_nullable_types_stay_what_they_are(dtype: str, kind: str) -> None:
    labels = pd.Series(B if dtype != "boolean" else B == 1).astype(dtype)
    rows = pd.DataFrame({"a": A, "c": RNG.normal(size=120)})
    model = TreewidthClassifier(max_iterations=100).fit(rows, labels)
    assert model.classes_.dtype.kind in kind
    assert (model.predict(rows) == labels).mean() > 0.8


def test_a_call_keeps_the_options_in_use() -> None:
    frame = {"a": A, "id": [f"i{i}" for i in range(120)], "b": [f"{b},5" for b in B]}
    call = as_table(frame, decimal=",").diagnosis().call("frame", decimal=",", drop=["b"])
    assert call == "twbn.learn(twbn.as_table(frame, decimal=',', drop=['b', 'id']))"


def test_fitting_takes_chunks(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    frame = pd.DataFrame({"a": A, "b": B, "x": RNG.normal(size=120) + A})
    frame.to_csv(path, index=False)
    result = learn(path, treewidth=1, max_iterations=100)
    network = fit(result, pd.read_csv(path, chunksize=25))
    expected = fit(result, path)
    for v in range(3):
        np.testing.assert_array_equal(network.tables[v], expected.tables[v])
    with pytest.raises(OptionError, match="records how its data were coded"):
        fit(result.dag, iter([frame]))
    with pytest.raises(DataError, match="come to an end"):
        fit(result, iter([]))


def test_cuts_by_score_on_the_command_line(tmp_path: Path) -> None:
    path, result = tmp_path / "d.csv", tmp_path / "r.json"
    numbers = RNG.normal(size=(300, 2))
    numbers[:, 1] += 3 * (numbers[:, 0] > 0.7)
    text = pd.DataFrame(numbers, columns=["u", "v"]).assign(w=numbers[:, 0] > 0.7)
    text.to_csv(path, index=False, sep=";", decimal=",")
    options = ["--discretize", "score", "--decimal", ","]
    page = ["--report", str(tmp_path / "p.html")]
    budget = ["--max-iterations", "300", "-k", "1", "-o", str(result)]
    assert run(["learn", str(path), *options, *budget, *page]) == 0
    assert run(["verify", str(result), "--data", str(path)]) == 0
    found = read_result(result)
    in_python = learn(
        pd.read_csv(path, sep=";", decimal=","), discretize="score", treewidth=1, max_iterations=300
    )
    assert found.coding == in_python.coding
    assert found.score == in_python.score
    assert run(["learn", str(path), *options, *budget[:-2], "--distinct"]) == 2


def test_filled_cells_are_written_as_the_others_are(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    days = [f"{1 + i % 28:02}.{1 + i % 12:02}.2024" for i in range(120)]
    share = [f"{10 * a + i / 16:.1f}%".replace(".", ",") for i, a in enumerate(A)]
    whole = [f"{1 + i // 50}.{100 + 50 * b + i}" for i, b in enumerate(B)]
    frame = pd.DataFrame({"a": A, "day": days, "share": share, "v": whole, "none": None})
    for v, name in enumerate(["day", "share", "v"]):
        frame.loc[v::17, name] = None
    frame.to_csv(path, index=False, sep=";", encoding="cp1252")
    options: dict[str, Any] = {"decimal": ",", "thousands": ".", "encoding": "cp1252"}
    told = [word for name, mark in options.items() for word in (f"--{name}", mark)]
    _, filled = through(path, *told)
    before, after = read_table(path, **options), read_table(filled, **options)
    kinds = [column.kind for column in before.diagnosis().columns]
    assert [column.kind for column in after.diagnosis().columns] == kinds
    assert kinds[1:4] == ["dates", "numbers", "numbers"]
    assert after.n_missing.tolist() == [0, 0, 0, 0, 120]
    text = pd.read_csv(filled, sep=";", encoding="cp1252", dtype=str)
    pattern = {"day": r"[0-9]{2}[.][0-9]{2}[.]2024", "share": r"[0-9]+,[0-9]%", "v": r"[0-9.]+"}
    for name, form in pattern.items():
        assert text[name].str.fullmatch(form).all(), name
    again = pd.read_csv(path, sep=";", encoding="cp1252", dtype=str)
    assert ((again == text) | again.isna()).all().all()


def test_separators_of_thousands_stand_every_three_digits() -> None:
    column = [*["4,6", "4,1", "5,2"] * 39, "4.087229785247433", "4.2", "1.234,5"]
    table = as_table({"a": A, "x": column}, decimal=",", thousands=".")
    assert table.states[1] == (4.1, 4.6, 5.2, 1234.5)
    assert table.n_missing[1] == 2


def test_a_network_remembers_how_its_rows_were_read(tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "p.csv"
    cells = [f"{56 + 20 * int(b)}.{100 + i}" for i, b in enumerate(B)]
    cells[7] = "-9.999"
    rows = "".join(f"{a};{cell}\n" for a, cell in zip(A, cells, strict=True))
    path.write_text(f"a;v\n{rows}", encoding="utf-8")
    options = ("--thousands", ".", "--decimal", ",", "--missing=-9.999")
    net, _ = through(path, *options)
    told = ["predict", str(path), "--net", str(net), "-q", "a", "-o", str(out)]
    assert run(told) == 0
    remembered = out.read_text(encoding="utf-8")
    assert run([*told, *options]) == 0
    assert out.read_text(encoding="utf-8") == remembered
    assert read_network(net).data_options["missing"] == ["-9.999"]


def test_frames_with_odd_types_go_through() -> None:
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    frame = pd.DataFrame({"a": A, "cut": pd.cut(pd.Series(A + RNG.random(120)), 2), "no": None})
    frame.loc[0, "cut"] = None
    filled = Inference(fit(learn(frame, treewidth=1, max_iterations=50), frame)).impute(frame)
    assert filled["cut"].dtype == frame["cut"].dtype
    assert filled.isna().sum().tolist() == [0, 0, 120]
    indices = pa.array(B.tolist(), pa.uint32())
    labels = pa.DictionaryArray.from_arrays(indices, ["x", "y"])
    lists = pa.array([["p"], ["p", "q"], [], None] * 30)
    table = as_table(pa.table({"d": labels, "t": lists}))
    assert table.states[0] == ("x", "y")
    assert table.n_missing.tolist() == [0, 30]
    prices = pl.DataFrame({"a": A, "p": [None, *(10.5 * B[1:] + np.arange(119))]})
    prices = prices.with_columns(pl.col("p").cast(pl.Decimal(10, 2)))
    engine = Inference(fit(learn(prices, treewidth=1, max_iterations=50), prices))
    assert engine.impute(prices)["p"].null_count() == 0
    with pytest.raises(DataError, match="collect"):
        as_table(prices.lazy())
    assert as_table(frame.rename(columns={"no": ("x", 1)}), drop=[str(("x", 1))]).n_variables == 2


def test_pages_of_tables_with_missing_cells(tmp_path: Path) -> None:
    path, page = tmp_path / "m.csv", tmp_path / "m.html"
    path.write_text("a,b\n" + "x,u\ny,v\nx,u\n" * 30 + ",u\n", encoding="utf-8")
    budget = ["--max-iterations", "50", "-o", str(tmp_path / "m.json"), "--report", str(page)]
    assert run(["learn", str(path), *budget]) == 0
    assert page.stat().st_size > 1000
    told = ["report", str(tmp_path / "m.json"), "--data", str(path), "-o", str(page)]
    assert run(told) == 0


def test_lines_above_and_below_a_table_are_told(tmp_path: Path) -> None:
    path = tmp_path / "h.csv"
    rows = "".join(f"{a},{b},{a + b}\n" for a, b in zip(A, B, strict=True))
    path.write_text(f"Ward report,,\nPatient,,\nage,sex,stay\n{rows}", encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"line 3 is full; .* skip_rows=2"):
        read_table(path)
    assert read_table(path, skip_rows=2).names == ("age", "sex", "stay")
    path.write_text(f"age,sex,stay\n{rows}Source: somebody\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="found 1; a note below the table"):
        read_table(path)
    named = "".join(f"w{a},{b},{a + b}\n" for a, b in zip(A, B, strict=True))
    path.write_text(f"ward,sex,stay\n{named}Total:,60,99\n", encoding="utf-8")
    assert [finding.kind for finding in read_table(path).findings] == ["total"]


def test_numbers_that_are_nearly_a_column_are_told() -> None:
    odd = ["#DIV/0!", "#REF!", "#VALUE!", "unk"]
    cells = [*odd, *(str(i % 40) for i in range(116))]
    (finding,) = as_table({"a": A, "x": cells}).findings
    assert finding.kind == "odd tokens"
    assert dict(finding.remedy)["missing"] == tuple(odd)
    units = [f"{i % 40 + 0.5} C" for i in range(120)]
    table = as_table({"a": A, "t": units, "code": [f"{i % 5}A" for i in range(120)]})
    assert [column.kind for column in table.diagnosis().columns] == [
        "few numbers", "numbers", "states",
    ]  # fmt: skip
