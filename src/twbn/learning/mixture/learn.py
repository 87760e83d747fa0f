"""Learning mixtures of networks of bounded treewidth from data."""

from __future__ import annotations

import itertools
import numbers
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from twbn import interrupts
from twbn.checks import checked_n_jobs, checked_seed, checked_whole, half_of_memory
from twbn.data.frames import as_table
from twbn.deadline import Deadline
from twbn.errors import DataError, MemoryLimitError, Option, OptionError
from twbn.learning.learn import learn
from twbn.learning.mixture.em import Search
from twbn.learning.mixture.parameters import Smoothing
from twbn.learning.mixture.result import MixtureResult
from twbn.learning.mixture.run import MAX_COMPONENTS, MixtureRun
from twbn.learning.usable import usable_table
from twbn.search.limit import width_limit
from twbn.search.run import check_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from twbn.data.discretize import Discretize
    from twbn.data.table import Table
    from twbn.learning.mixture.result import Status

__all__ = ["learn_mixture"]

#: Seconds if neither a time limit nor a number of iterations is given.
DEFAULT_TIME_LIMIT = 60.0
#: Share of the time limit for EM; the rest is for what follows it.
EM_SHARE = 0.96
#: Bytes for each row and component: shares, logarithms, weights and what is computed of them.
ROW_BYTES = 64

#: Rounds of searches at most; for a budget in iterations; and for that where components are split.
MAX_ROUNDS, ROUNDS_BY_ITERATIONS, MAX_ROUNDS_GROWING = 200, 5, 40


def learn_mixture(
    data: Any,
    *,
    n_components: int | Literal["auto"] = "auto",
    treewidth: int | None = None,
    max_states: int | None = None,
    ess: float = 10.0,
    max_parents: int | Mapping[str, int] | None = None,
    smoothing: Smoothing | tuple[float, float] | None = None,
    held_out: Any = None,
    n_bags: int = 1,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    max_rounds: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    drop: Sequence[str] | str = (),
    discretize: str | Discretize = "quantile",
    on_progress: Callable[[float, int, float], None] | None = None,
) -> MixtureResult:
    """Learn a mixture of networks of bounded treewidth, each with a structure of its own.

    Parameters
    ----------
    data
        Anything that `as_table` takes; cells may be missing.
    n_components
        How many networks; ``"auto"`` splits components as long as the held-out rows, or without
        them the objective, say that it pays.
    treewidth, max_states, max_parents
        The limits that every component keeps; see `learn`.
    ess
        Equivalent sample size of the prior of every component: of its structure's BDeu score, and
        of what its rows say of its parameters.
    smoothing
        Two strengths, counted in rows: how far a component's tables are shrunk towards those of all
        rows, and how far these towards tables with fewer parents. Chosen by the held-out rows if
        there are some.
    held_out
        Rows that are not learned from: they choose the smoothing and the number of components, and
        end the run before it fits the rows too closely.
    n_bags
        If above 1, that many mixtures are learned from resampled rows and averaged. Helps where
        rows are few.
    time_limit
        Seconds for the whole job; 60 if `max_iterations` is not given either.
    max_iterations
        Proposals of every search for a structure instead: the answer is then the same on every
        machine and for any `n_jobs`.
    max_rounds
        Rounds of searches for structures; by default as many as there is time for; for a budget in
        iterations 5, or 40 if the number of components is to be found.
    seed, n_jobs, drop, discretize
        As for `learn`.
    on_progress
        Called after every round with (seconds, components, objective).

    Notes
    -----
    Variational Bayes for mixtures (Attias, 1999): rows are shared out among the components by what
    is expected of their parameters, the BDeu score of the rows shared out to it chooses each
    component's structure, and both raise one lower bound on the log-evidence, the *objective*,
    which never falls for a given number of components. Rows are first divided by k-means, from
    several starts; components that explain nothing are dropped. When EM has settled, the search
    tries to merge two components and to split another. Missing cells are drawn from the mixture so
    far at the beginning of every round. Each step costs O(rows · variables · components); a search
    is a short annealing on weighted rows. Ctrl-C keeps the best so far.

    Examples
    --------
    >>> rows = {"a": [0] * 20 + [1] * 20, "b": [0] * 20 + [1] * 20, "c": [0, 1] * 20}
    >>> found = learn_mixture(rows, n_components=2, treewidth=1, max_iterations=200)
    >>> found.mixture.weights.round(1)
    array([0.5, 0.5])
    """
    limit = check_limits(treewidth, time_limit, max_iterations, seed, n_jobs)
    if limit is None and max_iterations is None:
        limit = DEFAULT_TIME_LIMIT
    clock = Deadline(limit)
    if n_components != "auto":
        checked_whole("n_components", n_components, least=1, most=MAX_COMPONENTS**2)
    checked_whole("n_bags", n_bags, least=1, most=1000)
    if max_rounds is not None:
        checked_whole("max_rounds", max_rounds, least=1)
    if max_rounds is None:
        by_iterations = MAX_ROUNDS_GROWING if n_components == "auto" else ROUNDS_BY_ITERATIONS
        max_rounds = by_iterations if limit is None else MAX_ROUNDS
    _check_ess(ess)
    if on_progress is not None and not callable(on_progress):
        raise OptionError(Option("on_progress"), f" must be a function, got {on_progress!r}")
    table = usable_table(data, drop, discretize)
    other = None if held_out is None else _held_out_like(held_out, table)
    width_limit(treewidth, max_states, table.names, table.n_states.tolist())
    _refuse_large(table, n_components)
    options = {
        "treewidth": treewidth,
        "max_states": max_states,
        "max_parents": max_parents,
        "max_iterations": max_iterations,
        "n_jobs": 1,
    }
    seeds = np.random.default_rng(checked_seed(seed))
    run = MixtureRun(
        n_components,
        Search(learn, options, float(ess), checked_n_jobs(n_jobs), _whole_numbers(seeds), clock),
        other,
        None if smoothing is None else _checked_smoothing(smoothing),
        max_rounds,
        on_progress,
    )
    with interrupts.deferred():
        found = run.bagged(table, n_bags, clock.share(EM_SHARE), seeds)
        status: Status = "interrupted" if interrupts.pending() else found.status
    return MixtureResult(
        mixture=found.mixture,
        objective=found.objective,
        held_out=found.held_out,
        trace=tuple(found.trace),
        status=status,
        smoothing=found.smoothing,
        seconds=clock.seconds,
        seed=int(seed),
    )


def _whole_numbers(rng: np.random.Generator) -> itertools.chain[int]:
    return itertools.chain.from_iterable(
        (int(rng.integers(2**31)),) for _ in itertools.repeat(None)
    )


def _held_out_like(held_out: Any, table: Table) -> Table:
    try:
        return as_table(held_out, like=table, unknown="missing")
    except DataError as error:
        raise OptionError(
            Option("held_out"), f" must have the columns of the data: {error}"
        ) from None


def _check_ess(ess: Any) -> None:
    if not _is_positive(ess):
        raise OptionError(Option("ess"), f" must be a positive number, got {ess!r}")


def _checked_smoothing(smoothing: Any) -> Smoothing:
    pair = isinstance(smoothing, tuple | list) and len(smoothing) == 2
    if not pair or not all(map(_is_positive, smoothing)):
        problem = f" must be two positive numbers of rows, got {smoothing!r}"
        raise OptionError(Option("smoothing"), problem)
    return Smoothing(*map(float, smoothing))


def _is_positive(value: Any) -> bool:
    number = isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
    return number and 0 < float(value) < np.inf


def _refuse_large(table: Table, n_components: int | Literal["auto"]) -> None:
    """Raise MemoryLimitError where the shares of the rows would not fit into half of the memory."""
    n = 8 if n_components == "auto" else n_components
    gib = table.n_rows * n * ROW_BYTES / 2**30
    if gib > half_of_memory():
        fitting = int(half_of_memory() * 2**30 / ROW_BYTES / table.n_rows)
        msg = (
            f"{n} components of {table.n_rows:,} rows need about {gib:.1f} GiB; "
            f"{max(fitting, 1)} components would fit, or learn from fewer rows"
        )
        raise MemoryLimitError(msg)
