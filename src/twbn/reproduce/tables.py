"""The paper's tables from the results, ours above the printed values."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from twbn.report.document import Grid, Measured
from twbn.reproduce.plan import Cell, plan, score_cell
from twbn.reproduce.published import (
    OTHER_CODING,
    PROOF_BOUNDS,
    PROOF_TIMES,
    SAMPLED,
    SOLVER,
    Spread,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from twbn.reproduce.plan import Size
    from twbn.reproduce.store import Outcome, Store

__all__ = [
    "NO_DATA",
    "behind_the_paper",
    "duration",
    "found_of",
    "gap",
    "label",
    "number",
    "proof_table",
    "runs",
    "score_table",
    "spread_of",
    "text_of",
]

NO_DATA, NONE_FOUND = "·", "–"
#: The paper cuts its numbers to two decimals.
CUT = 0.01
SOLVER_ROWS = {"milp-paper": "MILP as printed", "dp": "dynamic program", "exact": "portfolio"}


def label(data: str) -> str:
    """Return the name of a data set, marked where its coding is not the paper's."""
    return f"{data} †" if data in OTHER_CODING else data


def number(value: float | None, digits: int = 2) -> str:
    """Return a number with a true minus sign, or a dot where there is none."""
    return NO_DATA if value is None else f"{value:.{digits}f}".replace("-", "−")


def duration(seconds: float) -> str:
    """Return seconds in human-readable form."""
    if seconds < 1:
        return "< 1 s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def gap(score: float, bound: float | None) -> float | None:
    """Return how far the bound is above the score, in per cent of the score."""
    return None if bound is None else 100 * max(bound - score, 0.0) / abs(score)


def text_of(text: str, outcomes: Iterable[Outcome]) -> str:
    """Mark a text as measured if one of the runs behind it ended by the clock."""
    return Measured(text) if any(outcome.by_the_clock for outcome in outcomes) else text


def runs(store: Store, size: Size, data: str, k: int, method: str) -> list[Outcome]:
    """Return the outcomes of all seeds that have been run."""
    found = [store.get(score_cell(size, data, k, method, seed)) for seed in range(size.seeds)]
    return [outcome for outcome in found if outcome is not None and outcome.value is not None]


def spread_of(outcomes: list[Outcome]) -> Spread | None:
    """Return the best, the worst and the median score."""
    values = [outcome.value for outcome in outcomes if outcome.value is not None]
    return Spread(max(values), min(values), statistics.median(values)) if values else None


def proof_table(store: Store, size: Size) -> Grid:
    """Return Table 1: the time until a structure is proved optimal."""
    head = ("method", "limit", *(label(data) for data in size.proof_sets))
    rows: list[tuple[str, ...]] = []
    for method, name in SOLVER_ROWS.items():
        for k in PROOF_BOUNDS:
            cells = [
                _proof(store.get(Cell("proof", data, k, method, seconds=size.proof_seconds)))
                for data in size.proof_sets
            ]
            rows.append((name, str(k), *cells))
        if method in PROOF_TIMES:
            printed = "paper: CPLEX 12.4" if method == "milp-paper" else "paper: K&P"
            for i, k in enumerate(PROOF_BOUNDS):
                cells = [PROOF_TIMES[method][data][i] for data in size.proof_sets]
                rows.append((printed, str(k), *cells))
    caption = (
        f"Time to prove optimality; one thread, at most {duration(size.proof_seconds)} (the paper: "
        "3 h), then the gap in brackets. BDeu, at most 3 parents. – : out of memory. Our dynamic "
        "program first looks for the best network without a limit and is done if that is narrow "
        "enough. † not the paper's coding: its times are for other data."
    )
    return Grid(head, tuple(rows), caption)


def _proof(outcome: Outcome | None) -> str:
    if outcome is None:
        return NO_DATA
    if outcome.status == "refused" or outcome.took is None or outcome.value is None:
        return "–"
    time = duration(outcome.took)
    if outcome.status == "optimal":
        return Measured(time)
    if outcome.status == "memory_limit":
        time += ", memory"
    if outcome.bound is None or outcome.bound == float("inf"):
        return Measured(f"{time} [no bound]")
    return Measured(f"{time} [{gap(outcome.value, outcome.bound):.2g} %]")


def score_table(store: Store, size: Size, k: int) -> Grid:
    """Return Table 2 (treewidth limit 4) or 3 (limit 10): our scores above the printed ones."""
    versions = (("sample-exact", "V1"), ("sample", "V2")) if k == 4 else (("sample", "V2"),)
    early, late = (duration(seconds) for seconds in size.solver_seconds)
    head = ["data", ""]
    for _, name in versions:
        head += [f"{name} max", "min", "median"]
    head += [f"MILP {early}", late, "anneal max", "min", "median", "gap"]
    rows: list[tuple[str, ...]] = []
    for data in size.sets:
        ours, paper = [label(data), "ours"], ["", "paper"]
        for method, _ in versions:
            ours += _spread(store, size, data, k, method)
            paper += [number(value) for value in SAMPLED[method, k][data]]
        ours += _solver(store, size, data, k)
        first, last, error = SOLVER[k][data]
        paper += [_printed(first, None), _printed(last, error)]
        ours += [*_spread(store, size, data, k, "anneal"), _certified(store, size, data, k)]
        paper += ["", "", "", ""]
        rows += [tuple(ours), tuple(paper)]
    budget = (
        f"{duration(size.seconds)} a run"
        if size.seconds is not None
        else ", ".join(f"{n:,} iterations of {method}" for method, n in size.iterations)
    )
    caption = (
        f"Log BDeu scores at treewidth limit {k}, higher is better: {size.seeds} seeds, {budget}, "
        "one thread (the paper: 10 seeds, 10 min). At most 3 parents, hill and community 2. ↓ "
        "below the printed value; – nothing found. gap: how far any such network can be above "
        "the best of annealing, proved by a bound. † not the paper's coding: do not compare."
    )
    return Grid(tuple(head), tuple(rows), caption)


def _printed(value: float | None, error: float | None) -> str:
    """Return a printed value of the integer program, with its error in brackets."""
    if value is None:
        return NONE_FOUND
    return number(value) + ("" if error is None else f" [{error} %]")


def _spread(store: Store, size: Size, data: str, k: int, method: str) -> list[str]:
    outcomes = runs(store, size, data, k, method)
    found = spread_of(outcomes)
    if found is None:
        return [NO_DATA] * 3
    printed: Spread | tuple[None, ...] = SAMPLED.get((method, k), {}).get(data, (None,) * 3)
    return [
        text_of(_with_mark(mine, theirs, data), outcomes)
        for mine, theirs in zip(found, printed, strict=True)
    ]


def _with_mark(mine: float, theirs: float | None, data: str) -> str:
    """Return our value, with an arrow where it is below the printed one."""
    return number(mine) + (" ↓" if _is_behind(mine, theirs, data) else "")


def _is_behind(mine: float, theirs: float | None, data: str) -> bool:
    return theirs is not None and data not in OTHER_CODING and mine < theirs - CUT


def _solver(store: Store, size: Size, data: str, k: int) -> list[str]:
    early, late = size.solver_seconds
    outcome = store.get(Cell("score", data, k, "milp-paper", seconds=late))
    if outcome is None:
        return [NO_DATA, NO_DATA]
    if outcome.value is None:
        return [NONE_FOUND, NONE_FOUND]
    first, last, _ = SOLVER[k][data]
    at_first = outcome.at(early)
    texts = [
        NONE_FOUND if at_first is None else _with_mark(at_first, first, data),
        _with_mark(outcome.value, last, data),
    ]
    error = gap(outcome.value, outcome.bound)
    if outcome.status != "optimal" and error is not None:
        texts[1] += f" [{error:.1f} %]"
    return [Measured(text) for text in texts]


def _certified(store: Store, size: Size, data: str, k: int) -> str:
    outcomes = runs(store, size, data, k, "anneal")
    found = spread_of(outcomes)
    bound = store.get(Cell("score", data, k, "bound", seconds=size.bound_seconds))
    if found is None or bound is None or bound.value is None:
        return NO_DATA
    distance = gap(found.best, bound.value)
    nats = bound.value - found.best
    text = f"{distance:.2f} %, {nats:.1f} nats"
    if distance is not None and distance < 1e-7:
        text = "optimal"
    return Measured(text)  # a bound has a budget in seconds


def behind_the_paper(store: Store, size: Size) -> Grid:
    """Return every printed score that the same method did not reach here.

    Sets with another coding are left out; so are cells that were not run.
    """
    rows: list[tuple[str, ...]] = []

    def compare(data: str, k: int, what: str, mine: float, theirs: float | None) -> None:
        if _is_behind(mine, theirs, data):
            rows.append((data, str(k), what, Measured(number(mine)), number(theirs)))

    for (method, k), printed in SAMPLED.items():
        name = "Version 1" if method == "sample-exact" else "Version 2"
        for data in size.sets:
            ours = spread_of(runs(store, size, data, k, method))
            for what, mine, theirs in zip(Spread._fields, ours or (), printed[data], strict=False):
                compare(data, k, f"{name}, {what}", mine, theirs)
    early, late = size.solver_seconds
    for k, of_solver in SOLVER.items():
        for data in size.sets:
            outcome = store.get(Cell("score", data, k, "milp-paper", seconds=late))
            if outcome is None or outcome.value is None:
                continue
            at_first = outcome.at(early)
            if at_first is not None:
                what = f"MILP, {duration(early)} (paper: 10 min)"
                compare(data, k, what, at_first, of_solver[data][0])
            what = f"MILP, {duration(late)} (paper: 3 h)"
            compare(data, k, what, outcome.value, of_solver[data][1])
    return Grid(("data", "limit", "method", "ours", "printed"), tuple(rows))


def found_of(store: Store, size: Size, part: str) -> list[tuple[Cell, Outcome]]:
    """Return the cells of a part that have been run, with their outcomes."""
    cells = [(cell, store.get(cell)) for cell in plan([part], size)]
    return [(cell, found) for cell, found in cells if found is not None and found.value is not None]
