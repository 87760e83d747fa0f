"""Time limits on a simulated clock: every step takes all the time it is given, to the second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from twbn.learning import em, parameters, structural_em
from twbn.search import method as methods

if TYPE_CHECKING:
    from collections.abc import Callable

    from twbn.search.run import Run

LIMIT = 10.0


class Clock:
    """A clock that stands still until somebody works."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(name="clock")
def _clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Give the clock, on which a method called idle, and EM, use up all the time they get."""
    clock = Clock()

    @twbn.search_method("idle", "a few proposals, and all the time it has")
    def idle(scores: Any, run: Run) -> Any:
        clock.now += run.time_left or 0.0
        return twbn.METHODS["anneal"](scores, treewidth=run.treewidth, max_iterations=10)

    plain = em.fit_incomplete

    def idle_em(*args: Any, time_limit: float | None = None, **options: Any) -> Any:
        clock.now += time_limit or 0.0
        options.setdefault("max_iterations", 2)
        return plain(*args, **options)

    registered: Any = methods._methods
    monkeypatch.setitem(registered, "idle", idle)
    monkeypatch.setattr(structural_em, "fit_incomplete", idle_em)
    monkeypatch.setattr(parameters, "fit_incomplete", idle_em)
    monkeypatch.setattr("twbn.deadline.time.monotonic", clock)
    return clock


def table() -> Any:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (120, 5)).astype(float)
    rows[:, 1] = rng.normal(size=120)
    return rows


def with_gaps() -> Any:
    rows = table()
    rows[::7, 2] = np.nan
    return rows


def coded() -> Any:
    return twbn.as_table(table())


IDLE: dict[str, Any] = {"method": "idle", "time_limit": LIMIT}
CALLS: dict[str, Callable[[], Any]] = {
    "learn": lambda: twbn.learn(coded(), **IDLE),
    "learn, missing cells": lambda: twbn.learn(with_gaps(), **IDLE),
    "learn, cuts by score": lambda: twbn.learn(table(), discretize="score", **IDLE),
    "learn, polished": lambda: twbn.learn(coded(), polish=True, treewidth=2, **IDLE),
    "learn_incomplete": lambda: twbn.learn_incomplete(with_gaps(), treewidth=2, **IDLE),
    "TreewidthBN": lambda: twbn.TreewidthBN(**IDLE).fit(table()),
    "TreewidthBN, missing cells": lambda: twbn.TreewidthBN(**IDLE).fit(with_gaps()),
    "TreewidthClassifier": lambda: twbn.TreewidthClassifier(**IDLE).fit(
        with_gaps(), table()[:, 0].astype(int)
    ),
    "fit, missing cells": lambda: twbn.fit(
        twbn.learn(with_gaps(), method="anneal", max_iterations=10), with_gaps(), time_limit=LIMIT
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_takes_no_longer_than_it_may(clock: Clock, name: str) -> None:
    CALLS[name]()
    assert 0.5 * LIMIT <= clock.now <= 1.1 * LIMIT + 0.5, clock.now
