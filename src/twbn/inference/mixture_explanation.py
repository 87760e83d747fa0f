"""The most probable states of all variables of a mixture, by branch and bound."""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twbn.checks import checked_time_limit
from twbn.deadline import Deadline
from twbn.interrupts import keeps_best
from twbn.network.mixture import logarithm_of_sum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.data.coding import State
    from twbn.inference.query import Inference
    from twbn.network.network import Network

__all__ = ["Explanation", "explained"]

#: How far a bound may exceed the best by rounding.
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Explanation:
    """The best states found, their log-probability with the evidence, and a bound for all others.

    `exact` is true if no other states are more probable.
    """

    states: dict[str, State]
    log_probability: float
    bound: float

    @property
    def exact(self) -> bool:
        """Whether no other states are more probable."""
        return self.bound <= self.log_probability + 1e-9 * max(abs(self.log_probability), 1.0)


class _Node(NamedTuple):
    """Some variables fixed: a bound for all completions, and what each component prefers."""

    bound: float
    known: Mapping[int, int]
    preferred: NDArray[np.int32]  # a row for each component that allows `known`


@keeps_best
def explained(
    engines: Sequence[Inference],
    weights: NDArray[np.float64],
    known: Mapping[int, int],
    time_limit: float,
) -> Explanation:
    """Return the most probable states given codes of some variables.

    Notes
    -----
    No completion has more than the sum of the largest probabilities that it could have in each
    component, and where all components prefer the same states, these attain it. Otherwise the
    search branches on a variable in which they differ, the most promising node first.
    """
    clock = Deadline(checked_time_limit(time_limit))
    search = _Search(engines, np.log(weights))
    root = search.node(known)
    assert root is not None  # the caller has refused evidence that is impossible
    waiting = [(-root.bound, 0, root)]
    number = count(1)
    while waiting and -waiting[0][0] > search.best + TOLERANCE * max(abs(search.best), 1.0):
        if clock.over:
            break
        _, _, node = heappop(waiting)
        if len(node.preferred) == 1:  # its bound is attained, but for rounding
            continue
        v = _where_they_differ(node)
        for code in range(engines[0].network.n_states[v]):
            child = search.node({**node.known, v: code})
            if child is not None and child.bound > search.best:
                heappush(waiting, (-child.bound, next(number), child))
    network = engines[0].network
    states = {name: network.states[v][search.codes[v]] for v, name in enumerate(network.names)}
    bound = max(search.best, -waiting[0][0] if waiting else -math.inf)
    return Explanation(states, search.best, bound)


class _Search:
    """The best states so far, and how nodes are made."""

    def __init__(self, engines: Sequence[Inference], logs: NDArray[np.float64]) -> None:
        self._engines = engines
        self._logs = logs
        self.best = -math.inf
        self.codes: list[int] = []

    def node(self, known: Mapping[int, int]) -> _Node | None:
        """Return the node with some variables fixed, or None if no component allows that."""
        row = np.full((1, self._engines[0].network.n_variables), -1, dtype=np.int32)
        for v, code in known.items():
            row[0, v] = code
        preferred, parts = [], []
        for engine, log in zip(self._engines, self._logs, strict=True):
            if engine.log_codes(row)[0] == -np.inf:
                continue
            codes = engine.best_codes(known)
            own = np.array([codes[v] for v in range(len(codes))], dtype=np.int32)
            preferred.append(own)
            parts.append(log + _log_probability(engine.network, own))
        if not preferred:
            return None
        distinct = np.unique(preferred, axis=0)
        for codes in distinct:
            self._note(codes)
        return _Node(float(logarithm_of_sum(np.array(parts))), known, distinct)

    def _note(self, codes: NDArray[np.int32]) -> None:
        logs = [_log_probability(engine.network, codes) for engine in self._engines]
        value = float(logarithm_of_sum(np.array(logs) + self._logs))
        if value > self.best:
            self.best, self.codes = value, codes.tolist()


def _where_they_differ(node: _Node) -> int:
    """Return the first variable in which the components' preferences differ most."""
    n_kinds = [len(np.unique(column)) for column in node.preferred.T]
    return int(np.argmax(n_kinds))


def _log_probability(network: Network, codes: NDArray[np.int32]) -> float:
    """Return the log-probability of states of all variables."""
    total = 0.0
    for v, (parents, table) in enumerate(zip(network.dag.parents, network.tables, strict=True)):
        p = float(table[(*codes[list(parents)].tolist(), int(codes[v]))])
        if p <= 0:
            return -math.inf
        total += math.log(p)
    return total
