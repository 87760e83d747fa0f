"""Checkpoints: whatever happens to a run, the best so far can be read, checked and gone on from."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest

from oracle import random_table
from twbn import Table, compute_scores, learn, read_table
from twbn.errors import OptionError, VerificationError
from twbn.search import read_result, write_result

if TYPE_CHECKING:
    from pathlib import Path

N_KILLS = 20


def written(path: Path, n: int, seed: int = 0) -> Path:
    """Write a CSV file of n columns that depend on each other."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, size=(400, n))
    codes[:, 2:] ^= codes[:, :-2] & codes[:, 1:-1]
    lines = [",".join(f"v{i}" for i in range(n)), *(",".join(map(str, row)) for row in codes)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.slow
def test_a_killed_run_leaves_a_checkpoint_that_verifies(tmp_path: Path) -> None:
    data = written(tmp_path / "data.csv", 100)
    scores = compute_scores(data, max_parents=2)

    def kill_one(number: int) -> None:
        checkpoint = tmp_path / f"best{number}.json"
        partial = checkpoint.with_name(checkpoint.name + ".part")
        command = [
            sys.executable, "-m", "twbn", "learn", str(data), "--method", "anneal",
            "--max-parents", "2", "--time-limit", "60", "--seed", str(number),
            "--checkpoint", str(checkpoint),
        ]  # fmt: skip
        run = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while not checkpoint.exists():
            time.sleep(0.01)
            assert run.poll() is None
        if number % 2:
            time.sleep(float(np.random.default_rng(number).uniform(0.0, 1.0)))
        else:  # in the middle of a later write, if there is one
            end = time.monotonic() + 3
            while not partial.exists() and time.monotonic() < end:
                time.sleep(0.0005)
        run.send_signal(signal.SIGKILL)
        run.wait()
        found = read_result(checkpoint)
        assert found.verify(scores) == []
        assert found.score > scores.total([[]] * 100)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(kill_one, range(N_KILLS)))


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(6), 20, 200, max_states=2)
    file = tmp_path / "best.json"
    learn(table, treewidth=3, method="anneal", max_iterations=300, checkpoint=file)
    first = read_result(file)
    with pytest.raises(OptionError, match="exists: start from it, or remove it"):
        learn(table, treewidth=3, method="anneal", max_iterations=300, checkpoint=file)
    again = learn(
        table, treewidth=3, method="anneal", max_iterations=300, start=first, checkpoint=file
    )
    assert again.score >= first.score - 1e-6
    assert read_result(file).score == again.score


def test_a_checkpoint_that_cannot_be_written_ends_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = random_table(np.random.default_rng(6), 6, 100)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("twbn.learning.checkpoint.write_result", refuse)
    result = learn(table, max_iterations=100, method="anneal", checkpoint=tmp_path / "x.json")
    assert "the checkpoint was not written: No space left on device" in result.notes


def test_a_start_learned_from_a_part_of_the_sets_fits_all_of_them() -> None:
    table = random_table(np.random.default_rng(11), 30, 200, max_states=2)
    for budget in (5, 20, 100, 400):
        some = compute_scores(table, score="aic", budget=budget)
        first = learn(some, treewidth=3, method="anneal", max_iterations=20_000)
        again = learn(
            table, score="aic", treewidth=3, method="anneal", max_iterations=100, start=first
        )
        assert again.score >= first.score - 1e-6


def test_a_checkpoint_holds_the_result_in_the_end(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(1), 8, 100)
    file = tmp_path / "best.json"
    result = learn(table, treewidth=2, method="auto", time_limit=1.0, checkpoint=file)
    assert read_result(file).score == result.score
    assert read_result(file).status == result.status
    again = learn(table, treewidth=2, method="anneal", max_iterations=10, start=read_result(file))
    assert again.score >= result.score - 1e-6


def test_a_checkpoint_of_another_table_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    table = random_table(rng, 6, 100, max_states=2)
    file = tmp_path / "best.json"
    write_result(learn(table, treewidth=2, max_iterations=100), file)
    codes = table.codes.copy()
    codes[0, 0] = 1 - codes[0, 0]
    other = Table(table.names, table.codings, codes)
    with pytest.raises(OptionError, match="start was learned from other data"):
        learn(other, treewidth=2, max_iterations=100, start=read_result(file))
    renamed = Table(tuple("uvwxyz"), table.codings, table.codes)
    with pytest.raises(OptionError, match="other variables than the scores"):
        learn(renamed, treewidth=2, max_iterations=100, start=read_result(file))


def test_a_start_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(9), 8, 400, max_states=2)
    wide = learn(table, treewidth=4, max_iterations=5000, score="loglik")
    assert wide.treewidth > 1
    scores = compute_scores(table, score="loglik", max_parents=4)
    with pytest.raises(OptionError, match=r"start has treewidth \d, the limit is 1"):
        learn(scores, treewidth=1, method="anneal", start=wide)
    narrow = compute_scores(table, max_parents=1)
    with pytest.raises(OptionError, match="a parent set that is not in the scores: "):
        learn(narrow, treewidth=4, method="anneal", start=wide)
    file = tmp_path / "r.json"
    write_result(wide, file)
    file.write_text(file.read_text().replace('"edges": [', '"edges": [[0, 0], ', 1))
    with pytest.raises(VerificationError, match=r"the result file is inconsistent: .*not a tree"):
        learn(table, treewidth=4, start=read_result(file))


def test_methods_without_checkpoints_say_so(tmp_path: Path) -> None:
    table = random_table(np.random.default_rng(1), 5, 50)
    with pytest.raises(OptionError, match="checkpoint is an option of anneal and auto"):
        learn(table, method="dp", checkpoint=tmp_path / "x.json")
    with pytest.raises(OptionError, match="there is no folder"):
        learn(table, checkpoint=tmp_path / "nowhere" / "x.json")


@pytest.mark.parametrize(
    ("method", "which"), [("anneal", "scored on demand"), ("sample", "the most promising")]
)
def test_a_start_keeps_its_families_when_not_all_sets_are_scored(
    tmp_path: Path, method: str, which: str
) -> None:
    table = read_table(written(tmp_path / "wide.csv", 300))
    first = learn(table, treewidth=3, time_limit=1.0, seed=1, method=method)
    assert any(which in note for note in first.notes)
    again = learn(table, treewidth=3, time_limit=1.0, seed=2, start=first, method=method)
    assert again.score >= first.score - 1e-6
