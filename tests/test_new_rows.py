"""Learning goes on from an earlier result when new rows arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from twbn.cli import run
from twbn.errors import DataError, OptionError

if TYPE_CHECKING:
    from pathlib import Path


def rows(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    height = rng.normal(170, 10, n)
    return {
        "height": height,
        "weight": height - 100 + rng.normal(0, 8, n),
        "size": np.where(height > 172, "large", np.where(height > 160, "medium", "small")).tolist(),
        "shoe": np.round(height / 4.1).astype(int),
    }


FIRST = twbn.learn(rows(300, 0), treewidth=2, max_iterations=2000)


def test_new_rows_are_coded_like_the_earlier_ones() -> None:
    found = twbn.learn(rows(400, 1), start=FIRST, treewidth=2, max_iterations=2000)
    assert found.coding == FIRST.coding
    assert found.fingerprint != FIRST.fingerprint
    assert any("learned from other rows" in note for note in found.notes)
    table = twbn.as_table(rows(400, 1), like=twbn.as_table(rows(300, 0)))
    assert found.fingerprint == table.fingerprint
    before = twbn.compute_scores(table, max_parents=2, prune=False).total(FIRST.dag)
    assert found.score >= before - 1e-9


def test_the_same_rows_are_no_new_rows() -> None:
    found = twbn.learn(rows(300, 0), start=FIRST, treewidth=2, max_iterations=10)
    assert found.fingerprint == FIRST.fingerprint
    assert not any("other rows" in note for note in found.notes)


def test_the_same_rows_cut_otherwise_are_cut_as_before() -> None:
    first = twbn.learn(rows(300, 0), treewidth=2, max_iterations=100, discretize="median")
    found = twbn.learn(rows(300, 0), start=first, treewidth=2, max_iterations=10)
    assert found.fingerprint == first.fingerprint
    assert not any("other rows" in note for note in found.notes)


def test_a_state_that_was_not_there_is_named() -> None:
    new = rows(50, 2)
    new["size"][7] = "huge"
    with pytest.raises(DataError, match="unknown state 'huge' of variable 'size'"):
        twbn.learn(new, start=FIRST, treewidth=2, max_iterations=10)


def test_new_rows_may_have_missing_cells() -> None:
    new = rows(200, 3)
    new["size"] = [None if i % 9 == 0 else state for i, state in enumerate(new["size"])]
    found = twbn.learn(new, start=FIRST, treewidth=2, max_iterations=500)
    assert found.coding == FIRST.coding
    assert any("learned from other rows" in note for note in found.notes)


def test_coded_tables_of_other_rows_are_refused() -> None:
    table = twbn.as_table(rows(300, 4), like=twbn.as_table(rows(300, 0)))
    with pytest.raises(OptionError, match=r"start was learned from other data.*--new-rows"):
        twbn.learn(table, start=FIRST, treewidth=2, max_iterations=10)


def test_new_rows_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "old.csv", tmp_path / "new.csv"]
    for file, seed in zip(files, (5, 6), strict=True):
        twbn.as_table(rows(200, seed))  # can be read
        names, columns = list(rows(200, seed)), list(rows(200, seed).values())
        lines = [",".join(map(str, cells)) for cells in zip(*columns, strict=True)]
        file.write_text("\n".join([",".join(names), *lines]))
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    budget = ["-k", "2", "--max-iterations", "500"]
    assert run(["learn", str(files[0]), *budget, "-o", str(old)]) == 0
    assert run(["learn", str(files[1]), *budget, "--start", str(old)]) == 2
    assert "--new-rows" in capsys.readouterr().err
    command = ["learn", str(files[1]), *budget, "--start", str(old), "--new-rows", "-o", str(new)]
    assert run(command) == 0
    assert twbn.read_result(new).coding == twbn.read_result(old).coding
    assert run(["verify", str(new), "--data", str(files[1])]) == 0
    assert run(["learn", str(files[1]), *budget, "--new-rows"]) == 2
    assert "--new-rows goes with --start" in capsys.readouterr().err
