"""Polishing keeps to the rules, and claims only what was proved."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(5)
N = 9


def chain() -> dict[str, list[int]]:
    codes = RNG.integers(0, 2, (150, N))
    for v in range(1, N):
        copied = RNG.random(150) < 0.8
        codes[copied, v] = codes[copied, v - 1]
    return {f"v{v}": codes[:, v].tolist() for v in range(N)}


ROWS = chain()
FORBIDDEN = [(f"v{v}", f"v{v + 1}") for v in range(0, N - 1, 2)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["sample", "anneal", "exact"])
def test_polishing_keeps_to_the_rules(seed: int, method: str) -> None:
    result = twbn.learn(
        ROWS, treewidth=2, method=method, max_iterations=20, seed=seed, polish=True,
        forbidden=FORBIDDEN, required=[("v8", "v0")], roots=["v8"], leaves=["v4"],
    )  # fmt: skip
    parents = result.parents
    assert not [arc for arc in FORBIDDEN if arc[0] in parents[arc[1]]]
    assert "v8" in parents["v0"]
    assert not parents["v8"]
    assert not [name for name in parents if "v4" in parents[name]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", ["sample", "exact"])
def test_a_polished_file_is_verified(tmp_path: Path, seed: int, method: str) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "result.json"
    lines = [",".join(ROWS), *(",".join(map(str, r)) for r in zip(*ROWS.values(), strict=True))]
    data.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules = [f"--forbidden={a}->{b}" for a, b in FORBIDDEN]
    command = [sys.executable, "-m", "twbn"]
    search = ("--method", method, "--max-iterations", "20", "--polish", "--seed", seed)
    arguments = ("learn", data, "-k", "2", *search, *rules, "-o", out)
    subprocess.run(
        [*command, *map(str, arguments)],
        check=True,
        capture_output=True,
    )
    claimed = twbn.read_result(out)
    assert not [arc for arc in FORBIDDEN if arc[0] in claimed.parents[arc[1]]]
    done = subprocess.run(
        [*command, "verify", out, "--data", data], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_polishing_an_optimal_result_with_more_sets_takes_its_proof_back() -> None:
    # What two variables say together, neither says alone.
    bits = np.random.default_rng(0).integers(0, 2, (100, 2))
    rows = {"a": bits[:, 0], "b": bits[:, 1], "c": bits[:, 0] ^ bits[:, 1]}
    rows["d"] = np.where(np.arange(100) % 9 == 0, 1 - rows["a"], rows["a"])
    small = twbn.compute_scores(rows, max_parents=1)
    proved = twbn.learn(small, treewidth=2, method="exact")
    assert proved.status == "optimal"
    polished = twbn.polish(proved, twbn.LazyScores(rows))
    assert polished.score > proved.score
    assert polished.status != "optimal"
    assert polished.bound > polished.score


def test_polishing_within_the_same_scores_keeps_the_bound() -> None:
    scores = twbn.compute_scores(ROWS)
    rough = twbn.learn(scores, treewidth=2, method="sample", max_iterations=2)
    polished = twbn.learn(scores, treewidth=2, method="sample", max_iterations=2, polish=True)
    assert polished.score > rough.score
    assert polished.bound == rough.bound


def test_polishing_takes_sets_that_were_not_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twbn.learning.scoring.MAX_GIB", 0.0)
    monkeypatch.setattr("twbn.learning.scoring.BUDGETS", (1, 1, 1))
    options: dict[str, Any] = {"treewidth": 3, "method": "sample", "max_iterations": 2}
    rough = twbn.learn(ROWS, **options)
    polished = twbn.learn(ROWS, polish=True, **options)
    assert polished.score > rough.score
    assert polished.notes[0].startswith("parent sets: the most promising ones")
    assert "polished" in polished.notes
