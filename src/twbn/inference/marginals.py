"""The posteriors of all variables, by whatever takes least."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from twbn import _core
from twbn.inference.elimination import ENTRY_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from twbn.inference.query import Inference

__all__ = ["all_marginals"]

#: Entries for each variable up to which the prepared tree is not compared with anything: an order
#: takes as long.
FEW_ENTRIES = 2_000
#: Entries for each variable from which questions about one after the other may take less.
MANY_ENTRIES = 20_000
#: How often passes go over the entries of a tree, about.
PASSES = 4
#: Seconds for the order of a tree for the evidence at hand.
ORDER_SECONDS = 0.05
#: Variables by which questions about one after the other are judged.
N_JUDGED = 16


def all_marginals(
    engine: Inference, known: Mapping[int, int], soft: dict[int, NDArray[np.float64]]
) -> tuple[list[NDArray[np.float64]], float]:
    """Return the posterior of every variable, and a logarithm: minus infinity if impossible.

    Notes
    -----
    Two passes over the prepared junction tree; or over a tree for this evidence, as what is known
    drops out of the graph; or one question for each variable, where little matters for each.
    """
    n_states = engine.network.n_states
    codes = np.full(len(n_states), -1, dtype=np.int32)
    for v, code in known.items():
        codes[v] = code
    given = list(soft.items())
    prepared = engine.tree.calibration if engine.tree.fits else None
    cost = math.inf if prepared is None else prepared.cost(codes)
    shape = None
    if cost > FEW_ENTRIES * len(n_states):
        adapted = _core.tree_shape(engine.factors, codes, ORDER_SECONDS)
        fits = ENTRY_BYTES * adapted.n_entries <= engine.elimination.limits.memory * 2**30
        if fits and PASSES * adapted.n_entries < cost:
            shape, cost = adapted, PASSES * adapted.n_entries
        hard = cost > MANY_ENTRIES * len(n_states)
        if hard and _one_by_one(engine, known, soft) < cost:
            return _asked_in_turn(engine, known, soft)
    if shape is not None:
        found = _core.adapted_marginals(engine.factors, shape, codes, given, sum(n_states))
    else:
        assert prepared is not None
        found = prepared.marginals(codes, given, sum(n_states))
    return np.split(found[0], np.cumsum(n_states)[:-1]), found[1]


def _one_by_one(
    engine: Inference, known: Mapping[int, int], soft: dict[int, NDArray[np.float64]]
) -> float:
    """Return about how many entries questions about one variable after the other go over."""
    n = engine.network.n_variables
    some = [v for v in range(0, n, -(-n // N_JUDGED)) if v not in known]
    costs = [engine.elimination.cost((v,), known, soft).n_entries for v in some]
    return n * (FEW_ENTRIES + sum(costs) / max(len(costs), 1))


def _asked_in_turn(
    engine: Inference, known: Mapping[int, int], soft: dict[int, NDArray[np.float64]]
) -> tuple[list[NDArray[np.float64]], float]:
    found: list[NDArray[np.float64]] = []
    for v, n_states in enumerate(engine.network.n_states):
        others, weights = dict(known), dict(soft)
        if v in others:  # its axis is asked for: what is known becomes certain
            weights[v] = np.eye(n_states)[others.pop(v)]
        values, log = engine.elimination.answer((v,), others, weights)
        if log == -math.inf:
            return found, log
        found.append(np.asarray(values / values.sum()))
    return found, log
