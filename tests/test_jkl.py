"""Score files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from conftest import shared_path
from oracle import random_table
from twbn import ScoreTable, as_table, compute_scores, learn, read_jkl, write_jkl
from twbn.errors import DataError, FileFormatError

if TYPE_CHECKING:
    from pathlib import Path

ABC = as_table({"A": [0, 0, 1, 1] * 3, "B": [0, 1, 0, 1] * 3, "C": [0, 0, 1, 1] * 3})
GOOD = "2\n0 2\n-1.5 0\n-1.25 1 1\n1 1\n-2 0\n"


def test_what_is_written_is_read_back_to_the_last_bit(tmp_path: Path) -> None:
    scores = compute_scores(random_table(np.random.default_rng(0), 8, 99))
    write_jkl(scores, tmp_path / "s.jkl")
    back = read_jkl(tmp_path / "s.jkl")
    assert back.names == tuple(str(v) for v in range(8))
    assert np.array_equal(back.scores, scores.scores)
    assert np.array_equal(back.parents, scores.parents)
    write_jkl(scores, tmp_path / "named.jkl", names=True, comments=True)
    assert read_jkl(tmp_path / "named.jkl").equals(scores)


def test_the_example_file_equals_our_scores() -> None:
    theirs = read_jkl(shared_path("formats/examples/abc.jkl"))
    ours = compute_scores(ABC, score="bic", prune=False)
    assert np.allclose(theirs.scores, ours.scores, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "n_variables"),
    [("syn30", 30), ("syn100", 100), ("syn500", 500), ("alarm-5000", 37), ("munin1-5000", 186)],
)
def test_files_of_other_programs_are_read(name: str, n_variables: int) -> None:
    scores = read_jkl(shared_path(f"scores/{name}.jkl"))
    assert scores.n_variables == n_variables
    assert np.isfinite(scores.total([()] * n_variables))


def test_blocks_may_come_in_any_order_and_comments_anywhere(tmp_path: Path) -> None:
    (tmp_path / "s.jkl").write_text(
        "# Method: x\n\n2\n# block\n1 1\n-2 0\n0 2\n-1.5 0\n# set\n-1.25 1 1\n", encoding="utf-8"
    )
    scores = read_jkl(tmp_path / "s.jkl")
    assert scores.names == ("0", "1")
    assert scores.local(0, [1]) == -1.25


def test_a_file_without_empty_sets_warns(tmp_path: Path) -> None:
    (tmp_path / "s.jkl").write_text("2\na 1\n-1.5 1 b\nb 1\n-2 0\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="no score without parents for a; taken as -inf"):
        scores = read_jkl(tmp_path / "s.jkl")
    assert scores.local(0, []) == -np.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("x\n", "line 1: expected the number of variables, found 'x'"),
        ("0\n", "line 1: expected the number of variables"),
        (
            GOOD.replace("0 2\n", "0 3\n", 1),
            "line 5: expected 'score size parents…' for 0|expected",
        ),
        (GOOD.replace("0 2\n", "0 1\n", 1), "line 4: expected variable 2 of 2"),
        (GOOD.replace("1 1\n-2 0\n", "1 2\n-2 0\n"), "1 has 1 parent sets, 2 were announced"),
        (GOOD + "2 1\n-1 0\n", "expected the end after 2 variables"),
        (GOOD.replace("-1.25 1 1", "-1.25 1 7"), "line 4: parent '7' of 0 is none of the 2"),
        (GOOD.replace("-1.25 1 1", "-1.25 1 0"), "line 4: 0 is its own parent"),
        (GOOD.replace("-1.25 1 1", "-1.25 2 1"), "line 4: expected 'score size parents…'"),
        (GOOD.replace("-1.25 1 1", "-1.25 2 1 1"), "a parent of 0 occurs twice in one set"),
        (GOOD.replace("-1.25", "fast"), "line 4: expected a score, found 'fast'"),
        (GOOD.replace("-1.25", "nan"), "line 4: expected a score, found 'nan'"),
        (GOOD.replace("-1.25 1 1", "-1.5 0"), r"line 4: the parent set \[\] of 0 occurs twice"),
        ("2\n0 1\n-1 0\n0 1\n-1 0\n", "variable 0 has two blocks"),
    ],
)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "s.jkl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message):
        read_jkl(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"none\.jkl: no such file"):
        read_jkl(tmp_path / "none.jkl")


def test_names_with_spaces_are_not_written(tmp_path: Path) -> None:
    scores = compute_scores(as_table({"a b": [0, 1, 1], "c": [0, 1, 0]}))
    with pytest.raises(DataError, match=r"the name 'a b' cannot stand in a \.jkl file"):
        write_jkl(scores, tmp_path / "s.jkl", names=True)


def test_a_set_of_minus_infinity_is_no_candidate(tmp_path: Path) -> None:
    path = tmp_path / "x.jkl"
    path.write_text("3\nA 2\n-inf 0\n-2 1 B\nB 2\n-5 0\n-1 1 A\nC 1\n-5 0\n")
    with pytest.warns(UserWarning, match="no score without parents for A"):
        scores = read_jkl(path)
    for method in ("auto", "anneal", "exact", "tree"):
        assert learn(scores, treewidth=2, method=method, max_iterations=50).score == -12.0
    path.write_text("2\nA 1\n-inf 0\nB 1\n-5 0\n")
    with (
        pytest.warns(UserWarning, match="no score without parents for A"),
        pytest.raises(DataError, match="variable 'A' has no parent set"),
    ):
        read_jkl(path)
    with pytest.raises(DataError, match="local scores must be finite"):
        ScoreTable(("a",), [0, 1], [-np.inf], [0, 0], [])  # type: ignore[arg-type]
