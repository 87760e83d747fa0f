"""Learning from tables with gaps: EM for parameters, structural EM for structures."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import interrupts
from twbn.checks import FOREVER, checked_time_limit, checked_whole
from twbn.data.convert import as_table
from twbn.data.table import Table
from twbn.errors import OptionError
from twbn.graphs.dag import Dag
from twbn.inference import Inference
from twbn.interrupts import keeps_best
from twbn.network import Network, fit
from twbn.network.fit import check_ess, coded_like, dag_of, table_from_counts
from twbn.search import SearchResult, learn
from twbn.search.options import check_budget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["EmResult", "IncompleteResult", "fit_incomplete", "learn_incomplete"]

#: Share of the time limit for the first structure.
FIRST_SHARE = 0.25
#: Share of EM's time limit for its first step; if that is not enough, there is none.
FIRST_STEP_SHARE = 0.7
#: Rows whose likelihood is computed before the clock is looked at, and entries of trees, over all
#: rows, that take no time worth looking.
ROWS_AT_ONCE, FEW_ENTRIES = 20, 2**23
#: Completions of every row that stand for what its gaps may be.
COMPLETIONS = 5


@dataclass(frozen=True)
class EmResult:
    """Parameters at (or on the way to) a maximum, and how the objective rose to it.

    `trace` is the log-likelihood of the known cells plus the logarithm of the prior.
    """

    network: Network
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool


@dataclass(frozen=True)
class IncompleteResult:
    """A network from incomplete data.

    `result` is the last search, on completed rows; `criterion` the log-likelihood of the known
    cells less BIC's penalty, by which rounds are compared: it never falls along `trace`.
    """

    network: Network
    result: SearchResult
    log_likelihood: float
    criterion: float
    trace: tuple[float, ...]
    status: str


@keeps_best
def fit_incomplete(
    structure: Any,
    data: Any,
    *,
    ess: float = 1.0,
    max_iterations: int = 100,
    tolerance: float = 1e-5,
    time_limit: float | None = None,
    start: Network | None = None,
) -> EmResult:
    """Return the parameters of a structure by expectation maximisation.

    Parameters
    ----------
    structure, data, ess
        As for `twbn.fit`; cells may be missing.
    max_iterations, tolerance, time_limit
        It ends when the objective rises by less than `tolerance` per row, or at a limit.
    start
        Parameters to begin with; by default those of the rows with gaps at random states.

    Notes
    -----
    Expected counts come from the junction tree; each iteration costs two passes for every distinct
    row. The objective never falls. Where the time limit leaves no time for a single iteration, the
    parameters are those of the start, and the likelihood is estimated from some of the rows.
    """
    begun = time.perf_counter()
    if start is not None and not isinstance(start, Network):
        msg = f"start must be a Network, got {type(start).__name__}"
        raise OptionError(msg)
    dag = dag_of(structure)
    table = coded_like(structure if start is None else start, data)
    time_limit = checked_time_limit(time_limit)
    checked_whole("max_iterations", max_iterations, least=1)
    check_ess(ess)
    if start is not None:
        _check_start(start, dag, table)
    if not table.n_missing.any():
        network = fit(structure, table, ess=ess)
        value = float(_weights(table) @ network.log_likelihood(table))
        return EmResult(network, value, (value,), converged=True)
    if start is None:
        start = fit(structure, _filled_at_random(table), ess=max(ess, 1.0))
    elif start.decomposition is None and not isinstance(structure, Dag):
        start = replace(start, decomposition=getattr(structure, "decomposition", None))
    network = start
    distinct = _distinct(table)
    trace: list[float] = []
    converged = False
    seconds = FOREVER if time_limit is None else time_limit
    deadline = begun + seconds
    for _ in range(max_iterations):
        engine = Inference(network)
        share = 1.0 if trace else FIRST_STEP_SHARE
        expected = engine.expected_counts(distinct, deadline=begun + share * seconds)
        if expected is None:
            if not trace:  # no time for a single step: these parameters it is
                fitted = network
                log_likelihood = _estimated_likelihood(engine, distinct, deadline)
                trace.append(log_likelihood + _log_prior(network, ess))
            break
        counts, log_likelihood = expected
        fitted = network  # the likelihood is that of these parameters
        trace.append(log_likelihood + _log_prior(network, ess))
        converged = len(trace) > 1 and trace[-1] - trace[-2] < tolerance * table.total_weight
        if converged or interrupts.pending() or time.perf_counter() > deadline:
            break
        tables = tuple(table_from_counts(count, ess) for count in counts)
        network = replace(network, tables=tables)
    return EmResult(fitted, log_likelihood, tuple(trace), converged)


def _estimated_likelihood(engine: Inference, table: Table, deadline: float) -> float:
    """Return the log-likelihood of the known cells, from as many rows as there is time for."""
    weights = _weights(table)
    if table.n_rows * engine.tree.n_entries <= FEW_ENTRIES:
        return float(weights @ engine.log_codes(table.codes))
    order = np.random.default_rng(0).permutation(table.n_rows)
    total = seen = 0.0
    for first in range(0, table.n_rows, ROWS_AT_ONCE):
        rows = order[first : first + ROWS_AT_ONCE]
        total += float(weights[rows] @ engine.log_codes(table.codes[rows]))
        seen += float(weights[rows].sum())
        if time.perf_counter() > deadline or interrupts.pending():
            break
    return total * table.total_weight / seen if seen else 0.0


def _check_start(start: Network, dag: Dag, table: Table) -> None:
    """Refuse parameters of another structure, or of other states."""
    if start.names != table.names:
        msg = "start has other variables than the data, or in another order"
        raise OptionError(msg)
    if start.dag != dag:
        v = next(v for v, parents in enumerate(dag.parents) if parents != start.dag.parents[v])
        theirs, ours = ([table.names[p] for p in d.parents[v]] for d in (start.dag, dag))
        msg = (
            f"start has another structure: {table.names[v]!r} has the parents {theirs} there, and "
            f"{ours} in the structure; leave start out, or give start.dag as the structure"
        )
        raise OptionError(msg)
    start.check_columns(table)


@keeps_best
def learn_incomplete(
    data: Any,
    *,
    treewidth: int = 4,
    score: str = "bdeu",
    ess: float = 1.0,
    smoothing: float = 1.0,
    max_parents: int | Mapping[str, int] | None = 3,
    method: str = "anneal",
    time_limit: float | None = None,
    max_iterations: int | None = None,
    max_rounds: int = 8,
    seed: int = 0,
    n_jobs: int | None = None,
    on_progress: Callable[[float, int, float], None] | None = None,
) -> IncompleteResult:
    """Return a network learned from rows with gaps, by structural EM.

    Parameters
    ----------
    treewidth, score, ess, max_parents, method, max_iterations, seed, n_jobs
        As for `twbn.learn`, for the search of every round.
    smoothing
        Equivalent sample size of the prior of the parameters.
    time_limit
        Seconds for everything; 60 when no number of iterations is given either.
    max_rounds
        Rounds at most; it ends earlier when a round brings nothing.
    on_progress
        Called after every round with (seconds, round, criterion).

    Notes
    -----
    Each round draws several completions of every row from the exact posterior given the row's known
    cells, learns a structure from the weighted completions (their counts are the expected ones, but
    for chance), and fits its parameters by EM to the data as they are. What is kept is compared by
    the likelihood of the known cells less BIC's penalty, so it never gets worse.
    """
    begun = time.perf_counter()
    table = as_table(data)
    time_limit = check_budget(treewidth, time_limit, max_iterations, seed, n_jobs)
    if time_limit is None and max_iterations is None:
        time_limit = 60.0
    checked_whole("max_rounds", max_rounds, least=1)

    limit = FOREVER if time_limit is None else time_limit

    def left() -> float:
        return limit - (time.perf_counter() - begun)

    def search(rows: Table, start: Any) -> SearchResult:
        share = None
        if time_limit is not None:  # nothing makes up for a poor first structure
            first = FIRST_SHARE * time_limit if start is None else 0.0
            share = max(left() / (2 * max_rounds), first, 0.05)
        return learn(
            rows, treewidth=treewidth, method=method, score=score, ess=ess,
            max_parents=max_parents, time_limit=share, max_iterations=max_iterations, seed=seed,
            n_jobs=n_jobs, start=start,
        )  # fmt: skip

    completed = _filled_at_random(table, seed)
    best: IncompleteResult | None = None
    trace: list[float] = []
    status = "iteration_limit"
    for number in range(max_rounds):
        try:
            result = search(completed, None if best is None else best.result.dag)
        except KeyboardInterrupt:
            if best is None:
                raise
            status = "interrupted"
            break
        parameters = fit_incomplete(
            result, table, ess=smoothing, max_iterations=30,
            time_limit=None if time_limit is None else max(left() / 2, 0.05),
        )  # fmt: skip
        penalty = 0.5 * math.log(table.total_weight) * parameters.network.n_parameters
        criterion = parameters.log_likelihood - penalty
        stuck = best is not None and criterion <= best.criterion + 1e-6 * abs(best.criterion)
        if best is None or criterion > best.criterion:
            best = IncompleteResult(
                parameters.network, result, parameters.log_likelihood, criterion, (), status
            )
        trace.append(best.criterion)
        if on_progress is not None:
            on_progress(time.perf_counter() - begun, number + 1, best.criterion)
        if interrupts.pending():
            status = "interrupted"
            break
        if left() <= 0:
            status = "time_limit"
            break
        # The first rounds start from guesses; one that brings nothing says little then.
        if stuck and number >= 2:
            status = "converged"
            break
        try:
            completed = _completions(best.network, table, seed + number + 1, begun + limit)
        except TimeoutError:
            status = "interrupted" if interrupts.pending() else "time_limit"
            break
    assert best is not None
    return replace(best, trace=tuple(trace), status=status)


def _completions(network: Network, table: Table, seed: int, deadline: float) -> Table:
    """Return several weighted completions of every row; of a row without gaps, itself.

    TimeoutError when ``time.perf_counter()`` passes the deadline before.
    """
    gaps = (table.codes < 0).any(axis=1)
    if not gaps.any():
        return table
    weights = _weights(table)
    repeated = np.repeat(np.flatnonzero(gaps), COMPLETIONS)
    rows = replace(table, codes=table.codes[repeated], weights=None)
    drawn = Inference(network).complete(rows, seed=seed, deadline=deadline).codes
    return Table(
        table.names,
        table.codings,
        np.concatenate([table.codes[~gaps], drawn]),
        np.concatenate([weights[~gaps], weights[repeated] / COMPLETIONS]),
    )


def _filled_at_random(table: Table, seed: int = 0) -> Table:
    """Return the table with each gap at a state drawn as often as it occurs in its column."""
    rng = np.random.default_rng(seed)
    codes = np.array(table.codes)
    for v in range(table.n_variables):
        gaps = codes[:, v] < 0
        known = codes[~gaps, v]
        if gaps.any():
            codes[gaps, v] = (
                rng.choice(known, int(gaps.sum()))
                if len(known)
                else rng.integers(0, int(table.n_states[v]), int(gaps.sum()))
            )
    return replace(table, codes=codes)


def _distinct(table: Table) -> Table:
    """Return every distinct row once, with the weight of all its copies."""
    rows, place = np.unique(table.codes, axis=0, return_inverse=True)
    weights = np.bincount(place.ravel(), _weights(table)).astype(np.float64)
    return Table(table.names, table.codings, rows, weights)


def _weights(table: Table) -> Any:
    return np.ones(table.n_rows) if table.weights is None else table.weights


def _log_prior(network: Network, ess: float) -> float:
    """Return the log-density, but for a constant, of the prior that adding ess to counts means."""
    if ess == 0:
        return 0.0
    with np.errstate(divide="ignore"):
        return sum(ess / t.size * float(np.log(t).sum()) for t in network.tables)
