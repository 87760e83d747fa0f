"""Solver processes: what runs in them, and what is said when they die."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from twbn.deadline import Deadline
from twbn.graphs.treewidth.program import treewidth_by_program
from twbn.search.bound.companion import beside_bound
from twbn.search.bound.upper_bound import upper_bound
from twbn.solvers.process import SolverDiedError, SolverProcess

if TYPE_CHECKING:
    from twbn.search.bound import Bound

RNG = np.random.default_rng(2)
CODES = RNG.integers(0, 2, (80, 6))
ROWS = {f"v{v}": CODES[:, v].tolist() for v in range(6)}
COMMAND = Path(sys.executable).with_name("twbn")


@pytest.fixture
def broken_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a `highspy` that cannot be used where solver processes find it first."""
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "highspy.py").write_text("raise RuntimeError('no licence today')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "broken"))


@pytest.mark.usefixtures("broken_solver")
@pytest.mark.parametrize("method", ["milp", "milp-paper"])
def test_a_dead_solver_is_told_in_the_notes(method: str) -> None:
    scores = twbn.compute_scores(ROWS, score="loglik")
    result = twbn.learn(scores, treewidth=2, method=method, time_limit=60.0, max_iterations=5)
    assert "RuntimeError: no licence today" in " ".join(result.notes)


@pytest.mark.usefixtures("broken_solver")
def test_a_bound_beside_the_search_that_dies_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # More variables than the dynamic program over subsets takes.
    monkeypatch.setattr("twbn.search.bound.rounds.MAX_SUBSET_VARIABLES", 1)
    scores = twbn.compute_scores(ROWS, score="loglik")
    ended = threading.Event()

    def told(*args: Any, **options: Any) -> Bound:
        try:
            return upper_bound(*args, **options)
        finally:
            ended.set()

    monkeypatch.setattr("twbn.search.bound.companion.upper_bound", told)

    def search(_: object) -> twbn.SearchResult:
        assert ended.wait(600)
        return twbn.learn(scores, treewidth=2, method="sample", max_iterations=5)

    result = beside_bound(search, scores, treewidth=2, time_limit=600.0)
    assert "RuntimeError: no licence today" in " ".join(result.notes)


@pytest.mark.usefixtures("broken_solver")
def test_a_bound_whose_solver_dies_says_so() -> None:
    found: Bound = twbn.upper_bound(
        twbn.compute_scores(ROWS, score="loglik"), treewidth=2, time_limit=60.0
    )
    assert found.status == "solver_died"
    assert "no licence today" in found.notes[0]


@pytest.mark.usefixtures("broken_solver")
def test_the_treewidth_by_program_says_so_too() -> None:
    graph = twbn.Graph.from_edges(6, [(u, (u + 1) % 6) for u in range(6)])
    with pytest.warns(UserWarning, match="solver 'highs' failed: .*no licence today"):
        found = treewidth_by_program(graph)
    assert found.lower <= 2 <= found.upper


def test_the_last_words_of_a_process_are_kept() -> None:
    process = SolverProcess("twbn.solvers.no_such_process")
    with pytest.raises(SolverDiedError, match="ended with code 1: ModuleNotFoundError"):
        process.receive(Deadline())
    process.end()


def test_all_cores_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from twbn.graphs.treewidth import program

    asked: list[int] = []
    plain: Any = program.solve  # type: ignore[attr-defined]

    def solve(job: Any, **options: Any) -> Any:
        asked.append(job.n_jobs)
        return plain(job, **options)

    monkeypatch.setattr(program, "solve", solve)
    graph = twbn.Graph.from_edges(5, [(u, (u + 1) % 5) for u in range(5)])
    assert treewidth_by_program(graph, n_jobs=-1).upper == 2
    assert asked[0] >= 1


# What is in the current folder is not run


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """Return a folder full of modules that leave a mark when they are imported."""
    mark = "import pathlib; (pathlib.Path(__file__).parent / 'caught').touch()\n"
    for name in ("highspy", "queue", "pickle", "struct", "numpy", "sitecustomize", "twbn"):
        (tmp_path / f"{name}.py").write_text(mark, encoding="utf-8")
    lines = [",".join(ROWS), *(",".join(map(str, row)) for row in CODES.tolist())]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_commands_run_no_code_of_the_current_folder(trap: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    for arguments in (
        ("learn", "data.csv", "-k", "2", "--method", "milp", "--time-limit", "20", "-o", "r.json"),
        ("report", "r.json", "--data", "data.csv", "-o", "page.html"),
    ):
        done = subprocess.run(
            [COMMAND, *arguments], cwd=trap, env=environment, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "solver" not in done.stdout
    assert not (trap / "caught").exists()
