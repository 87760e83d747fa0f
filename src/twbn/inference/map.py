"""Marginal MAP: the most probable states of some variables, with the others summed out."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.inference.query import Inference
    from twbn.network.network import Network, State

__all__ = ["MapCost", "MapResult", "map_cost", "map_query"]

#: Entries of the tables of an elimination that is done exactly.
MAX_ENTRIES = 2**24


@dataclass(frozen=True)
class MapCost:
    """What an exact answer takes: the constrained width, and the entries of all tables."""

    width: int
    n_entries: int


@dataclass(frozen=True)
class MapResult:
    """The best states found, their log-probability with the evidence, and a bound for all others.

    `exact` says that the two are one: nothing is more probable.
    """

    states: dict[str, State]
    log_probability: float
    bound: float
    cost: MapCost

    @property
    def exact(self) -> bool:
        """Whether nothing is more probable."""
        return self.bound <= self.log_probability + 1e-9 * max(abs(self.log_probability), 1.0)


@dataclass(frozen=True)
class _Factor:
    scope: tuple[int, ...]  # ascending
    values: NDArray[np.float64]
    log: float = 0.0


def map_cost(
    network: Network, variables: Sequence[str], evidence: Mapping[str, Any] | None = None
) -> MapCost:
    """Return what the exact answer to a marginal MAP query takes, before it is asked."""
    wanted = {network.index(name) for name in variables}
    known = {network.index(name) for name in evidence or {}}
    families = [{v, *parents} for v, parents in enumerate(network.dag.parents)]
    scopes = [family - known for family in families]
    return _plan(scopes, wanted - known, network.n_states)[1]


def map_query(
    engine: Inference,
    variables: Sequence[str],
    evidence: Mapping[str, Any] | None = None,
    *,
    max_entries: int = MAX_ENTRIES,
    time_limit: float = 1.0,
    seed: int = 0,
) -> MapResult:
    """Return the most probable states of some variables given evidence; the rest is summed out.

    Parameters
    ----------
    max_entries
        Up to this size of all tables (see `map_cost`) the answer is exact, by eliminating first the
        variables that are summed out. Above it, coordinate ascent from several starts finds states
        and mini-buckets of this size bound every other answer.
    time_limit
        Seconds for the ascent, where there is one.
    """
    network = engine.network
    codes = {network.index(name): 0 for name in variables}
    if not codes or len(codes) < len(variables):
        msg = f"variables must be distinct, and at least one, got {list(variables)}"
        raise OptionError(msg)
    known = {
        network.index(name): network.state_code(network.index(name), state)
        for name, state in (evidence or {}).items()
    }
    engine.log_possible(evidence)
    wanted = set(codes) - set(known)
    factors = [_sliced(network, v, known) for v in range(network.n_variables)]
    order, cost = _plan([set(f.scope) for f in factors], wanted, network.n_states)
    if cost.n_entries <= max_entries:
        found, bound = _eliminate(factors, order, wanted, None)
    else:
        _, bound = _eliminate(factors, order, wanted, max_entries // max(len(factors), 1))
        found = _ascend(engine, wanted, known, time_limit, seed)
    found |= {v: code for v, code in known.items() if v in codes}
    states = {network.names[v]: network.states[v][found[v]] for v in codes}
    value = engine.log_evidence({**(evidence or {}), **states})
    exact = cost.n_entries <= max_entries
    return MapResult(states, value, value if exact else max(bound, value), cost)


def _sliced(network: Network, v: int, known: Mapping[int, int]) -> _Factor:
    """Return a variable's table, ascending in its scope, where the evidence holds."""
    family = (*network.dag.parents[v], v)
    table = network.tables[v][tuple(known.get(u, slice(None)) for u in family)]
    free = [u for u in family if u not in known]
    order = sorted(range(len(free)), key=free.__getitem__)
    return _Factor(tuple(sorted(free)), np.transpose(table, order))


def _plan(
    scopes: Iterable[set[int]], wanted: set[int], n_states: Sequence[int]
) -> tuple[list[int], MapCost]:
    """Return an order of elimination, those in `wanted` last, by smallest table; and its cost."""
    live = [set(scope) for scope in scopes if scope]
    neighbours: dict[int, set[int]] = {}
    for scope in live:
        for v in scope:
            neighbours.setdefault(v, set()).update(scope)
    order: list[int] = []
    width = total = 0
    for group in (set(neighbours) - wanted, set(neighbours) & wanted):
        left = set(group)
        while left:
            v = min(left, key=lambda u: (_size(neighbours[u], n_states), u))
            left.discard(v)
            order.append(v)
            around = neighbours.pop(v)
            width = max(width, len(around) - 1)
            total += _size(around, n_states)
            rest = around - {v}
            for u in rest:
                neighbours[u] = (neighbours[u] | rest) - {v}
    return order, MapCost(width, total)


def _eliminate(
    factors: list[_Factor], order: Sequence[int], wanted: set[int], max_bucket: int | None
) -> tuple[dict[int, int], float]:
    """Return states and value of the best; with `max_bucket` only a value that none exceeds.

    A bucket too large for `max_bucket` is split: one part is summed, the others are maximised
    over, and the product of the parts is at least the whole (mini-buckets; Dechter and Rish 2003).
    """
    live = list(factors)
    trail: list[tuple[int, _Factor]] = []
    for v in order:
        bucket = [f for f in live if v in f.scope]
        live = [f for f in live if v not in f.scope]
        for number, part in enumerate(_parts(bucket, max_bucket)):
            joint = _product(part)
            if v in wanted:
                trail.append((v, joint))
            summed = v not in wanted and number == 0
            axis = joint.scope.index(v)
            values = joint.values.sum(axis=axis) if summed else joint.values.max(axis=axis)
            live.append(_rescaled(tuple(u for u in joint.scope if u != v), values, joint.log))
    bound = sum(f.log + (math.log(float(f.values)) if f.values > 0 else -math.inf) for f in live)
    found: dict[int, int] = {}
    if max_bucket is None:
        for v, joint in reversed(trail):
            cell = tuple(found.get(u, slice(None)) for u in joint.scope)
            found[v] = int(np.argmax(joint.values[cell]))
    return found, bound


def _parts(bucket: list[_Factor], max_bucket: int | None) -> list[list[_Factor]]:
    """Split factors so that the product of each part is small enough; large factors first."""
    if max_bucket is None:
        return [bucket]
    parts: list[tuple[dict[int, int], list[_Factor]]] = []
    for factor in sorted(bucket, key=lambda f: -f.values.size):
        sizes = dict(zip(factor.scope, factor.values.shape, strict=True))
        for scope, part in parts:
            if math.prod({**scope, **sizes}.values()) <= max_bucket:
                scope.update(sizes)
                part.append(factor)
                break
        else:
            parts.append((sizes, [factor]))
    return [part for _, part in parts]


def _product(factors: Sequence[_Factor]) -> _Factor:
    scope = tuple(sorted({v for f in factors for v in f.scope}))
    joint = _Factor(scope, np.ones(()))
    for f in factors:
        sizes = iter(f.values.shape)
        spread = f.values.reshape([next(sizes) if v in f.scope else 1 for v in scope])
        joint = _rescaled(scope, joint.values * spread, joint.log + f.log)
    return joint


def _rescaled(scope: tuple[int, ...], values: NDArray[np.float64], log: float) -> _Factor:
    largest = float(np.max(values))
    if largest <= 0:
        return _Factor(scope, np.asarray(values), log)
    return _Factor(scope, np.asarray(values / largest), log + math.log(largest))


def _ascend(
    engine: Inference, wanted: set[int], known: dict[int, int], time_limit: float, seed: int
) -> dict[int, int]:
    """Return the best of several ascents that change one variable at a time, the others given."""
    network = engine.network
    names = network.names
    rng = np.random.default_rng(seed)
    end = time.perf_counter() + time_limit
    given = {names[v]: network.states[v][code] for v, code in known.items()}
    start = engine.most_probable(given)
    best: dict[str, State] = {}
    best_value = -math.inf
    while best_value == -math.inf or time.perf_counter() < end:
        now = {names[v]: start[names[v]] for v in sorted(wanted)}
        value = engine.log_evidence({**given, **now})
        improved = True
        while improved and (best_value == -math.inf or time.perf_counter() < end):
            improved = False
            for v in rng.permutation(sorted(wanted)).tolist():
                others = {name: state for name, state in now.items() if name != names[v]}
                posterior = engine.query([names[v]], {**given, **others})
                state = posterior.states[0][int(np.argmax(posterior.values))]
                if posterior[state] > posterior[now[names[v]]] * (1 + 1e-12):
                    now[names[v]] = state
                    improved = True
            if improved:
                value = engine.log_evidence({**given, **now})
        if value > best_value:
            best, best_value = now, value
        start = engine.sample_given(given, seed=int(rng.integers(2**31)))
    places = {name: network.index(name) for name in best}
    return {v: network.state_code(v, best[name]) for name, v in places.items()}


def _size(variables: Iterable[int], n_states: Sequence[int]) -> int:
    return math.prod(n_states[v] for v in variables)
