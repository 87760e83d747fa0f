"""Result files, and what `verify` says of one that was tampered with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from oracle import random_table
from twbn import LazyScores, compute_scores, learn, read_result, write_result
from twbn.errors import FileFormatError, VerificationError
from twbn.search.result_file import read_claims

if TYPE_CHECKING:
    from pathlib import Path

TABLE = random_table(np.random.default_rng(31), 7, 120)
SCORES = compute_scores(TABLE, ess=2)
RESULT = learn(SCORES, treewidth=2, method="sample", max_iterations=500)


def tampered(path: Path, **changes: Any) -> Path:
    write_result(RESULT, path)
    document = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        if value is None:
            del document[key]
        else:
            document[key] = value(document[key]) if callable(value) else value
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_an_honest_file_is_verified_from_the_data_alone(tmp_path: Path) -> None:
    write_result(RESULT.but(data_options={"discretize": "median"}), tmp_path / "r.json")
    claimed = read_result(tmp_path / "r.json")
    assert claimed.dag == RESULT.dag
    assert claimed.decomposition == RESULT.decomposition
    assert claimed.data_options == {"discretize": "median"}
    fresh = LazyScores(TABLE, score=claimed.score_name, ess=claimed.ess or 1.0, max_parents=None)
    assert claimed.verify(fresh) == []
    assert claimed.verify(SCORES) == []


def test_a_result_from_a_file_is_the_one_that_was_written(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    write_result(RESULT, path)
    read = read_result(path)
    assert read == RESULT
    assert type(read) is type(RESULT)
    assert set(dir(read)) == set(dir(RESULT))
    # Only the one that was made from the scores has been checked against them.
    assert (read.verified, RESULT.verified) == (False, True)
    again = tmp_path / "again.json"
    write_result(read, again)
    assert again.read_bytes() == path.read_bytes()


def first_arc(parents: dict[str, list[str]]) -> dict[str, list[str]]:
    child, (parent, *_) = next((c, p) for c, p in parents.items() if p)
    return {**parents, parent: [*parents[parent], child]}


def without_an_arc(parents: dict[str, list[str]]) -> dict[str, list[str]]:
    child = next(c for c, p in parents.items() if p)
    return {**parents, child: parents[child][1:]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": lambda s: s + 0.01}, "the score is .* the result says"),
        ({"parents": first_arc}, "directed cycle"),
        ({"parents": lambda p: {**p, "x1": ["nobody"]}}, "'nobody' is not among the names"),
        (
            {"parents": lambda p: {k: v for k, v in p.items() if k != "x3"}},
            "'x3' is not among",
        ),
        ({"parents": without_an_arc}, "the score is .* the result says"),
        ({"treewidth": 1}, "has width 2, the file says 1"),
        ({"treewidth_limit": 1}, "has width 2, the limit is 1"),
        ({"names": [f"y{v}" for v in range(7)]}, "'y0' is not in the data"),
        ({"names": lambda names: names[::-1]}, "their order differs"),
        ({"status": "wat"}, "the status 'wat' is none of"),
        ({"status": "optimal"}, "optimal, but the bound is not the score"),
        ({"bound": lambda b: b - 1e6}, "is below the score"),
        ({"gap": 0.0}, "is not that of score and bound"),
        ({"n_variables": 8}, "7 names, but n_variables is 8"),
        ({"parents": lambda p: {**p, "ghost": []}}, "parents and names differ in 'ghost'"),
        ({"trace": [{"score": 1e9}]}, "the trace ends at 1000000000"),
        ({"decomposition": lambda d: {**d, "edges": d["edges"][1:]}}, "are not a tree"),
        ({"decomposition": lambda d: {**d, "bags": [[], *d["bags"][1:]]}}, "no bag|not connected"),
        ({"decomposition": lambda d: {**d, "bags": [["z"], *d["bags"][1:]]}}, "'z' is not among"),
    ],
)
def test_a_file_tampered_with_is_found_out(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    import re

    claimed = read_claims(tampered(tmp_path / "r.json", **changes))
    problems = claimed.verify(LazyScores(TABLE, ess=2, max_parents=None))
    assert problems
    assert re.search(message, problems[0]), problems


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fingerprint": "0" * 24}, "the fingerprint of the data is .*, the file says 0000"),
        (
            {"coding": lambda c: [{**c[0], "states": c[0]["states"][::-1]}, *c[1:]]},
            "the coding of column 'x1' is not that of the data",
        ),
    ],
)
def test_what_a_file_says_about_its_data_is_checked(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    import re

    claimed = read_claims(tampered(tmp_path / "r.json", **changes))
    (problem,) = claimed.verify(LazyScores(TABLE, ess=2, max_parents=None))
    assert re.search(message, problem), problem


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"status": "wat"}, "'wat'"),
        ({"status": "optimal"}, "optimal, but the bound is not the score"),
        ({"gap": 0.0}, "is not that of score and bound"),
        ({"treewidth_limit": 1}, "has width 2, the limit is 1"),
        ({"parents": first_arc}, "directed cycle: '"),
        ({"trace": [{"score": 1e9}]}, "the trace ends at 1000000000"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(VerificationError, match=message):
        read_result(tampered(tmp_path / "r.json", **changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other"}, "not a result file of twbn"),
        ({"version": 99}, "unknown version 99, expected 2"),
        ({"parents": None}, "the entry 'parents' is missing"),
        ({"treewidth": 2.9}, "2.9 is not a whole number"),
        ({"scoring": {"score": "bdeu", "ess": 0}}, "ess 0 does not go with the score"),
        ({"scoring": {"score": "bdeu", "ess": None}}, "ess None does not go with"),
        ({"data_options": {"drop": 5}}, "data option 'drop' has the value 5"),
        ({"data_options": {"bins": "x"}}, "data option 'bins' has the value 'x'"),
        ({"data_options": {"magic": "x"}}, "data option 'magic'"),
        ({"score": "high"}, "an entry is not what it should be"),
        ({"decomposition": "none"}, "an entry is not what it should be"),
    ],
)
def test_a_file_that_is_no_result_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_result(tampered(tmp_path / "r.json", **changes))


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("{", encoding="utf-8")
    with pytest.raises(FileFormatError, match="not a JSON file"):
        read_result(tmp_path / "r.json")
    with pytest.raises(FileFormatError, match="no such file"):
        read_result(tmp_path / "none.json")
