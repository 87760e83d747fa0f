"""Marginal MAP: the most probable states of some variables, with the others summed out."""

from __future__ import annotations

import itertools
import math
from contextlib import suppress
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn.checks import checked_time_limit
from twbn.deadline import Deadline
from twbn.errors import Option, OptionError
from twbn.inference.beliefs import Beliefs, product
from twbn.interrupts import keeps_best

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.data.coding import State
    from twbn.inference.query import Inference
    from twbn.network.network import Network

__all__ = ["MAX_MAP_ENTRIES", "MapCost", "MapLimits", "MapResult", "map_cost", "marginal_map"]

#: Limit on the entries of all tables of an exact elimination.
MAX_MAP_ENTRIES = 2**24
#: Size of a table beyond which its exact number of entries does not matter.
HOPELESS = 2**62
#: Share of the time limit for the bound, where the answer is not exact; the ascent has the rest.
BOUND_SHARE = 0.4


@dataclass(frozen=True)
class MapCost:
    """Cost of an exact answer: the constrained width and the entries of all tables.

    If a table has more than 2^62 entries, counting stops there and the numbers are lower bounds.
    """

    width: int
    n_entries: int


@dataclass(frozen=True)
class MapResult:
    """The best states found, their log-probability with the evidence, and a bound for all others.

    `exact` is true if the two are equal: no other states are more probable.
    """

    states: dict[str, State]
    log_probability: float
    bound: float
    cost: MapCost

    @property
    def exact(self) -> bool:
        """Whether no other states are more probable."""
        return self.bound <= self.log_probability + 1e-9 * max(abs(self.log_probability), 1.0)


def map_cost(network: Network, variables: Sequence[str], evidence: Any = None) -> MapCost:
    """Return the cost of an exact answer to a marginal MAP query, without computing it."""
    wanted = {network.index(name) for name in variables}
    known = network.known_codes(evidence).keys()
    families = [{v, *parents} for v, parents in enumerate(network.dag.parents)]
    scopes = [family - known for family in families]
    return _plan(scopes, wanted - known, network.n_states)[1]


class MapLimits(NamedTuple):
    """Up to which size the answer is exact, how long it may take otherwise, and the seed."""

    max_entries: int = MAX_MAP_ENTRIES
    time_limit: float = 10.0
    seed: int = 0


@keeps_best
def marginal_map(
    engine: Inference, variables: Sequence[str], evidence: Any, limits: MapLimits
) -> MapResult:
    """Return the most probable states of some variables; see `Inference.marginal_map`."""
    max_entries, time_limit, seed = limits
    clock = Deadline(checked_time_limit(time_limit))
    network = engine.network
    asked = [network.index(name) for name in variables]
    if not asked or len(set(asked)) < len(asked):
        problem = f" must be distinct, and at least one, got {list(variables)}"
        raise OptionError(Option("variables"), problem)
    known = network.known_codes(evidence)
    bound = engine.log_possible_codes(known)  # no states are more probable than this
    wanted = set(asked) - set(known)
    factors = [_sliced(network, v, known) for v in range(network.n_variables)]
    order, cost = _plan([set(f.variables) for f in factors], wanted, network.n_states)
    exact = cost.n_entries <= max_entries
    if exact:
        found, _ = _eliminate(factors, order, wanted)
    else:
        mini = max_entries // max(len(factors), 1)
        with suppress(TimeoutError):
            bound = min(
                bound, _eliminate(factors, order, wanted, mini, clock.share(BOUND_SHARE))[1]
            )
        found = _ascend(engine, wanted, known, clock, seed)
    found |= known
    states = {network.names[v]: network.states[v][found[v]] for v in asked}
    value = float(engine.log_codes(_rows(engine, known, set(asked), found))[0])
    return MapResult(states, value, value if exact else max(bound, value), cost)


def _sliced(network: Network, v: int, known: Mapping[int, int]) -> Beliefs:
    """Return a variable's table restricted to the evidence, its axes in ascending order."""
    family = (*network.dag.parents[v], v)
    table = network.tables[v][tuple(known.get(u, slice(None)) for u in family)]
    free = [u for u in family if u not in known]
    order = sorted(range(len(free)), key=free.__getitem__)
    return Beliefs(tuple(sorted(free)), np.transpose(table, order)[None], np.zeros(1))


def _plan(
    scopes: Iterable[set[int]], wanted: set[int], n_states: Sequence[int]
) -> tuple[list[int], MapCost]:
    """Return an elimination order, smallest table first but `wanted` last, and its cost."""
    live = [set(scope) for scope in scopes if scope]
    neighbours: dict[int, set[int]] = {}
    for scope in live:
        for v in scope:
            neighbours.setdefault(v, set()).update(scope)
    order: list[int] = []
    width = total = 0
    for group in (set(neighbours) - wanted, set(neighbours) & wanted):
        sizes = {v: _size(neighbours[v], n_states) for v in group}
        heap = sorted((size, v) for v, size in sizes.items())
        while heap:
            size, v = heappop(heap)
            if sizes.get(v) != size:
                continue  # taken already, or its table has changed
            if size > HOPELESS:  # too large in any order: append the rest
                order += sorted(set(neighbours) - wanted) + sorted(set(neighbours) & wanted)
                width = max(width, len(neighbours[v]) - 1)
                return order, MapCost(width, total + size)
            del sizes[v]
            order.append(v)
            around = neighbours.pop(v)
            width = max(width, len(around) - 1)
            total += size
            rest = around - {v}
            for u in rest:
                neighbours[u] = (neighbours[u] | rest) - {v}
                if u in sizes:
                    sizes[u] = _size(neighbours[u], n_states)
                    heappush(heap, (sizes[u], u))
    return order, MapCost(width, total)


def _eliminate(
    factors: list[Beliefs],
    order: Sequence[int],
    wanted: set[int],
    max_bucket: int | None = None,
    deadline: Deadline | None = None,
) -> tuple[dict[int, int], float]:
    """Return the best states and their value; with `max_bucket`, only an upper bound on the value.

    A bucket too large for `max_bucket` is split: one part is summed, the others are maximised
    over, and the product of the parts is at least the whole (mini-buckets; Dechter and Rish 2003).
    TimeoutError when the deadline passes.
    """
    live = dict(enumerate(factors))
    holding: dict[int, set[int]] = {}
    for i, factor in live.items():
        for v in factor.variables:
            holding.setdefault(v, set()).add(i)
    names = itertools.count(len(factors))
    trail: list[tuple[int, Beliefs]] = []
    for v in order:
        if deadline is not None:
            deadline.check()
        bucket = [live.pop(i) for i in sorted(holding.pop(v)) if i in live]
        for number, part in enumerate(_parts(bucket, max_bucket)):
            joint = product(part, sorted({u for factor in part for u in factor.variables}))
            if v in wanted:
                trail.append((v, joint))
            summed = v not in wanted and number == 0
            kept = [u for u in joint.variables if u != v]
            name = next(names)
            live[name] = joint.summed(kept) if summed else joint.maximised(kept)
            for u in kept:
                holding[u].add(name)
    with np.errstate(divide="ignore"):
        bound = sum(float(f.log[0] + np.log(f.values.item())) for f in live.values())
    found: dict[int, int] = {}
    if max_bucket is None:
        for v, joint in reversed(trail):
            cell = tuple(found.get(u, slice(None)) for u in joint.variables)
            found[v] = int(np.argmax(joint.at((slice(None), *cell))))
    return found, bound


def _parts(bucket: list[Beliefs], max_bucket: int | None) -> list[list[Beliefs]]:
    """Split factors so that the product of each part is small enough; large factors first."""
    if max_bucket is None:
        return [bucket]
    parts: list[tuple[dict[int, int], list[Beliefs]]] = []
    for factor in sorted(bucket, key=lambda f: -f.values.size):
        sizes = dict(zip(factor.variables, factor.values.shape[1:], strict=True))
        for scope, part in parts:
            if math.prod({**scope, **sizes}.values()) <= max_bucket:
                scope.update(sizes)
                part.append(factor)
                break
        else:
            parts.append((sizes, [factor]))
    return [part for _, part in parts]


def _ascend(
    engine: Inference, wanted: set[int], known: Mapping[int, int], deadline: Deadline, seed: int
) -> dict[int, int]:
    """Return the best of several ascents that change one variable at a time, the others fixed."""
    rng = np.random.default_rng(seed)
    order = np.array(sorted(wanted))
    now = engine.best_codes(known)
    best, best_value = now, -math.inf

    while True:
        value = float(engine.log_codes(_rows(engine, known, wanted, now))[0])
        improved = True
        while improved and not deadline.over:
            improved = False
            for v in rng.permutation(order).tolist():
                if deadline.over:
                    break
                states = np.arange(engine.network.n_states[v])
                rows = np.repeat(_rows(engine, known, wanted, now), len(states), axis=0)
                rows[:, v] = states
                values = engine.log_codes(rows)
                code = int(np.argmax(values))
                if values[code] > value + 1e-12 * max(abs(value), 1.0):
                    now, value, improved = {**now, v: code}, float(values[code]), True
        if value > best_value:
            best, best_value = now, value
        if deadline.over:
            return {v: best[v] for v in wanted}
        now = engine.drawn_codes(known, seed=int(rng.integers(2**31)))


def _rows(
    engine: Inference, known: Mapping[int, int], wanted: set[int], codes: Mapping[int, int]
) -> NDArray[np.int32]:
    """Return one row in which only the evidence and the wanted variables are known."""
    row = np.full((1, engine.network.n_variables), -1, dtype=np.int32)
    for v in wanted:
        row[0, v] = codes[v]
    for v, code in known.items():
        row[0, v] = code
    return row


def _size(variables: Iterable[int], n_states: Sequence[int]) -> int:
    """Return the number of entries of a table; counting stops soon after `HOPELESS`."""
    size = 1
    for v in variables:
        size *= n_states[v]
        if size > HOPELESS:
            break
    return size
