"""How a posterior depends on each parameter of the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn import _core
from twbn.checks import checked_whole
from twbn.errors import DataError
from twbn.frame_out import frame_of
from twbn.inference.elimination import Elimination
from twbn.inference.evidence import read_given, refuse_impossible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from twbn.data.coding import State
    from twbn.inference.query import Inference
    from twbn.network.network import Network

__all__ = ["Parameter", "Sensitivity", "sensitivity"]


class Parameter(NamedTuple):
    """One number of a conditional table, and the derivative of the posterior with respect to it."""

    variable: str
    state: State
    parents: dict[str, State]
    value: float
    derivative: float


@dataclass(frozen=True)
class Sensitivity:
    """The derivatives of P(target = state | evidence) with respect to all parameters.

    A parameter is varied alone; the others of its distribution keep their proportions (and share
    equally what is left if all are zero). `derivatives` has an array for each variable, in the
    shape of its table.
    """

    target: str
    state: State
    posterior: float
    network: Network
    derivatives: tuple[NDArray[np.float64], ...]

    def top(self, n: int = 10) -> list[Parameter]:
        """Return the parameters that matter most, by the size of the derivative."""
        checked_whole("n", n, least=1)
        found = [
            (abs(float(table[cell])), v, cell)
            for v, table in enumerate(self.derivatives)
            for cell in _largest_cells(table, n)
        ]
        found.sort(key=lambda item: (-item[0], item[1:]))
        return [self._parameter(v, cell) for size, v, cell in found[:n] if size > 0]

    def to_frame(self, kind: str = "pandas", *, n: int = 10) -> Any:
        """Return the parameters that matter most as a frame of pandas or polars."""
        rows = self.top(n)
        columns: dict[str, list[Any]] = {
            "variable": [p.variable for p in rows],
            "state": [str(p.state) for p in rows],
            "parents": [", ".join(f"{u}={s}" for u, s in p.parents.items()) for p in rows],
            "value": [p.value for p in rows],
            "derivative": [p.derivative for p in rows],
        }
        return frame_of(columns, kind)

    def _parameter(self, v: int, cell: tuple[int, ...]) -> Parameter:
        network = self.network
        parents = zip(network.dag.parents[v], cell, strict=False)
        return Parameter(
            network.names[v],
            network.states[v][cell[-1]],
            {network.names[p]: network.states[p][code] for p, code in parents},
            float(network.tables[v][cell]),
            float(self.derivatives[v][cell]),
        )


def sensitivity(engine: Inference, target: str, state: Any, evidence: Any) -> Sensitivity:
    """Return the derivative of a state's posterior with respect to every parameter.

    Notes
    -----
    The probability of target and evidence is linear in the parameters of one table. Its
    coefficients are a table over the family: the sum of the products of all other tables, found by
    one question with that table replaced by ones (so that its zeros do not matter). Tables that do
    not matter for the question are skipped. The quotient rule and the proportions do the rest
    (Castillo, Gutiérrez and Hadi, 1997).
    """
    network = engine.network
    t = network.index(target)
    code = network.state_code(t, state)
    known = read_given(network, evidence, None).known
    if t in known:
        msg = f"{target!r} is observed, so no parameter changes its posterior"
        raise DataError(msg, variable=target)
    values, log = engine.elimination.answer((t,), known, {})
    if log == -np.inf:
        refuse_impossible(network, known)
    relevant = set(engine.elimination.relevant((t,), known))
    derivatives = [
        _derivatives(engine, v, (t, code), known) if v in relevant else np.zeros(table.shape)
        for v, table in enumerate(network.tables)
    ]
    posterior = float(values[code] / values.sum())
    return Sensitivity(target, network.states[t][code], posterior, network, tuple(derivatives))


def _derivatives(
    engine: Inference, v: int, wanted: tuple[int, int], known: Mapping[int, int]
) -> NDArray[np.float64]:
    """Return the derivatives with respect to one table, in its shape."""
    network = engine.network
    t, code = wanted
    family = (*network.dag.parents[v], v)
    table = network.tables[v]
    joint, evidence = _coefficients(engine, v, family, t, known)
    hit = np.take(joint, code, axis=-1)
    total = evidence
    p_hit, p_all = float((hit * table).sum()), float((total * table).sum())
    rest = 1.0 - table
    with np.errstate(divide="ignore", invalid="ignore"):
        # The other parameters of the distribution fall in proportion; if all are zero, alike.
        shares = table[..., None, :] / rest[..., :, None]
    n = table.shape[-1]
    alike = np.full((n, n), 1.0 / max(n - 1, 1))
    shares = np.where(rest[..., :, None] > 1e-15, shares, alike)
    shares[..., np.arange(n), np.arange(n)] = 0.0

    def moved(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        lost = (shares * coefficients[..., None, :]).sum(axis=-1)
        return np.asarray(coefficients - lost) if n > 1 else np.zeros(table.shape)

    # Divided twice: the square of a small probability may be zero.
    return np.asarray(moved(hit) / p_all - p_hit / p_all * (moved(total) / p_all))


def _coefficients(
    engine: Inference, v: int, family: tuple[int, ...], t: int, known: Mapping[int, int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the coefficients of a table's entries in P(target, evidence), and in P(evidence)."""
    network = engine.network
    tables = [table.ravel() for table in network.tables]
    tables[v] = np.ones(network.tables[v].size)
    factors = _core.Factors(list(network.n_states), list(map(list, network.dag.parents)), tables)
    asked = family if t in family else (*family, t)
    free = {u: c for u, c in known.items() if u not in asked}
    certain = {u: np.eye(network.n_states[u])[known[u]] for u in asked if u in known}
    elimination = Elimination(network, factors, engine.elimination.limits)
    values, _ = elimination.answer(asked, free, certain, check=False)
    if t not in family:
        return values, values.sum(axis=-1)
    place = family.index(t)
    marked = np.moveaxis(values, place, -1)[..., None] * np.eye(network.n_states[t])
    return np.moveaxis(marked, -2, place), values


def _largest_cells(table: NDArray[np.float64], n: int) -> list[tuple[int, ...]]:
    order = np.argsort(-np.abs(table), axis=None, kind="stable")[:n]
    cells = np.unravel_index(order, table.shape)
    return [tuple(int(axis[i]) for axis in cells) for i in range(len(order))]
