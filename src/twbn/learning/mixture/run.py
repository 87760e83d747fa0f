"""One run of EM for a mixture: starts, rounds, growth, and what is kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from twbn import interrupts
from twbn.inference.mixture import MixtureInference
from twbn.learning.em import filled_at_random
from twbn.learning.mixture.em import (
    State,
    counted,
    first_state,
    objective,
    settled,
    with_structures,
)
from twbn.learning.mixture.moves import improved_by_moves, resettled, split, splits
from twbn.learning.mixture.parameters import (
    DEFAULT,
    Overall,
    Smoothing,
    better_smoothing,
    mean_likelihood,
    mixture_of,
)
from twbn.learning.mixture.result import MixturePoint
from twbn.learning.mixture.rows import distinct_rows, divided
from twbn.network.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.data.table import Table
    from twbn.deadline import Deadline
    from twbn.learning.mixture.em import Search
    from twbn.learning.mixture.result import Status

__all__ = ["MAX_COMPONENTS", "Found", "MixtureRun"]

#: Share of the time for the searches of one round, and the shortest that is worth it.
ROUND_SHARE, LEAST_SECONDS = 0.08, 0.05
#: Seconds for each variable that a search takes at most: later rounds go on from what it found.
SECONDS_PER_VARIABLE = 0.03
#: Divisions of the rows from which EM starts, steps by which they are compared, and their share of
#: the time.
N_STARTS, START_STEPS, START_SHARE = 12, 5, 0.25
#: Steps of EM between searches, at most.
MAX_STEPS = 20
#: A round, or a step, that gains less than this for each row is the last.
TOLERANCE = 1e-5
#: Rounds without a gain on held-out rows after which a run ends.
PATIENCE = 4
#: Components at most, where their number is found; splits that are refused one after the other
#: before growth ends; and its share of the time.
MAX_COMPONENTS, MAX_REFUSED, GROWTH_SHARE = 64, 3, 0.6


class Found(NamedTuple):
    """What one run of EM, or several, came to."""

    mixture: Mixture
    objective: float
    held_out: float | None
    trace: list[MixturePoint]
    status: Status
    smoothing: Smoothing


class _Best(NamedTuple):
    """The best state so far, by a criterion, and what its parameters are made with."""

    criterion: float
    state: State
    overall: Overall
    smoothing: Smoothing


class MixtureRun(NamedTuple):
    """What a mixture is learned with."""

    n_components: int | Literal["auto"]
    search: Search
    held_out: Table | None
    smoothing: Smoothing | None
    max_rounds: int
    on_progress: Callable[[float, int, float], None] | None

    def bagged(self, table: Table, n_bags: int, clock: Deadline, rng: np.random.Generator) -> Found:
        """Return the mixture of several runs on rows drawn anew, or that of one run."""
        if n_bags == 1:
            return _Em(self, table, clock, clock, rng).run()
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        parts: list[Found] = []
        for i in range(n_bags):
            if parts and clock.over:
                break
            n = max(round(float(weights.sum())), 1)
            drawn = rng.multinomial(n, weights / weights.sum()).astype(np.float64)
            bag = table.with_weights(drawn).take(np.flatnonzero(drawn))
            share = clock.share(1.0 / (n_bags - i))
            try:
                parts.append(_Em(self, bag, share, clock, rng).run())
            except KeyboardInterrupt:
                if parts and interrupts.pending():
                    break
                raise
        mixture = _together([part.mixture for part in parts])
        return parts[-1]._replace(
            mixture=mixture,
            held_out=self._held_out(mixture),
            objective=sum(part.objective for part in parts) / len(parts),
            trace=[point for part in parts for point in part.trace],
        )

    def _held_out(self, mixture: Mixture) -> float | None:
        """Return the mean likelihood of the held-out rows, if Ctrl-C leaves time for it."""
        if self.held_out is None:
            return None
        try:
            return mean_likelihood(mixture, self.held_out)
        except KeyboardInterrupt:
            if interrupts.pending():
                return None
            raise


class _Em:
    """One run of EM on one table, and the best that it has come to."""

    def __init__(
        self,
        run: MixtureRun,
        table: Table,
        clock: Deadline,
        whole: Deadline,
        rng: np.random.Generator,
    ) -> None:
        self._run = run
        self._table = table
        self._clock = clock
        self._whole = whole  # the time that is told, of which this may be a part
        self._rng = rng
        self._missing = bool(table.n_missing.any())
        filled = filled_at_random(table, 0) if self._missing else table
        self._rows = distinct_rows(filled, run.search.workers)
        self._trace: list[MixturePoint] = []
        self._overall = Overall(self._rows)
        self._smoothing = run.smoothing or DEFAULT
        self._best: _Best | None = None
        self._since_best = 0
        self._n_rounds = 0

    def run(self) -> Found:
        """Learn until nothing gets better or a limit is reached."""
        try:
            self._learn()
        except KeyboardInterrupt:
            if self._best is None or not interrupts.pending():
                raise  # otherwise what was found before is kept
        best = self._best
        assert best is not None
        value = objective(best.overall.rows, best.state)
        mixture = mixture_of(best.overall, [best.state], best.smoothing)
        held_out = None if self._run.held_out is None else best.criterion
        return Found(mixture, value, held_out, self._trace, self._status(), best.smoothing)

    def _learn(self) -> None:
        wanted = self._run.n_components
        if wanted == "auto":
            self._grown(self._started(1))
            assert self._best is not None
            if not self._stopped():
                self._improved(self._best.state)
        else:
            self._improved(self._started(min(wanted, len(self._rows.codes))))

    def _status(self) -> Status:
        if self._clock.over:
            return "time_limit"
        return "round_limit" if self._n_rounds >= self._run.max_rounds else "converged"

    def _started(self, n_components: int) -> State:
        """Return the best of several first divisions of the rows."""
        seconds = self._seconds(n_components)
        clock = self._clock.share(START_SHARE)
        best: tuple[float, State] | None = None
        for _ in range(N_STARTS if n_components > 1 else 1):
            shares = divided(self._rows, n_components, self._rng)
            state = first_state(self._run.search, self._rows, shares, seconds)
            state, trace = self._settled(state, START_STEPS)
            if best is None or trace[-1] > best[0]:
                best = trace[-1], state
            if clock.over:
                break
        assert best is not None
        return best[1]

    def _improved(self, state: State) -> State:
        """Return the state after rounds of EM, searches and, when these end, moves."""
        before = -np.inf
        while True:
            state, trace = self._settled(state, MAX_STEPS)
            if not self._note(state, trace[-1]) or self._stopped():
                break
            if trace[-1] - before < TOLERANCE * self._rows.total:
                moved = self._moved(state)
                if moved is None:
                    break
                state = moved
            before = trace[-1]
            if self._missing:
                state = self._redrawn(state)
                before = -np.inf
            state = with_structures(self._run.search, self._rows, state, self._seconds_of(state))
            self._n_rounds += 1
        return state

    def _grown(self, state: State) -> None:
        """Split components as long as that pays, for a share of the time."""
        clock = self._clock.share(GROWTH_SHARE)
        state, trace = self._settled(state, MAX_STEPS)
        self._note(state, trace[-1])
        refused: set[int] = set()  # the components of this state that stay whole
        while len(state.components) < MAX_COMPONENTS and not clock.over and not self._stopped():
            assert self._best is not None
            before = self._best.criterion
            left = [i for i in splits(self._rows, state) if i not in refused]
            if not left or len(refused) > MAX_REFUSED:
                break
            parts = split(self._rows, state, left[0], self._rng)
            seconds = self._seconds(2)
            parts = resettled(self._run.search, self._rows, parts, clock, seconds, TOLERANCE)
            self._n_rounds += 1
            self._note(parts, objective(self._rows, parts))
            if self._best.criterion > before:
                state, refused = self._best.state, set()
            else:
                refused.add(left[0])
        self._since_best = 0

    def _moved(self, state: State) -> State | None:
        if self._missing:
            return None  # objectives of other completions cannot be compared
        seconds = self._seconds_of(state)
        return improved_by_moves(
            self._run.search, self._rows, state, self._clock, self._rng, seconds, TOLERANCE
        )

    def _redrawn(self, state: State) -> State:
        """Return the state with missing cells drawn anew from it; its shares are those of EM."""
        before = self._rows.weights
        mixture = mixture_of(self._overall, [state], self._smoothing)
        seed = int(self._rng.integers(2**31))
        filled = MixtureInference(mixture).complete(self._table, seed=seed)
        self._rows = distinct_rows(filled, self._run.search.workers)
        self._overall = Overall(self._rows)
        logs = mixture.component_log_likelihoods(self._rows.table)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        order = np.argsort(-(before @ state.shares), kind="stable")  # as the mixture has them
        components = [state.components[i] for i in order]
        return counted(self._rows, components, shares)

    def _settled(self, state: State, steps: int) -> tuple[State, list[float]]:
        return settled(self._rows, state, self._clock, max_steps=steps, tolerance=TOLERANCE)

    def _note(self, state: State, value: float) -> bool:
        """Keep the state if it is the best; return whether the run should go on."""
        criterion, held_out = self._criterion(state, value)
        point = MixturePoint(self._whole.seconds, len(state.components), value, held_out)
        self._trace.append(point)
        if self._run.on_progress is not None:
            self._run.on_progress(point.seconds, point.n_components, value)
        if self._best is None or criterion > self._best.criterion:
            self._best = _Best(criterion, state, self._overall, self._smoothing)
            self._since_best = 0
        else:
            self._since_best += 1
        return self._since_best < PATIENCE

    def _criterion(self, state: State, value: float) -> tuple[float, float]:
        """Return what states are compared by, and the likelihood of the held-out rows."""
        if self._run.held_out is None and not self._missing:
            return value, np.nan
        held_out = self._run.held_out
        if held_out is not None and self._run.smoothing is None:
            found = better_smoothing(self._overall, [state], held_out, self._smoothing)
            self._smoothing, value = found
            return value, value
        mixture = mixture_of(self._overall, [state], self._smoothing)
        if held_out is not None:
            value = mean_likelihood(mixture, held_out)
            return value, value
        # Of the known cells, less the penalty of BIC: completions of two rounds cannot be compared.
        n = self._table.total_weight
        known = mean_likelihood(mixture, self._table) * n
        return known - 0.5 * np.log(max(n, 2.0)) * mixture.n_parameters, np.nan

    def _stopped(self) -> bool:
        return self._clock.over or self._n_rounds >= self._run.max_rounds

    def _seconds(self, n_components: int) -> float | None:
        """Return the seconds for one search among so many of a round."""
        limit = self._clock.time_limit
        if limit is None:
            return None
        share = ROUND_SHARE * limit * min(self._run.search.workers, n_components) / n_components
        most = SECONDS_PER_VARIABLE * self._table.n_variables
        return float(max(min(share, most, self._clock.left_or_forever), LEAST_SECONDS))

    def _seconds_of(self, state: State) -> float | None:
        return self._seconds(len(state.components))


def _together(mixtures: Sequence[Mixture]) -> Mixture:
    """Return the mixture in which each of several weighs the same."""
    weights = np.concatenate([mixture.weights for mixture in mixtures]) / len(mixtures)
    return Mixture(weights, [network for mixture in mixtures for network in mixture.networks])
