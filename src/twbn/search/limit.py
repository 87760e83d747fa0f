"""What a bag of a decomposition may hold: the limits on treewidth and on joint states."""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from twbn import _core
from twbn.checks import checked_whole
from twbn.errors import Option, OptionError
from twbn.scores.lazy import LazyScores
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.scores.protocol import LocalScores

__all__ = ["DEFAULT_TREEWIDTH", "WidthLimit", "width_limit", "within_states"]

#: The treewidth limit if neither it nor a limit on states is given.
DEFAULT_TREEWIDTH = 4
#: Products of states are exact up to here, also as floating-point numbers.
MOST_STATES = 2**53


@dataclass(frozen=True)
class WidthLimit:
    """At most `treewidth` + 1 variables in a bag and, if limited, `max_states` joint states.

    Invariant: with `max_states`, `n_states` has the number of states of each variable, and none
    exceeds `max_states`.

    Examples
    --------
    >>> limit = WidthLimit(2, 10, (2, 3, 4))
    >>> limit.allows([0, 1]), limit.allows([1, 2])
    (True, False)
    """

    treewidth: int
    max_states: int | None = None
    n_states: tuple[int, ...] | None = None

    def effective(self, n: int) -> WidthLimit:
        """Return the same limit for n variables, with the least treewidth that it allows."""
        largest = n
        if self.max_states is not None and self.n_states is not None:
            largest = _most_together(self.n_states, self.max_states)
        return replace(self, treewidth=max(min(self.treewidth, largest - 1, n - 1), 0))

    def allows(self, bag: Iterable[int]) -> bool:
        """Say whether some variables may share a bag."""
        members = list(bag)
        if len(members) > self.treewidth + 1:
            return False
        if self.max_states is None or self.n_states is None:
            return True
        return math.prod(self.n_states[v] for v in members) <= self.max_states

    def allows_all(self, decomposition: TreeDecomposition) -> bool:
        """Say whether every bag of a decomposition is within the limit."""
        return all(map(self.allows, decomposition.bags))

    @cached_property
    def compiled(self) -> _core.WidthLimit:
        """The same for the compiled core."""
        if self.max_states is None or self.n_states is None:
            return _core.WidthLimit(self.treewidth, math.inf, ())
        return _core.WidthLimit(self.treewidth, float(self.max_states), self.n_states)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "compiled"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)


def width_limit(
    treewidth: int | None,
    max_states: int | None,
    names: Sequence[str],
    n_states: Sequence[int] | None,
) -> WidthLimit:
    """Return the limit that the options say, or raise OptionError.

    Without `treewidth`, it is what `max_states` implies: the most variables whose states, the
    fewest first, multiply to no more. Without either, it is 4.
    """
    if treewidth is not None:
        treewidth = checked_whole("treewidth", treewidth, least=1)
    if max_states is None:
        return WidthLimit(DEFAULT_TREEWIDTH if treewidth is None else treewidth)
    max_states = checked_whole("max_states", max_states, least=1, most=MOST_STATES)
    if n_states is None:
        problem = (
            " needs the number of states of every variable, which these scores do not say: give "
            "n_states to read_jkl or, on the command line, --states-from a network"
        )
        raise OptionError(Option("max_states"), problem)
    most = int(np.argmax(n_states))
    if n_states[most] > max_states:
        problem = (
            f" must be at least {n_states[most]:,}, as {names[most]!r} alone has that many states, "
            f"got {max_states:,}"
        )
        raise OptionError(Option("max_states"), problem)
    states = tuple(map(int, n_states))
    if treewidth is None:
        treewidth = max(_most_together(states, max_states) - 1, 1)
    return WidthLimit(treewidth, max_states, states)


def _most_together(n_states: Sequence[int], max_states: int) -> int:
    """Return how many variables a bag of at most so many joint states can have."""
    products = itertools.accumulate(sorted(n_states), operator.mul)
    return sum(1 for _ in itertools.takewhile(lambda product: product <= max_states, products))


def within_states(scores: LocalScores, limit: WidthLimit) -> LocalScores:
    """Return scores without families that no bag can hold; the same object if there are none."""
    max_states, n_states = limit.max_states, limit.n_states
    if max_states is None or n_states is None:
        return scores
    if isinstance(scores, LazyScores):
        return scores.within_states(max_states)
    if not isinstance(scores, ScoreTable):
        problem = f" needs a ScoreTable or LazyScores, got {type(scores).__name__}"
        raise OptionError(Option("max_states"), problem)
    counts = np.array(n_states, dtype=np.float64)
    # Products over each set: differences of running sums of logarithms would round.
    states = counts[scores.children]
    sizes, starts = scores.set_sizes, scores.set_offsets[:-1]
    for place in range(int(sizes.max(initial=0))):
        longer = sizes > place
        states[longer] *= counts[scores.parents[starts[longer] + place]]
    kept = states <= max_states
    if kept.all():
        return scores
    left = np.add.reduceat(kept, scores.variable_offsets[:-1])
    if not left.all():
        name = scores.names[int(np.argmin(left))]
        problem = f" of {max_states:,} allows no parent set of {name!r}: arcs are required"
        raise OptionError(Option("max_states"), problem)
    info = replace(scores.info, fingerprint=scores.fingerprint)
    return ScoreTable.chosen(scores, kept, info)
