"""The networks of a mixture: tables from shared-out counts, drawn towards those of all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from twbn.learning.mixture.component import Component
from twbn.learning.smoothing import backed_off
from twbn.network import Network
from twbn.network.mixture import Mixture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.learning.mixture.em import State
    from twbn.learning.mixture.rows import Rows

__all__ = ["DEFAULT", "Overall", "Smoothing", "better_smoothing", "mean_likelihood", "mixture_of"]


class Smoothing(NamedTuple):
    """How many rows the distribution among all rows weighs in a table of a component.

    That distribution, given the same parents, is itself drawn towards those given fewer parents,
    which weigh `fewer` rows.
    """

    shared: float
    fewer: float


#: The smoothing unless held-out rows choose it, and what they choose from.
DEFAULT = Smoothing(2.0, 5.0)
SHARED = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
FEWER = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)


class Overall:
    """Distributions of families among all rows, each computed once."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self._counts: dict[tuple[int, tuple[int, ...]], NDArray[np.float64]] = {}

    def table(self, v: int, parents: tuple[int, ...], strength: float) -> NDArray[np.float64]:
        """Return P(v | parents) among all rows, drawn towards that given fewer parents."""
        key = (v, parents)
        if key not in self._counts:
            self._counts[key] = Component.family(self.rows, v, parents, self.rows.weights)
        return backed_off(self._counts[key], parents, first=-1, strength=strength)


def mixture_of(overall: Overall, states: Sequence[State], smoothing: Smoothing) -> Mixture:
    """Return the mixture of one state, or of several that weigh the same."""
    weights: list[float] = []
    networks: list[Network] = []
    rows = overall.rows
    table = rows.table
    for state in states:
        n = rows.weights @ state.shares + 1.0
        weights += (n / n.sum() / len(states)).tolist()
        for component in state.components:
            tables = tuple(
                _smoothed(counts, overall.table(v, parents, smoothing.fewer), smoothing.shared)
                for v, (parents, counts) in enumerate(
                    zip(component.dag.parents, component.counts, strict=True)
                )
            )
            networks.append(
                Network(component.dag, table.names, table.codings, tables, component.decomposition)
            )
    return Mixture(weights, networks)


def better_smoothing(
    overall: Overall, states: Sequence[State], held_out: Table, before: Smoothing
) -> tuple[Smoothing, float]:
    """Return a smoothing near another under which held-out rows are likelier, and how likely.

    One step of a search along each strength in turn; the one before, if none is better.
    """
    best = before, mean_likelihood(mixture_of(overall, states, before), held_out)
    for field, choices in (("shared", SHARED), ("fewer", FEWER)):
        here = best[0]
        at = min(range(len(choices)), key=lambda i: abs(choices[i] - getattr(here, field)))
        for i in (at - 1, at + 1):
            if not 0 <= i < len(choices):
                continue
            one = here._replace(**{field: choices[i]})
            value = mean_likelihood(mixture_of(overall, states, one), held_out)
            if value > best[1]:
                best = one, value
    return best


def mean_likelihood(mixture: Mixture, rows: Table) -> float:
    """Return the mean log-likelihood of rows, whose missing cells are summed out."""
    from twbn.inference.mixture import MixtureInference

    if rows.n_missing.any():
        values = MixtureInference(mixture).score_samples(rows)
    else:
        values = mixture.log_likelihood(rows)
    return float(np.average(values, weights=rows.weights))


def _smoothed(
    counts: NDArray[np.float64], overall: NDArray[np.float64], strength: float
) -> NDArray[np.float64]:
    total = counts.sum(axis=-1, keepdims=True) + strength
    return np.asarray((counts + strength * overall) / total)
