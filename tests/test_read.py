"""Files of tables, good and bad."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import numpy as np
import pytest

from twbn import Network, as_table, read_table
from twbn.errors import DataError, FileFormatError, TwbnError, UnknownStateError

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_delimiter_and_header_are_found_out(tmp_path: Path, delimiter: str) -> None:
    lines = [["a", "b", "c"], ["0", "x", "1"], ["1", "y", "0"], ["1", "x", "1"]]
    path = write(tmp_path, "t.csv", "\n".join(delimiter.join(line) for line in lines) + "\n")
    table = read_table(path)
    assert table.names == ("a", "b", "c")
    assert table.states == ((0, 1), ("x", "y"), (0, 1))
    assert table.codes.tolist() == [[0, 0, 1], [1, 1, 0], [1, 0, 1]]


def test_a_file_without_header_gets_numbered_names(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "0,1\n1,0\n1,1\n")
    assert read_table(path).names == ("x1", "x2")


def test_a_header_of_numbers_can_be_told(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "10,20\n0,1\n1,0\n1,1\n")
    assert read_table(path, header=True).names == ("10", "20")


def test_quotes_blank_lines_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", '\ufeffname,b\n"Smith, J",0\n\n"Doe",1\n"Doe",0\n')
    table = read_table(path)
    assert table.names == ("name", "b")
    assert table.states[0] == ("Doe", "Smith, J")


def test_gaps_are_marked_and_question_marks_only_when_told(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a,b\n0,?\n,y\n1,x\n1,y\n")
    assert read_table(path).n_missing.tolist() == [1, 0]
    assert read_table(path, missing=["", "?"]).n_missing.tolist() == [1, 1]


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("a,b\n0,1\n1,0\n1,1\n")
    assert read_table(path).n_rows == 3


def test_parquet_is_read(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y", None, "x"], "b": [0, 1, 1, 0]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").equals(as_table(frame))


def test_arff_keeps_the_declared_order_of_states(tmp_path: Path) -> None:
    text = """% comment
@relation toy
@attribute size {small, 'very large', large}
@ATTRIBUTE 'a b' numeric
@attribute n integer [1,10]
@data
small, 1, 3
% another
'very large', ?, 4
large, 2, 3
"""
    table = read_table(write(tmp_path, "t.arff", text))
    assert table.names == ("size", "a b", "n")
    assert table.states[0] == ("small", "very large", "large")
    assert table.codes.tolist() == [[0, 0, 0], [1, -1, 1], [2, 1, 0]]


def test_dat_takes_the_numbers_of_states_from_its_second_line(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "t.dat", "A B C\n2 3 2\n0 0 0\n0 1 1\n1 0 ?\n"))
    assert table.names == ("A", "B", "C")
    assert table.n_states.tolist() == [2, 3, 2]
    assert table.n_missing.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", "\n \n", "is empty"),
        ("t.csv", "a,b,c\n", "line 1: a header but no rows below it"),
        ("t.csv", "a,b\n0,1\n1\n", "line 3: expected 2 values, found 1"),
        ("t.csv", "a,b\n0,1\n\n1,0,1\n", "line 4: expected 2 values, found 3"),
        ("t.csv", 'a,b\n1,x\n2,"y\n1,x\n2,y\n', "after line 2: .*is a quote not closed"),
        ("t.csv", f"a,b\n{'9' * 400},1\n1,0\n2,1\n", "column 'a', row 1: numbers must be finite"),
        ("t.dat", "A B\n2 ²\n0 1\n1 0\n", "expected the number of states of 'B', found '²'"),
        ("t.arff", "@attribute a {p,q}\n@attribute b real\n@data\n'p,1\n", "is a quote not closed"),
        ("t.csv", "a,b\n0,inf\n1,0\n0,1\n", "column 'b', row 1: numbers must be finite"),
        ("t.arff", "@relation x\n@attribute a {p,q}\n", "no @data line"),
        ("t.arff", "@attribute a {p,q}\n@data\n", "no rows after @data"),
        ("t.arff", "@attribute a {p,q}\n@data\np\nr\n", r"holds 'r', declared are \['p', 'q'\]"),
        ("t.arff", "@attribute a {p,q}\n@attribute b real\n@data\np,1\nq\n", "line 5: expected 2"),
        ("t.arff", "@attribute a date\n@data\n1\n", "line 1: attribute 'a' has type 'date'"),
        ("t.dat", "A B\n2 2\n", "expected a line of names"),
        ("t.dat", "A B\n2 2\n0 1\n0\n", "line 4: expected 2 values, found 1"),
        (
            "t.dat",
            "A B\n2 2\n0 1\n0 2\n1 0\n",
            "'B' is declared with 2 states but holds the value 2",
        ),
        ("t.parquet", "not parquet", "not a whole Parquet file"),
    ],
)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(TwbnError, match=message):
        read_table(write(tmp_path, name, text))


@pytest.mark.parametrize(
    ("text", "names", "found"),
    [
        ("a,\n0,1\n1,0\n", ("a", "Unnamed: 1"), ("Unnamed: 1", "unnamed")),
        ("a,a\n0,1\n1,0\n", ("a", "a.1"), ("a.1", "duplicate name")),
        ("a,a\nx,y\ny,x\nx,x\n", ("a", "a.1"), ("a.1", "duplicate name")),
        (",a,b\n0,0,1\n1,1,0\n2,1,1\n", ("Unnamed: 0", "a", "b"), ("Unnamed: 0", "unnamed")),
        ("a,b\n0,1\n1,1\n0,1\n", ("a", "b"), ("b", "constant")),
        ("a,b\nu,1\nv,0\nw,1\n", ("a", "b"), ("a", "identifier")),
    ],
)
def test_odd_columns_are_read_and_told(
    tmp_path: Path, text: str, names: tuple[str, ...], found: tuple[str, str]
) -> None:
    table = read_table(write(tmp_path, "t.csv", text))
    assert table.names == names
    assert found in [(finding.column, finding.kind) for finding in table.findings]


def test_one_column_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"has 1 column to use \['a'\], a network needs at least 2"):
        read_table(write(tmp_path, "t.csv", "a\n0\n1\n1\n"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"nowhere\.csv: no such file"):
        read_table(tmp_path / "nowhere.csv")


def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n\xff\xfe,1\n")
    with pytest.raises(FileFormatError, match="not a text file in UTF-8"):
        read_table(path)


def test_dropping_too_many_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has 1 column to use"):
        read_table(write(tmp_path, "t.csv", "a,b\n0,1\n1,0\n1,1\n"), drop=["a"])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("id,2019,2020\n1,0,1\n2,1,0\n1,1,1\n", ("id", "2019", "2020")),
        ("my name,b\nJo Smith,Doe\nJo Smith,Roe\nJim Roe,Doe\n", ("my name", "b")),
        ("red,5\nblue,6\nred,5\n", ("x1", "x2")),
        ("x,y\ny,x\nx,x\ny,y\n", ("x1", "x2")),
    ],
)
def test_headers_are_told_from_rows(tmp_path: Path, text: str, names: tuple[str, ...]) -> None:
    assert read_table(write(tmp_path, "t.csv", text)).names == names


def test_an_upper_case_ending_and_windows_lines_are_read(tmp_path: Path) -> None:
    text = "@attribute a {p,q}\r\n@attribute b real\r\n@data\r\np,1\r\nq,2\r\np,2\r\n"
    path = write(tmp_path, "T.ARFF", text)
    assert read_table(path).codes.tolist() == [[0, 0], [1, 1], [0, 1]]


def test_arff_quotes_escapes_and_comments(tmp_path: Path) -> None:
    text = """@attribute 'it\\'s' {'don\\'t', "x, y"}
@attribute n numeric
@data
'don\\'t', 1 % a comment
"x, y", 2
'don\\'t', 2
"""
    table = read_table(write(tmp_path, "t.arff", text))
    assert table.names == ("it's", "n")
    assert table.states == (("don't", "x, y"), (1, 2))


@pytest.mark.parametrize("content", [b"no gzip at all", b"\x1f\x8b\x08\x00\x00"])
def test_a_broken_gzip_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv.gz").write_bytes(content)
    with pytest.raises(FileFormatError, match="not a whole gzip file"):
        read_table(tmp_path / "t.csv.gz")


def test_parquet_columns_of_other_types_are_texts(tmp_path: Path) -> None:
    import datetime as dt
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    days = [dt.date(2020, 1, d) for d in (1, 2, 1)]
    columns = {"day": days, "price": [Decimal("1.5"), Decimal("2"), Decimal("1.5")]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet").states == (("2020-01-01", "2020-01-02"), (1.5, 2.0))


# Texts that Python takes for numbers, and nobody else does


@pytest.mark.parametrize(
    "labels",
    [
        ["1_1", "11", "1_2", "12"],
        ["1_000", "2_000", "3", "4"],
        ["\u0661", "\u0662", "3", "4"],  # Arabic digits
        ["01", "02", "1", "2"],
        ["0x1", "0x2", "1e", "2e"],
    ],
)
def test_labels_are_not_read_as_numbers(tmp_path: Path, labels: list[str]) -> None:
    other = ["a", "b", "a", "b", "b"]
    rows = {"w": labels * 5, "z": other * 4}
    assert as_table(rows).states[0] == tuple(sorted(labels))
    path = tmp_path / "x.csv"
    lines = [f"{w},{z}" for w, z in zip(*rows.values(), strict=True)]
    path.write_text("\n".join(["w,z", *lines]) + "\n", encoding="utf-8")
    assert read_table(path).states[0] == tuple(sorted(labels))


def test_sixteen_labels_with_underscores_are_sixteen_states() -> None:
    labels = [f"{i}_{j}" for i in range(4) for j in range(4)]
    assert as_table({"w": labels * 2, "z": [0, 1] * 16}).states[0] == tuple(sorted(labels))


@pytest.mark.parametrize(
    ("texts", "states"),
    [
        (["1", "2", "10"], (1, 2, 10)),
        (["-1", "+2", " 3 "], (-1, 2, 3)),
        (["0.5", ".25", "1."], (0.25, 0.5, 1.0)),
        (["1e3", "2E-1", "0"], (0, 0.2, 1000.0)),
    ],
)
def test_what_programs_write_as_numbers_is_read_as_such(
    texts: list[str], states: tuple[float, ...]
) -> None:
    assert as_table({"w": texts * 4, "z": [0, 1, 1, 0] * 3}).states[0] == states


def test_a_number_with_an_underscore_is_no_number_for_a_cut_column() -> None:
    like = as_table({"x": list(range(20)), "z": [0, 1] * 10})
    with pytest.raises(UnknownStateError, match="variable 'x' holds numbers, got '1_1'"):
        as_table({"x": ["1_1"], "z": [0]}, like=like)


# Odd tables


def test_a_file_of_quoted_blanks_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('"\n"', encoding="utf-8")
    with pytest.raises(FileFormatError, match="has no rows"):
        read_table(path)


def test_columns_of_one_name_get_two_and_either_can_be_chosen(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,risk,b,risk\n" + "0,1,0,1\n1,2,1,1\n0,2,1,2\n" * 3, encoding="utf-8")
    table = read_table(path)
    assert table.names == ("a", "risk", "b", "risk.1")
    assert [(f.column, f.kind) for f in table.findings] == [("risk.1", "duplicate name")]
    assert read_table(path, drop="risk").names == ("a", "b", "risk.1")
    weighted = read_table(path, weights="risk.1").weights
    assert weighted is not None
    assert weighted.tolist() == [1, 1, 2] * 3


def test_one_column_with_blanks_in_its_name_is_not_split(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("body mass index\n" + "20.5\n31\n27\n" * 3, encoding="utf-8")
    with pytest.raises(DataError, match=r"has 1 columns? to use \['body mass index'\]"):
        read_table(path)


def test_columns_of_blanks_are_still_split(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a b c\n" + "0 1 0\n1 0 0\n1 1 1\n" * 3, encoding="utf-8")
    assert read_table(path).names == ("a", "b", "c")


def test_a_name_may_look_like_a_missing_cell(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("EU,NA,AS\nyes,no,yes\nno,no,yes\nyes,yes,no\n", encoding="utf-8")
    assert read_table(path).names == ("EU", "NA", "AS")


def test_numbers_of_a_fixed_width_are_numbers() -> None:
    table = as_table({"p": [f"{v:06.2f}" for v in range(40)], "z": [0, 1] * 20})
    assert table.states[0] == ("<= 19.5", "> 19.5")


@pytest.mark.parametrize("where", ["name", "state"])
def test_a_lone_surrogate_is_refused(where: str) -> None:
    name, state = ("a\ud800", "x") if where == "name" else ("a", "x\ud800")
    with pytest.raises(DataError, match="lone surrogate"):
        as_table({name: [state, "y"] * 2, "b": [0, 1, 1, 0]})
    with pytest.raises(DataError, match="lone surrogate"):
        Network.from_tables({name: [state, "y"]}, {name: []}, {name: [0.5, 0.5]})


def test_truth_values_in_several_spellings_are_two_states(tmp_path: Path) -> None:
    rows = ["True,a", "TRUE,b", "false,a", "False,b", "true,b"] * 6
    path = write(tmp_path, "t.csv", "\n".join(["t,c", *rows]) + "\n")
    table = read_table(path)
    assert table.states[0] == (False, True)
    assert np.bincount(table.codes[:, 0]).tolist() == [12, 18]
    assert not table.findings
