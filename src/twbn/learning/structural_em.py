"""Structural EM: structure and parameters in turns, on rows whose missing cells are drawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from twbn import interrupts
from twbn.data.table import Table
from twbn.inference import Inference
from twbn.inference.rows import complete
from twbn.learning.em import fit_incomplete
from twbn.learning.hot_deck import filled_from_others

if TYPE_CHECKING:
    from collections.abc import Callable

    from twbn.deadline import Deadline
    from twbn.network import Network
    from twbn.search import SearchResult

__all__ = ["IncompleteResult", "StructuralEm"]

#: Fraction of the time limit for the first structure, and the minimum seconds for every step.
FIRST_SHARE, LEAST_SECONDS = 0.25, 0.05
#: Fraction of the time limit for the first guess at missing cells.
GUESS_SHARE = 0.1
#: Number of random completions that represent each incomplete row.
COMPLETIONS = 5
#: Steps of EM for the parameters of one structure.
EM_ITERATIONS = 30

#: How structural EM may end.
Status = Literal["converged", "time_limit", "iteration_limit", "interrupted"]


@dataclass(frozen=True)
class IncompleteResult:
    """A network from incomplete data.

    `result` is the search, on completed rows, that found its structure; `criterion` is the
    log-likelihood of the known cells minus BIC's penalty, by which rounds are compared: it never
    decreases along `trace`.
    """

    network: Network
    result: SearchResult
    log_likelihood: float
    criterion: float
    trace: tuple[float, ...] = ()
    status: Status = "iteration_limit"


@dataclass
class StructuralEm:
    """The rounds of one run, and the best network so far.

    `learn` is how a structure is learned from completed rows: `twbn.learn`, or what it is made of.
    """

    table: Table
    learn: Callable[..., SearchResult]
    parameter_ess: float
    seed: int
    clock: Deadline
    on_progress: Callable[[float, int, float], None] | None = None
    start: Any = None
    best: IncompleteResult | None = None
    trace: list[float] = field(default_factory=list)

    def run(self, options: dict[str, Any], max_rounds: int) -> IncompleteResult:
        """Learn, fit and complete in turns, until nothing improves or a limit is reached."""
        completed = filled_from_others(self.table, self.seed, self.clock.share(GUESS_SHARE))
        status: Status | None = None
        for number in range(max_rounds):
            try:
                result = self._learned(completed, options, max_rounds)
            except KeyboardInterrupt:
                if self.best is None:
                    raise
                status = "interrupted"
                break
            stuck = self._compare(result)
            self._report(number)
            status = self._reason_to_stop(number, stuck)
            if status is not None or number == max_rounds - 1:
                break
            try:
                completed = self._completions(number)
            except TimeoutError:
                status = "interrupted" if interrupts.pending() else "time_limit"
                break
        assert self.best is not None
        return replace(self.best, trace=tuple(self.trace), status=status or "iteration_limit")

    def _learned(self, rows: Table, options: dict[str, Any], max_rounds: int) -> SearchResult:
        """Return a structure learned from completed rows, starting at the best one so far."""
        seconds = None
        if self.clock.time_limit is not None:
            seconds = max(self.clock.left_or_forever / (2 * max_rounds), LEAST_SECONDS)
            if self.best is None:  # nothing makes up for a poor first structure
                seconds = max(seconds, FIRST_SHARE * self.clock.time_limit)
        start = self.start if self.best is None else self.best.result.dag
        return self.learn(rows, time_limit=seconds, start=start, **options)

    def _compare(self, result: SearchResult) -> bool:
        """Fit the parameters of a structure and keep it if better; return whether it hardly is."""
        seconds = None
        if self.clock.time_limit is not None:
            seconds = max(self.clock.left_or_forever / 2, LEAST_SECONDS)
        fitted = fit_incomplete(
            result,
            self.table,
            ess=self.parameter_ess,
            max_iterations=EM_ITERATIONS,
            time_limit=seconds,
        )
        penalty = 0.5 * math.log(self.table.total_weight) * fitted.network.n_parameters
        criterion = fitted.log_likelihood - penalty
        best = self.best
        stuck = best is not None and criterion <= best.criterion + 1e-6 * abs(best.criterion)
        if best is None or criterion > best.criterion:
            self.best = IncompleteResult(fitted.network, result, fitted.log_likelihood, criterion)
        return stuck

    def _report(self, number: int) -> None:
        assert self.best is not None
        self.trace.append(self.best.criterion)
        if self.on_progress is not None:
            self.on_progress(self.clock.seconds, number + 1, self.best.criterion)

    def _reason_to_stop(self, number: int, stuck: bool) -> Status | None:
        if interrupts.pending():
            return "interrupted"
        if self.clock.passed:
            return "time_limit"
        # The first rounds start from guesses, so one without improvement says little.
        return "converged" if stuck and number >= 2 else None

    def _completions(self, number: int) -> Table:
        """Return several weighted completions of each incomplete row, and all complete rows.

        Raises TimeoutError if the deadline passes first.
        """
        assert self.best is not None
        table = self.table
        incomplete = (table.codes < 0).any(axis=1)
        if not incomplete.any():
            return table
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        repeated = np.repeat(np.flatnonzero(incomplete), COMPLETIONS)
        rows = replace(table, codes=table.codes[repeated], weights=None)
        engine = Inference(self.best.network)
        drawn = complete(engine, rows, seed=self.seed + number + 1, deadline=self.clock).codes
        return Table(
            table.names,
            table.codings,
            np.concatenate([table.codes[~incomplete], drawn]),
            np.concatenate([weights[~incomplete], weights[repeated] / COMPLETIONS]),
        )
