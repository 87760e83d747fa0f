"""Variational EM for mixtures: rows are shared out, structures and parameters follow."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from twbn import interrupts
from twbn.learning.mixture.component import Component, searched
from twbn.learning.mixture.gamma import digamma, log_gamma
from twbn.network.mixture import logarithm_of_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from twbn.deadline import Deadline
    from twbn.learning.mixture.rows import Rows

__all__ = [
    "Search",
    "State",
    "added_up",
    "counted",
    "first_state",
    "objective",
    "settled",
    "with_structures",
]

X = TypeVar("X")
Y = TypeVar("Y")

#: Prior weight of every component, in rows.
PRIOR_WEIGHT = 1.0
#: Components that explain fewer rows than this are dropped.
LEAST_ROWS = 1.0


@dataclass(frozen=True)
class State:
    """The components so far, and which share of every distinct row each explains.

    Invariant: the components' counts are those of `shares` times the weights of the rows.
    """

    components: tuple[Component, ...]
    shares: NDArray[np.float64]  # rows down, components across; sums to one along each row


@dataclass(frozen=True)
class Search:
    """How structures are searched: the learner, its options, and the threads."""

    learn: Callable[..., Any]
    options: dict[str, Any]
    ess: float
    workers: int
    seeds: Iterator[int]
    clock: Deadline

    def run(
        self,
        rows: Rows,
        weights: Sequence[NDArray[np.float64]],
        before: Sequence[Component | None],
        seconds: float | None,
    ) -> list[Component | None]:
        """Return the structures found for rows of several weights, with their counts."""

        def one(job: tuple[int, NDArray[np.float64], Component | None]) -> Component | None:
            seed, own, old = job
            if self.clock.passed:
                return None
            options = {**self.options, "ess": self.ess, "seed": seed, "time_limit": seconds}
            found = searched(self.learn, rows, own, old, options)
            return None if found is None else Component.of(*found, rows, own, self.ess)

        jobs = [(next(self.seeds), own, old) for own, old in zip(weights, before, strict=True)]
        if self.workers == 1 or len(jobs) == 1:
            return [one(job) for job in jobs]
        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(one, jobs))


def first_state(
    search: Search, rows: Rows, shares: NDArray[np.float64], seconds: float | None
) -> State:
    """Return components with structures searched for a first division of the rows."""
    weights = [column * rows.weights for column in shares.T]
    found = search.run(rows, weights, [None] * len(weights), seconds)
    if interrupts.pending():  # before there was anything to keep
        raise KeyboardInterrupt
    kept = [i for i, own in enumerate(weights) if own.sum() > 0]
    # Where there was no time for a search, a component begins without arcs.
    components = [found[i] or Component.without_arcs(rows, weights[i], search.ess) for i in kept]
    return counted(rows, components, _normalised(shares[:, kept]))


def objective(rows: Rows, state: State) -> float:
    """Return the lower bound on the log-evidence of the rows that EM raises.

    The BDeu scores of the structures for the rows shared out to them, the marginal likelihood of
    the weights, and the entropy of the shares.
    """
    n = rows.weights @ state.shares
    prior = PRIOR_WEIGHT * len(n)
    weights = log_gamma(n + PRIOR_WEIGHT) - float(log_gamma(np.array(PRIOR_WEIGHT)))
    total = float(log_gamma(np.array(prior)) - log_gamma(np.array(prior + n.sum())))
    shares = state.shares
    logs = np.log(np.where(shares > 0, shares, 1.0))
    entropy = -float(rows.weights @ (shares * logs).sum(axis=1))
    return total + float(weights.sum()) + entropy + sum(c.score() for c in state.components)


def settled(
    rows: Rows, state: State, clock: Deadline, *, max_steps: int, tolerance: float
) -> tuple[State, list[float]]:
    """Return the state after steps with these structures, and the objective after each.

    Ends when a step raises the objective by less than `tolerance` a row, or at a limit.
    """
    trace = [objective(rows, state)]
    for _ in range(max_steps):
        if clock.over or interrupts.pending():
            break
        state = _without_empty(rows, _step(rows, state))
        trace.append(objective(rows, state))
        if trace[-1] - trace[-2] < tolerance * rows.total:
            break
    return state, trace


def with_structures(
    search: Search,
    rows: Rows,
    state: State,
    seconds: float | None,
    which: Sequence[int] | None = None,
) -> State:
    """Return the state with better structures, where a search finds some.

    All components are searched, or those at the positions `which`.
    """
    chosen = range(len(state.components)) if which is None else which
    weights = [state.shares[:, i] * rows.weights for i in chosen]
    found = search.run(rows, weights, [state.components[i] for i in chosen], seconds)
    components = list(state.components)
    for i, new in zip(chosen, found, strict=True):
        if new is not None and new.score() > components[i].score():
            components[i] = new
    return replace(state, components=tuple(components))


def added_up(rows: Rows, state: State, groups: Sequence[Sequence[int]]) -> State:
    """Return the state with components merged: each group keeps the structure of its first."""
    shares = np.column_stack([state.shares[:, list(group)].sum(axis=1) for group in groups])
    firsts = [state.components[group[0]] for group in groups]
    return counted(rows, firsts, shares)


def _step(rows: Rows, state: State) -> State:
    """Share the rows out anew, and count them."""
    n = rows.weights @ state.shares + PRIOR_WEIGHT
    expected = digamma(n) - float(digamma(np.array(n.sum())))
    found = _for_each(rows, lambda one: one.expected_logs(rows), state.components)
    logs = np.column_stack(found) + expected
    shares = np.exp(logs - logarithm_of_sum(logs)[:, None])
    return counted(rows, state.components, _normalised(shares))


def counted(rows: Rows, components: Sequence[Component], shares: NDArray[np.float64]) -> State:
    """Return a state of these components, with the counts of these shares."""
    pairs = list(zip(components, shares.T, strict=True))
    found = _for_each(rows, lambda pair: pair[0].with_weights(rows, pair[1] * rows.weights), pairs)
    return State(tuple(found), shares)


def _for_each(rows: Rows, work: Callable[[X], Y], jobs: Sequence[X]) -> list[Y]:
    """Return what some work makes of every job, in threads if there are several."""
    if rows.workers == 1 or len(jobs) == 1:
        return list(map(work, jobs))
    _ = rows.columns  # made once, before the threads ask for it
    with ThreadPoolExecutor(min(rows.workers, len(jobs))) as pool:
        return list(pool.map(work, jobs))


def _without_empty(rows: Rows, state: State) -> State:
    """Return the state without components that explain next to nothing, if that is no loss."""
    n = rows.weights @ state.shares
    kept = np.flatnonzero(n >= LEAST_ROWS)
    if len(kept) == len(n) or not len(kept):
        return state
    components = [state.components[i] for i in kept]
    fewer = counted(rows, components, _normalised(state.shares[:, kept]))
    return fewer if objective(rows, fewer) >= objective(rows, state) else state


def _normalised(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return shares that sum to one along each row; even where all are zero."""
    sums = shares.sum(axis=1, keepdims=True)
    even = np.full_like(shares, 1.0 / shares.shape[1])
    return np.asarray(np.divide(shares, sums, out=even, where=sums > 0))
