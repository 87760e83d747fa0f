"""Parameters from rows with missing cells, by expectation maximisation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import checked_time_limit, checked_whole
from twbn.data.table import Table
from twbn.deadline import Deadline
from twbn.errors import Option, OptionError
from twbn.graphs.dag import Dag
from twbn.inference import Inference
from twbn.inference.rows import blocks, check_possible
from twbn.interrupts import keeps_best
from twbn.network import Network, fit
from twbn.network.counts import table_from_counts
from twbn.network.fit import checked_ess, coded_like, dag_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.inference import JunctionTree
    from twbn.inference.beliefs import Beliefs

__all__ = ["EmResult", "expected_counts", "filled_at_random", "fit_incomplete"]

#: Fraction of EM's time limit for its first step; if that is not enough, no step is taken.
FIRST_STEP_SHARE = 0.7
#: Rows whose likelihood is computed between two checks of the clock, and the number of tree
#: entries, over all rows, up to which the clock is not checked at all.
ROWS_AT_ONCE, FEW_ENTRIES = 20, 2**23


@dataclass(frozen=True)
class EmResult:
    """Parameters at (or on the way to) a maximum, and how the objective rose to it.

    `trace` is the log-likelihood of the known cells plus the logarithm of the prior.
    """

    network: Network
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool


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
        EM stops when the objective rises by less than `tolerance` per row, or at a limit.
    start
        Initial parameters; by default those of the rows with missing cells filled at random.

    Notes
    -----
    Expected counts come from the junction tree; each iteration costs two passes for every distinct
    row. The objective never falls. Where the time limit leaves no time for a single iteration, the
    parameters are those of the start, and the likelihood is estimated from some of the rows.
    """
    if start is not None and not isinstance(start, Network):
        raise OptionError(Option("start"), f" must be a Network, got {type(start).__name__}")
    dag = dag_of(structure)
    table = coded_like(structure if start is None else start, data)
    clock = Deadline(checked_time_limit(time_limit))
    checked_whole("max_iterations", max_iterations, least=1)
    checked_ess(ess)
    if start is not None:
        _check_start(start, dag, table)
    if not table.n_missing.any():
        network = fit(structure, table, ess=ess)
        value = float(_weights(table) @ network.log_likelihood(table))
        return EmResult(network, value, (value,), converged=True)
    if start is None:
        start = fit(structure, filled_at_random(table), ess=max(ess, 1.0))
    elif start.decomposition is None and not isinstance(structure, Dag):
        start = replace(start, decomposition=getattr(structure, "decomposition", None))
    start = replace(start, counts=None)  # those of a guess, if any
    return _Maximisation(_distinct(table), ess, tolerance, clock).run(start, max_iterations)


class _Maximisation:
    """The steps of one run of EM, on distinct weighted rows, and its trace so far."""

    def __init__(self, rows: Table, ess: float, tolerance: float, clock: Deadline) -> None:
        self._rows = rows
        self._ess = ess
        self._tolerance = tolerance
        self._clock = clock
        self._trace: list[float] = []

    def run(self, network: Network, max_iterations: int) -> EmResult:
        """Take steps until the objective hardly rises, or a limit is reached."""
        first = self._clock.share(FIRST_STEP_SHARE)
        fitted, log_likelihood, converged = network, 0.0, False
        for step in range(max_iterations):
            engine = Inference(network)
            clock = self._clock if step else first
            expected = expected_counts(engine.tree, self._rows, clock)
            if expected is None:
                if not step:  # no time for a single step: keep these parameters
                    log_likelihood = _estimated_likelihood(engine, self._rows, self._clock)
                    self._note(network, log_likelihood)
                break
            counts, log_likelihood = expected
            fitted = network  # the likelihood is that of these parameters
            converged = self._note(network, log_likelihood)
            if converged or self._clock.over:
                break
            tables = tuple(table_from_counts(count, self._ess) for count in counts)
            network = replace(network, tables=tables, counts=None)
        return EmResult(fitted, log_likelihood, tuple(self._trace), converged)

    def _note(self, network: Network, log_likelihood: float) -> bool:
        """Append to the trace; return whether the objective rose by less than the tolerance."""
        self._trace.append(log_likelihood + _log_prior(network, self._ess))
        if len(self._trace) < 2:
            return False
        return self._trace[-1] - self._trace[-2] < self._tolerance * self._rows.total_weight


def expected_counts(
    tree: JunctionTree, data: Any, deadline: Deadline
) -> tuple[list[NDArray[np.float64]], float] | None:
    """Return the expected counts of every family given the known cells, and their likelihood.

    Tables are laid out as in the network: one axis per parent, the variable's own axis last.
    Returns None if the deadline passes or Ctrl-C arrives before all rows are done.
    """
    network = tree.network
    table = network.encode(data)
    counts = [np.zeros(values.shape) for values in network.tables]
    weights = _weights(table)
    total = 0.0
    for rows, likelihoods in blocks(tree, table):
        try:
            beliefs = tree.calibrate(likelihoods, deadline=deadline)
        except TimeoutError:
            return None
        logs = np.broadcast_to(_log_evidence(beliefs[0]), len(rows))
        check_possible(logs, table, first=int(rows[0]))
        total += float(weights[rows] @ logs)
        for v, parents in enumerate(network.dag.parents):
            family = (*parents, v)
            kept = tuple(sorted(family))
            values = beliefs[tree.home[v]].summed(kept).plain()
            sums = values.reshape(len(values), -1).sum(axis=1)
            share = values / sums.reshape(-1, *([1] * len(kept)))
            share = np.broadcast_to(share, (len(rows), *share.shape[1:]))
            summed = np.tensordot(weights[rows], share, axes=1)
            counts[v] += np.transpose(summed, [kept.index(u) for u in family])
    return counts, total


def _log_evidence(root: Beliefs) -> NDArray[np.float64]:
    """Return the log-probability of the evidence of every row, from a calibrated root."""
    sums = root.plain().reshape(len(root.values), -1).sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(root.log + np.log(sums))


def _estimated_likelihood(engine: Inference, table: Table, clock: Deadline) -> float:
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
        if clock.over:
            break
    return total * table.total_weight / seen if seen else 0.0


def _check_start(start: Network, dag: Dag, table: Table) -> None:
    """Raise an error if `start` has another structure or other states."""
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


def filled_at_random(table: Table, seed: int = 0) -> Table:
    """Return the table with each missing cell drawn from the known cells of its column."""
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
    """Return the log-density, up to a constant, of the prior that adds `ess` to the counts."""
    if ess == 0:
        return 0.0
    with np.errstate(divide="ignore"):
        return sum(ess / t.size * float(np.log(t).sum()) for t in network.tables)
