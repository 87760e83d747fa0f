"""Ctrl-C at any moment: what was found is kept, and the process ends cleanly."""

from __future__ import annotations

import _thread
import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from twbn import interrupts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def table(n: int = 12, n_rows: int = 120) -> twbn.Table:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (n_rows, n))
    for v in range(1, n):
        copied = rng.random(n_rows) < 0.7
        codes[copied, v] = codes[copied, v - 1]
    return twbn.Table.from_codes(codes)


TABLE = table()
SCORES = twbn.compute_scores(TABLE)
SOLVERS = {"milp", "milp-paper", "maxsat"}


def interrupt(*_: Any) -> None:
    """Do what Ctrl-C does."""
    os.kill(os.getpid(), signal.SIGINT)


def interrupted_at(number: int) -> tuple[Callable[..., None], list[int]]:
    """Return a listener that presses Ctrl-C the number-th time it is called."""
    calls: list[int] = []

    def listen(*_: Any) -> None:
        calls.append(1)
        if len(calls) == number:
            interrupt()

    return listen, calls


def test_ctrl_c_inside_a_block_is_noted_and_not_raised() -> None:
    with interrupts.deferred():
        assert not interrupts.pending()
        interrupt()
        assert interrupts.pending()
        with interrupts.deferred():
            assert interrupts.pending()
        assert interrupts.pending()
    assert not interrupts.pending()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_again_after_a_while_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("twbn.interrupts.time.monotonic", lambda: clock[0])
    with interrupts.deferred():
        interrupt()
        clock[0] += 1.0
        interrupt()
        clock[0] += 5.0
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_callers_stays() -> None:
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        with interrupts.deferred():
            interrupt()
            assert not interrupts.pending()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [1]


def test_other_threads_change_no_handler() -> None:
    found = []

    def work() -> None:
        with interrupts.deferred():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


@pytest.mark.parametrize(
    ("method", "number"),
    [
        (method, number)
        for method in twbn.METHODS
        for number in ((1,) if method in SOLVERS else (1, 2, 5))  # solvers report seldom
        if method != "tree"
    ],
)
def test_every_method_returns_its_best_when_interrupted(method: str, number: int) -> None:
    # The listener is called while the method works; the last call may come at its very end.
    listen, calls = interrupted_at(number)
    result = twbn.METHODS[method](SCORES, treewidth=3, time_limit=600.0, seed=1, on_progress=listen)
    assert result.score >= SCORES.total(twbn.Dag.empty(12))
    if len(calls) >= number and result.status != "optimal":
        assert result.status == "interrupted"


@pytest.mark.parametrize("method", twbn.METHODS)
def test_ctrl_c_right_before_the_end_loses_nothing(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The moment after the search and before its result is made.
    made = twbn.SearchResult.__post_init__

    def late(self: twbn.SearchResult) -> None:
        interrupt()
        made(self)

    monkeypatch.setattr(twbn.SearchResult, "__post_init__", late)
    budget: dict[str, Any] = {"max_iterations": 200}
    result = twbn.METHODS[method](SCORES, treewidth=2, **budget, time_limit=600.0)
    assert result.treewidth <= 2


def test_ctrl_c_in_the_last_moment_of_learn_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from twbn.learning.checkpoint import Checkpoint

    written = Checkpoint.write

    def late(self: Checkpoint, result: twbn.SearchResult) -> None:
        written(self, result)
        interrupt()

    monkeypatch.setattr(Checkpoint, "write", late)
    result = twbn.learn(
        TABLE, treewidth=2, method="anneal", max_iterations=500, checkpoint=tmp_path / "best.json"
    )
    assert twbn.read_result(tmp_path / "best.json").score == pytest.approx(result.score)


def test_interrupted_scoring_keeps_what_is_complete() -> None:
    def slow(_: twbn.Table, child: int, parents: tuple[int, ...]) -> float:
        if child == 3 and len(parents) == 2:
            interrupt()
        return -float(len(parents))

    scores = twbn.compute_scores(TABLE, score=slow, prune=False)
    assert (scores.info.status, scores.info.complete_size) == ("interrupted", 1)
    assert scores.n_sets == 12 * 12


def test_interrupted_em_returns_its_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    from twbn.learning import em, fit_incomplete, learn_incomplete

    rng = np.random.default_rng(0)
    codes = np.where(rng.random(TABLE.codes.shape) < 0.2, -1, TABLE.codes)
    gaps = twbn.Table(TABLE.names, TABLE.codings, codes)
    expected = em.expected_counts
    calls = []

    def counted(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            interrupt()
        return expected(*args)

    monkeypatch.setattr(em, "expected_counts", counted)
    found = fit_incomplete(twbn.Dag.from_arcs(12, [(0, 1), (1, 2)]), gaps, tolerance=0.0)
    assert (len(calls), found.converged) == (2, False)
    calls.clear()
    learned = learn_incomplete(gaps, treewidth=2, max_iterations=500)
    assert learned.status == "interrupted"
    assert learned.network.n_variables == 12


def test_an_interrupted_bound_is_one() -> None:
    listen, _ = interrupted_at(1)
    found = twbn.upper_bound(SCORES, treewidth=2, time_limit=600.0, on_bound=listen)
    best = twbn.learn(SCORES, treewidth=2, method="exact")
    assert found.status == "interrupted"
    assert found.value >= best.score


def test_an_interrupted_treewidth_is_bounded() -> None:
    pairs = np.random.default_rng(0).integers(0, 45, (180, 2)).tolist()
    graph = twbn.Graph.from_edges(45, [(u, v) for u, v in pairs])
    listen, calls = interrupted_at(1)
    found = twbn.treewidth(graph, on_progress=listen)
    assert calls
    assert found.lower < found.upper
    assert found.status == "interrupted"
    found.decomposition.check(graph)


def test_an_interrupted_map_query_has_states(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = twbn.Inference(twbn.fit(twbn.learn(SCORES, treewidth=2), TABLE))
    asked = twbn.Inference.log_codes

    def late(self: twbn.Inference, rows: Any) -> Any:
        interrupt()
        return asked(self, rows)

    monkeypatch.setattr(twbn.Inference, "log_codes", late)
    found = engine.marginal_map(list(TABLE.names[:6]), max_entries=1, time_limit=600.0)
    assert len(found.states) == 6


LOOP = """
import sys, json, threading, twbn
from twbn import interrupts
scores = twbn.compute_scores(json.loads(sys.argv[2]))
def told(*_):
    if not started:
        started.append(1)
        print("searching", flush=True)
started = []
result = twbn.METHODS[sys.argv[1]](scores, treewidth=3, time_limit=600, on_progress=told)
print(json.dumps([result.status, result.score]), flush=True)
"""


@pytest.mark.parametrize("method", ["anneal", "auto", "milp", "sample"])
def test_a_real_signal_from_outside_keeps_the_best(method: str) -> None:
    rows = {name: TABLE.codes[:, v].tolist() for v, name in enumerate(TABLE.names)}
    with subprocess.Popen(
        [sys.executable, "-c", LOOP, method, json.dumps(rows)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()  # the search says that it is at work
        if first.strip() == "searching":
            process.send_signal(signal.SIGINT)
            first = process.stdout.readline()
    status, score = json.loads(first)
    assert process.returncode == 0
    assert status in {"interrupted", "optimal"}
    assert score >= SCORES.total(twbn.Dag.empty(12))


def test_ctrl_c_while_the_command_starts_is_one_line() -> None:
    # The import of the command line is where most of the start goes.
    code = (
        "import sys, builtins, os, signal\n"
        "plain = builtins.__import__\n"
        "def importing(name, *args, **options):\n"
        "    if name == sys.argv[1]:\n"
        "        sys.argv[1] = ''\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return plain(name, *args, **options)\n"
        "builtins.__import__ = importing\n"
        "from twbn.__main__ import main\n"
        "sys.argv = ['twbn', sys.argv[1], 'learn']\n"
        "main()\n"
    )
    for module in ("numpy", "typer", "rich.console", "twbn.learning.learn"):
        done = subprocess.run(
            [sys.executable, "-c", code, module], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (1, "error: interrupted\n"), module


def test_the_main_thread_can_be_interrupted_from_another() -> None:
    # As notebooks do it.
    def told(*_: Any) -> None:
        _thread.interrupt_main()

    result = twbn.learn(SCORES, treewidth=3, method="anneal", time_limit=600.0, on_progress=told)
    assert result.status in {"interrupted", "optimal"}


def test_a_signal_while_the_handler_is_put_back_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = signal.signal

    def late(number: int, handler: Any) -> Any:
        before = plain(number, handler)
        if handler is signal.default_int_handler:
            interrupt()
        return before

    monkeypatch.setattr("twbn.interrupts.signal.signal", late)
    with pytest.raises(KeyboardInterrupt), interrupts.deferred():
        pass
    monkeypatch.undo()
    assert not interrupts.pending()
    with interrupts.deferred():
        interrupt()
        assert interrupts.pending()
    assert not interrupts.pending()


def test_ctrl_c_at_the_end_of_scoring_is_not_forgotten() -> None:
    def last(done: int, total: int) -> None:
        if done == total:
            interrupt()

    assert twbn.compute_scores(TABLE, on_progress=last).info.status == "interrupted"


def test_an_exact_map_query_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    from twbn.inference import map as module

    engine = twbn.Inference(twbn.fit(twbn.learn(SCORES, treewidth=2), TABLE))
    expected = engine.marginal_map(["x1", "x3"]).states
    plain: Any = module._plan

    def late(*args: Any) -> Any:
        interrupt()
        return plain(*args)

    monkeypatch.setattr(module, "_plan", late)
    assert engine.marginal_map(["x1", "x3"]).states == expected


def test_structural_em_keeps_its_best_when_a_later_round_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from twbn.learning import incomplete

    rng = np.random.default_rng(0)
    codes = np.where(rng.random(TABLE.codes.shape) < 0.2, -1, TABLE.codes)
    gaps = twbn.Table(TABLE.names, TABLE.codings, codes)
    plain: Any = incomplete.learn  # type: ignore[attr-defined]
    calls: list[int] = []

    def late(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            interrupt()
        return plain(*args, **options)

    monkeypatch.setattr(incomplete, "learn", late)
    found = incomplete.learn_incomplete(gaps, treewidth=2, max_iterations=300)
    assert (len(calls), found.status) == (2, "interrupted")
    assert found.network.n_variables == 12


def test_ctrl_c_after_the_command_has_ended_is_not_heard() -> None:
    code = (
        "import atexit, os, signal, twbn.cli\n"
        "from twbn.__main__ import main\n"
        "twbn.cli.run = lambda arguments: 0\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
