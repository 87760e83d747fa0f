"""States for all variables at once: the most probable ones, or some drawn at random."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import DataError
from twbn.inference.beliefs import Beliefs
from twbn.inference.evidence import refuse_impossible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.deadline import Deadline
    from twbn.inference.junction_tree import JunctionTree, Likelihoods
    from twbn.inference.query import Inference

__all__ = ["codes_given", "joint_codes"]


def codes_given(
    engine: Inference, known: Mapping[int, int], rng: np.random.Generator | None
) -> dict[int, int]:
    """Return codes of all variables given some: the most probable, or drawn at random."""
    network = engine.network
    if not engine.tree.fits:
        return _one_by_one(engine, known, rng)
    given: Likelihoods = {v: np.eye(network.n_states[v])[[code]] for v, code in known.items()}
    try:
        codes = joint_codes(engine.tree, given, 1, rng)[0]
    except _ImpossibleError:
        refuse_impossible(network, known)
    return dict(enumerate(codes.tolist()))


def _one_by_one(
    engine: Inference, known: Mapping[int, int], rng: np.random.Generator | None
) -> dict[int, int]:
    """Return the same without a tree: each variable in turn, given those before it."""
    codes = dict(known)
    if engine.elimination.answer((), known, {})[1] == -math.inf:
        refuse_impossible(engine.network, known)
    for v in engine.network.dag.topological_order:
        if v in codes:
            continue
        values, log = engine.elimination.answer((v,), codes, {}, maximise=rng is None)
        if log == -math.inf:
            refuse_impossible(engine.network, known)
        shares = values / values.sum()
        codes[v] = int(shares.argmax() if rng is None else rng.choice(len(shares), p=shares))
    return codes


class _ImpossibleError(DataError):
    """The evidence has probability zero."""


def joint_codes(
    tree: JunctionTree,
    likelihoods: Likelihoods,
    n_rows: int,
    rng: np.random.Generator | None = None,
    deadline: Deadline | None = None,
) -> NDArray[np.int32]:
    """Return the most probable codes of every row, or with `rng` codes drawn at random.

    Makes one pass up the tree and one down. Raises DataError if the evidence has probability
    zero, and TimeoutError if the deadline passes.
    """
    _, order = tree.orientation(0)
    beliefs, _ = tree.upward(likelihoods, maximise=rng is None, deadline=deadline)
    if beliefs[order[0]].is_impossible:
        raise _ImpossibleError("the evidence has probability zero")
    codes = np.full((n_rows, tree.network.n_variables), -1, dtype=np.int32)
    every = np.arange(n_rows)
    for i in order:
        free = [v for v in tree.bags[i] if codes[0, v] < 0]
        if not free:
            continue
        row = every if len(beliefs[i].values) > 1 else np.zeros(n_rows, dtype=np.intp)
        table = _given(beliefs[i], row, codes, free).reshape(n_rows, -1)
        best = table.argmax(axis=1) if rng is None else _drawn(table, rng)
        shape = tuple(tree.network.n_states[v] for v in free)
        for v, found in zip(free, np.unravel_index(best, shape), strict=True):
            codes[:, v] = found
    return codes


def _given(
    belief: Beliefs, row: NDArray[np.intp], codes: NDArray[np.int32], free: Sequence[int]
) -> NDArray[np.float64]:
    """Return each row's table over the free variables, with the others fixed at their codes."""
    known = [v for v in belief.variables if v not in free]
    axes = (0, *(1 + belief.variables.index(v) for v in (*known, *free)))
    exponents = belief.exponents
    turned = Beliefs(
        (*known, *free),
        np.transpose(belief.values, axes),
        belief.log,
        None if exponents is None else np.transpose(exponents, axes),
    )
    return turned.at((row, *(codes[:, v] for v in known)))


def _drawn(table: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return, for each row of weights, an index drawn in proportion to its weight."""
    steps = np.cumsum(table, axis=1)
    draw = rng.random(len(table)) * steps[:, -1]
    return np.asarray(np.minimum((steps <= draw[:, None]).sum(axis=1), table.shape[1] - 1))
