"""Scores of all parent sets up to a size, or of the most promising ones."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import _core, interrupts
from twbn.checks import checked_time_limit
from twbn.cluster import active_cluster
from twbn.data.convert import as_table
from twbn.errors import MemoryLimitError, OptionError
from twbn.interrupts import deferred
from twbn.scores.blocks import score_in_blocks
from twbn.scores.by_function import score_with_function
from twbn.scores.estimate import Estimate, estimate
from twbn.scores.kinds import ScoreOption, checked_score, score_name, scored_data
from twbn.scores.protocol import ScoringInfo
from twbn.scores.rules import ParentRules, make_rules
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from twbn.data.table import Table

__all__ = ["Estimate", "compute_scores", "default_memory_limit", "estimate", "n_workers"]

#: What one set takes while it is explored, and in the result.
BYTES_EXPLORED, BYTES_KEPT = 250, 60

#: Called with (sets done, sets in all).
Progress = Callable[[int, int], None]


def compute_scores(
    data: Any,
    *,
    score: ScoreOption = "bdeu",
    ess: float = 1.0,
    max_parents: int | Mapping[str, int] | None = 3,
    required: Iterable[tuple[str, str]] = (),
    forbidden: Iterable[tuple[str, str]] = (),
    tiers: Sequence[Iterable[str]] | None = None,
    roots: Iterable[str] = (),
    leaves: Iterable[str] = (),
    prune: bool = True,
    budget: int | None = None,
    n_jobs: int | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    on_progress: Progress | None = None,
) -> ScoreTable:
    """Return the local scores of the parent sets of every variable.

    Parameters
    ----------
    data
        A Table or anything `as_table` takes; no cell may be missing.
    score
        ``"bdeu"``, ``"bic"`` (or ``"mdl"``), ``"aic"``, ``"k2"``, ``"loglik"``, or a function
        ``(table, child, parents) -> float`` with columns by position. Natural logarithms.
    ess
        Equivalent sample size of BDeu.
    max_parents
        Largest parent set, for all variables or by name; None: no limit.
    required, forbidden, tiers
        Arcs (parent, child) that must or must not be there; ordered groups of variables.
    roots, leaves
        Variables without parents, and without children.
    prune
        Drop a set when a subset of it scores at least as well. Loses no optimum.
    budget
        For wide tables: instead of all sets, explore at most this many sets of two or more
        parents for each variable, the most promising first.
    n_jobs
        Threads; None is one, -1 is one per core. On a cluster that joblib was told of
        (``joblib.parallel_config``) its workers score the variables, if there is a budget.
    time_limit
        Seconds. What is complete by then is kept: all sets up to some size.
    memory_limit
        GiB; by default half of what the machine has. More is refused before it is allocated.
    on_progress
        Called now and then with (work done, work in all).

    Examples
    --------
    >>> table = as_table({"a": [0, 0, 1, 1] * 3, "b": [0, 1, 0, 1] * 3, "c": [0, 0, 1, 1] * 3})
    >>> scores = compute_scores(table, score="bic")
    >>> [(round(value, 6), parents) for value, parents in scores.sets(0)]
    [(-2.484907, (2,)), (-9.560219, ())]
    """
    table = as_table(data)
    checked_score(score, ess)
    rules = make_rules(
        table.names, max_parents=max_parents, required=required, forbidden=forbidden, tiers=tiers,
        roots=roots, leaves=leaves,
    )  # fmt: skip
    time_limit = checked_time_limit(time_limit)
    _check_limits(budget, memory_limit)
    jobs = n_workers(n_jobs)
    start = time.perf_counter()
    gib = memory_limit if memory_limit is not None else default_memory_limit()
    n_bytes = min(int(gib * 2**30), 2**62)
    if callable(score):
        return score_with_function(
            table, score, rules, prune=prune, budget=budget, time_limit=time_limit,
            max_bytes=n_bytes, on_progress=on_progress,
        )  # fmt: skip
    if budget is None:
        n_terms = len(set(table.n_states.tolist())) if score_name(score) == "k2" else 1
        needed = _refuse_too_large(table.n_variables, rules, prune, n_terms, n_bytes)
        workspace = estimate(table.n_variables, int(rules.max_parents.max()), n_terms=n_terms)
        total, n_bytes = needed.n_sets, n_bytes - workspace.n_bytes
    else:
        possible = estimate(table.n_variables, int(rules.max_parents.max())).n_sets
        per_variable = min(budget, possible // table.n_variables)
        _refuse_large_budget(table.n_variables, per_variable, jobs, n_bytes)
        total = table.n_variables
    sets = None if budget is None else min(budget, 2**62)
    cluster = active_cluster()
    with deferred():  # from here on there is something to keep
        if cluster is not None and sets is not None:
            found = score_in_blocks(
                cluster, table, (score, ess), rules, prune, sets, n_bytes, time_limit
            )
        else:
            found = _core.score_parent_sets(
                scored_data(table, score, ess),
                rules.max_parents,
                rules.allowed,
                [list(parents) for parents in rules.required],
                prune,
                sets,
                jobs,
                n_bytes,
                time_limit,
                None if on_progress is None else lambda done: on_progress(done, total),
            )
        if on_progress is not None:
            on_progress(total, total)
        seconds = time.perf_counter() - start
        return _table_of(found, table, rules, score_name(score), ess, budget, time_limit, seconds)


def _table_of(
    found: _core.ScoredSets,
    table: Table,
    rules: ParentRules,
    name: str,
    ess: float,
    budget: int | None,
    time_limit: float | None,
    seconds: float,
) -> ScoreTable:
    """Return the score table of what the core has found."""
    if not len(found["scores"]) or np.any(np.diff(found["variable_offsets"]) == 0):
        if found["interrupted"]:
            raise KeyboardInterrupt
        msg = (
            f"time_limit of {time_limit} s was over before every variable had a parent set "
            "with all that is required"
        )
        raise OptionError(msg)
    info = ScoringInfo(
        name,
        float(ess) if name == "bdeu" else None,
        _status(found, int(rules.max_parents.max()), budget),
        found["complete_size"],
        found["n_scored"],
        found["n_skipped"],
        seconds,
        table.fingerprint,
        table.coding,
    )
    return ScoreTable(
        table.names,
        found["variable_offsets"],
        found["scores"],
        found["set_offsets"],
        found["parents"],
        info,
    )


def n_workers(n_jobs: int | None) -> int:
    """Return the number of threads: None is 1, -1 one per core.

    Examples
    --------
    >>> n_workers(None), n_workers(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    good = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not good or n_jobs == 0 or n_jobs < -1:
        msg = f"n_jobs must be a positive number, -1 (all cores) or None (one), got {n_jobs!r}"
        raise OptionError(msg)
    if n_jobs == -1:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    return int(n_jobs)


def _status(found: _core.ScoredSets, max_size: int, budget: int | None) -> str:
    if found["interrupted"] or interrupts.pending():
        return "interrupted"
    if found["out_of_memory"]:
        return "memory_limit"
    if budget is not None:
        return "time_limit" if found["timed_out"] else "budget"
    return "complete" if found["complete_size"] >= max_size else "time_limit"


def _check_limits(budget: int | None, memory_limit: float | None) -> None:
    if budget is not None and (not isinstance(budget, int) or budget < 0):
        msg = f"budget must be a number of parent sets, 0 or more, got {budget!r}"
        raise OptionError(msg)
    number = isinstance(memory_limit, int | float | np.number)
    if memory_limit is not None and not (number and 0 < memory_limit < math.inf):
        msg = f"memory_limit must be positive and finite, got {memory_limit!r}"
        raise OptionError(msg)


def default_memory_limit() -> float:
    """Return half of the machine's memory, in GiB."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**31
    except (AttributeError, ValueError, OSError):
        return 2.0


def _refuse_too_large(
    n_variables: int, rules: ParentRules, prune: bool, n_terms: int, n_bytes: int
) -> Estimate:
    size = int(rules.max_parents.max())
    needed = estimate(n_variables, size, prune=prune, n_terms=n_terms)
    if needed.n_bytes <= n_bytes:
        return needed
    fitting = [
        p
        for p in range(size)
        if estimate(n_variables, p, prune=prune, n_terms=n_terms).n_bytes <= n_bytes
    ]
    advice = f"max_parents={fitting[-1]} would fit, or " if fitting else ""
    msg = (
        f"all sets of at most {size} of {n_variables} variables: {needed}, more than the "
        f"memory limit of {n_bytes / 2**30:.2f} GiB; {advice}give a budget of sets per variable "
        "(budget=2000)"
    )
    raise MemoryLimitError(msg)


def _refuse_large_budget(n_variables: int, budget: int, n_jobs: int, n_bytes: int) -> None:
    """Refuse an exploration whose sets, were all of them kept, would not fit."""

    def needed(n_sets: int) -> int:
        each = n_variables + n_sets  # the single parents, and the budget
        return BYTES_EXPLORED * n_jobs * each + BYTES_KEPT * n_variables * each

    if needed(budget) <= n_bytes:
        return
    slope = needed(1) - needed(0)
    fitting = (n_bytes - needed(0)) // slope
    advice = f"budget={fitting} would fit" if fitting > 0 else "no budget would fit"
    msg = (
        f"a budget of {budget:,} sets for each of {n_variables} variables may need "
        f"{needed(budget) / 2**30:.2f} GiB, more than the memory limit of "
        f"{n_bytes / 2**30:.2f} GiB; {advice}"
    )
    raise MemoryLimitError(msg)
