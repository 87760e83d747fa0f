"""Runs cells, several at a time, and stores each result as soon as it is available."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from twbn.data import Table, datasets
from twbn.errors import DataError, MemoryLimitError, MissingDependencyError
from twbn.graphs import Dag
from twbn.inference import Inference
from twbn.learning import learn, learn_mixture
from twbn.network import Network, fit, read_network
from twbn.reproduce.plan import BAGS, CHOICE_SHARE, MIXTURES, TUNED, TUNED_PRIORS
from twbn.reproduce.published import max_parents
from twbn.reproduce.store import Outcome
from twbn.scores import LazyScores, ScoreTable, compute_scores
from twbn.search import polish, upper_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from twbn.learning.mixture import MixtureResult
    from twbn.reproduce.plan import Cell
    from twbn.reproduce.store import Store
    from twbn.search import SearchResult

__all__ = ["Data", "absent", "run_cells"]

N_ROWS = 5_000
#: Rows on which the time of an answer is measured, and the share of their cells that is hidden.
TIMED_ROWS, HIDDEN = 1_000, 0.3
MAX_TRACE = 60
#: Most variables for which a proof is tried before a bound.
MAX_PROVED = 25


class Data:
    """The data of the experiments, read once. `folder` holds ``uci/raw``, ``bif``, ``density``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._scores = cache(self._compute_scores)
        self._samples = cache(self._draw)
        self._splits = cache(self._read_splits)

    def scores(self, name: str) -> ScoreTable:
        """Return the scores of one of the paper's data sets, computed as in its experiments."""
        with self._lock:
            return self._scores(name)

    def sampled(self, name: str) -> tuple[Network, Table, Table]:
        """Return a known network, rows to learn from and rows to test on."""
        with self._lock:
            return self._samples(name)

    def split(self, name: str) -> tuple[Table, Table]:
        """Return the rows of a density benchmark to learn from and to test on."""
        with self._lock:
            return self._splits(name)

    def validation(self, name: str) -> Table:
        """Return the rows of a density benchmark to choose options by."""
        return _bits(self.folder / "density" / name / f"{name}.valid.data")

    def _compute_scores(self, name: str) -> ScoreTable:
        table = datasets.load(name, folder=self.folder / "uci" / "raw")
        return compute_scores(table, max_parents=max_parents(name))

    def _draw(self, name: str) -> tuple[Network, Table, Table]:
        network = read_network(self.folder / "bif" / f"{name}.bif")
        return network, network.sample(N_ROWS, seed=1), network.sample(N_ROWS, seed=2)

    def _read_splits(self, name: str) -> tuple[Table, Table]:
        base = self.folder / "density" / name
        return _bits(base / f"{name}.train.data"), _bits(base / f"{name}.test.data")


def _bits(path: Path) -> Table:
    """Read a file of zeros and ones; a column may be constant in one split and not in another."""
    codes = np.loadtxt(path, delimiter=",", dtype=np.int32)
    return Table.from_codes(codes, n_states=[2] * codes.shape[1])


def absent(cells: Sequence[Cell], data: Data) -> dict[str, str]:
    """Return the data sets that are not available, with what is missing for each."""
    missing = {}
    for study, name in sorted({(cell.study, cell.data) for cell in cells}):
        if study == "network":
            paths = [data.folder / "bif" / f"{name}.bif"]
        elif study in {"density", "tuned", "mixture"}:
            base = data.folder / "density" / name
            parts = ("train", "test") if study == "density" else ("train", "valid", "test")
            paths = [base / f"{name}.{part}.data" for part in parts]
        else:
            try:
                datasets.load(name, folder=data.folder / "uci" / "raw")
            except (DataError, MissingDependencyError) as error:
                missing[name] = str(error)
            continue
        gone = [path for path in paths if not path.exists()]
        if gone:
            missing[name] = f"{gone[0]} is not here"
    return missing


def run_cells(
    cells: Sequence[Cell],
    store: Store,
    data: Data,
    *,
    n_jobs: int,
    on_done: Callable[[Cell, int, int], None] | None = None,
) -> None:
    """Run the cells that are not in the store, `n_jobs` at a time, one thread each.

    Threads suffice: the core and the solvers work outside Python's lock. They are daemons, so that
    Ctrl-C ends the process at once; what is finished is in the store.
    """
    waiting: queue.SimpleQueue[Cell] = queue.SimpleQueue()
    todo = [cell for cell in cells if cell not in store]
    for cell in todo:
        waiting.put(cell)
    done: queue.SimpleQueue[_Finished] = queue.SimpleQueue()

    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            try:
                cell = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                store.add(cell, run_cell(cell, data))
                done.put(_Finished(cell, None))
            except Exception as error:
                done.put(_Finished(cell, error))
                return

    for _ in range(min(n_jobs, len(todo))):
        threading.Thread(target=work, daemon=True).start()
    try:
        for n_done in range(1, len(todo) + 1):
            finished = done.get()
            if finished.error is not None:
                raise finished.error
            if on_done is not None:
                on_done(finished.cell, len(cells) - len(todo) + n_done, len(cells))
    finally:
        stop.set()  # after an error or Ctrl-C no further cell is started


@dataclass(frozen=True)
class _Finished:
    cell: Cell
    error: Exception | None


def run_cell(cell: Cell, data: Data) -> Outcome:
    """Run one cell; exceeding the memory limit is an outcome, too."""
    studies = {"network": _network, "density": _density, "tuned": _tuned, "mixture": _mixture}
    run = studies.get(cell.study, _score)
    try:
        return run(cell, data)
    except MemoryLimitError as error:
        return Outcome("refused", note=" ".join(str(error).split()))


def _score(cell: Cell, data: Data) -> Outcome:
    scores = data.scores(cell.data)
    if cell.method == "empty":
        empty = scores.total(Dag.empty(scores.n_variables))
        return Outcome("optimal", empty)
    if cell.method == "bound":
        if scores.n_variables <= MAX_PROVED:
            proof = _learn(replace(cell, method="exact"), scores)
            if proof.status == "optimal":
                return Outcome(proof.status, proof.score, proof.score, proof.seconds)
        found = upper_bound(scores, treewidth=cell.treewidth, time_limit=cell.seconds)
        return Outcome(found.status, found.value, found.value, found.seconds)
    result = _learn(cell, scores)
    outcome = _outcome(result)
    if cell.study == "score" and cell.method == "sample" and cell.treewidth <= 4:
        return Outcome(**{**vars(outcome), "polished": polish(result, scores).score})
    return outcome


def _network(cell: Cell, data: Data) -> Outcome:
    true, rows, test = data.sampled(cell.data)
    result = _learn(cell, rows)
    network = fit(result, rows)
    exact = LazyScores(rows, score=cell.score, max_parents=None)
    return Outcome(
        **{
            **vars(_outcome(result)),
            "held_out": float(network.log_likelihood(test).mean()),
            "true_value": exact.total(true.dag),
            "true_held_out": float(true.log_likelihood(test).mean()),
        }
    )


def _density(cell: Cell, data: Data) -> Outcome:
    rows, test = data.split(cell.data)
    result = _learn(cell, rows)
    network = fit(result, rows)
    engine = Inference(network)
    asked = _with_gaps(test)
    engine.score_samples(asked)  # one-off computations do not count towards the time per row
    begun = time.perf_counter()
    engine.score_samples(asked)
    seconds = time.perf_counter() - begun
    return Outcome(
        **{
            **vars(_outcome(result)),
            "held_out": float(network.log_likelihood(test).mean()),
            "n_entries": engine.tree.n_entries,
            "row_seconds": seconds / asked.n_rows,
        }
    )


def _tuned(cell: Cell, data: Data) -> Outcome:
    """Learn with several options, each in the time of the cell; take the best on other rows."""
    rows, test = data.split(cell.data)
    validation = data.validation(cell.data)
    best: tuple[float, str, SearchResult, Network] | None = None
    for treewidth, ess in TUNED:
        result = learn(
            rows,
            treewidth=treewidth,
            ess=ess,
            time_limit=cell.seconds,
            max_iterations=cell.iterations,
            seed=cell.seed,
        )
        for prior in TUNED_PRIORS:
            network = fit(result, rows, ess=prior)
            value = float(network.log_likelihood(validation).mean())
            if best is None or value > best[0]:
                about = f"limit {treewidth}, ess {ess:g}, parameters {prior:g}"
                best = (value, about, result, network)
    assert best is not None
    _, about, result, network = best
    held_out = float(network.log_likelihood(test).mean())
    return Outcome(**{**vars(_outcome(result)), "held_out": held_out, "note": about})


def _mixture(cell: Cell, data: Data) -> Outcome:
    """Learn a mixture with each of several options, then the best of them in bags.

    The validation rows choose the options, and between one mixture and the average of the bags.
    """
    rows, test = data.split(cell.data)
    validation = data.validation(cell.data)
    begun = time.perf_counter()

    def learned(treewidth: int, ess: float, n_bags: int, share: float) -> MixtureResult:
        return learn_mixture(
            rows,
            treewidth=treewidth,
            ess=ess,
            n_bags=n_bags,
            held_out=validation,
            time_limit=None if cell.seconds is None else share * cell.seconds,
            max_iterations=cell.iterations,
            seed=cell.seed,
        )

    def value(result: MixtureResult) -> float:
        return -np.inf if result.held_out is None else result.held_out

    tried = [(*option, learned(*option, 1, CHOICE_SHARE / len(MIXTURES))) for option in MIXTURES]
    treewidth, ess, single = max(tried, key=lambda one: value(one[2]))
    bags = learned(treewidth, ess, BAGS, 1 - CHOICE_SHARE)
    result = max(single, bags, key=value)
    about = f"limit {treewidth}, ess {ess:g}, {result.mixture.n_components} components"
    return Outcome(
        "time_limit" if cell.seconds is not None else "iteration_limit",
        result.objective,
        took=time.perf_counter() - begun,
        n_iterations=len(result.trace),
        held_out=float(result.mixture.log_likelihood(test).mean()),
        note=about + (f" in {BAGS} bags" if result is bags else ""),
    )


def _learn(cell: Cell, source: ScoreTable | Table) -> SearchResult:
    return learn(
        source,
        treewidth=cell.treewidth,
        method=cell.method,
        score=cell.score,
        max_parents=1 if cell.method == "tree" else 3,
        time_limit=cell.seconds,
        max_iterations=cell.iterations,
        seed=cell.seed,
    )


def _outcome(result: SearchResult) -> Outcome:
    rising: list[tuple[float, float]] = []
    for point in result.trace:
        if not rising or point.score > rising[-1][1]:
            rising.append((point.seconds, point.score))
    step = -(-len(rising) // MAX_TRACE)
    return Outcome(
        result.status,
        result.score,
        result.bound,
        result.seconds,
        result.n_iterations,
        trace=tuple(rising[::-1][:: step or 1][::-1]),
    )


def _with_gaps(table: Table) -> Table:
    """Return some rows with a share of their cells hidden, the same ones every time."""
    codes = table.codes[:TIMED_ROWS].copy()
    codes[np.random.default_rng(0).random(codes.shape) < HIDDEN] = -1
    return Table(table.names, table.codings, codes)
