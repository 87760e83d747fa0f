"""The bar towards a time limit."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import learn
from twbn.progress_bar import ProgressBar

if TYPE_CHECKING:
    import pytest


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
    shown: list[Any] = []
    place = SimpleNamespace(update=lambda data, **_: shown.append(data["text/plain"]))
    shell = type("ZMQInteractiveShell", (), {})()
    # A notebook's own modules, as far as a bar needs them.
    notebook: Any = ModuleType("IPython")
    notebook.get_ipython = lambda: shell
    display: Any = ModuleType("IPython.display")
    display.display = lambda *_, **__: place
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with ProgressBar(10.0) as bar:
        bar(5.0, 1000, -1.0)
        bar(6.0, 2000, -0.5)
    assert len(shown) == 2
    assert "6.0 of 10 s, 2,000 iterations, best score -0.5000" in shown[-1]
