"""The bar towards a time limit."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from twbn import learn
from twbn.progress_bar import ProgressBar


def test_a_terminal_gets_one_line_that_is_rewritten(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with ProgressBar(10.0) as bar:
        bar(5.0, 1000, -1.0)
        bar(20.0, 2000, -0.5)
    said = capsys.readouterr().err
    assert said.count("\r") == 2
    assert said.endswith("\n")
    assert "[" + "#" * 30 + "] 20.0 of 10 s" in said


def test_a_pipe_gets_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (50, 6))
    learn(rows, treewidth=1, method="anneal", max_iterations=1000, on_progress=True)
    assert capsys.readouterr().err == ""


def test_a_notebook_gets_a_line_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    display: Any = pytest.importorskip("IPython.display", reason="IPython is not installed")
    shown: list[Any] = []
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    place = SimpleNamespace(update=lambda data, **_: shown.append(data["text/plain"]))
    monkeypatch.setattr(display, "display", lambda *_, **__: place)
    rows = np.random.default_rng(0).integers(0, 2, (50, 6))
    learn(rows, treewidth=1, method="anneal", max_iterations=100_000, on_progress=True)
    assert shown
    assert "best score" in shown[-1]
