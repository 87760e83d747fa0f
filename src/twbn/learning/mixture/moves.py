"""Changes of a mixture that EM cannot make by itself: splitting and merging components."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from twbn.learning.mixture.em import (
    State,
    added_up,
    counted,
    objective,
    settled,
    with_structures,
)
from twbn.learning.mixture.rows import divided

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twbn.deadline import Deadline
    from twbn.learning.mixture.em import Search
    from twbn.learning.mixture.rows import Rows

__all__ = ["improved_by_moves", "split", "splits"]

#: Steps of EM before structures are searched anew, and afterwards.
FIRST_STEPS, LAST_STEPS = 4, 6
#: Pairs that are tried for a merge.
MAX_PAIRS = 3
#: Fewest rows of a component that is split.
LEAST_ROWS = 4.0


def splits(rows: Rows, state: State) -> list[int]:
    """Return the components that can be split, those of most rows first."""
    n = rows.weights @ state.shares
    order = np.argsort(-n, kind="stable")
    return [int(i) for i in order if n[i] >= LEAST_ROWS]


def split(rows: Rows, state: State, i: int, rng: np.random.Generator) -> State:
    """Return the state with a component divided into two, which have its structure."""
    own = state.shares[:, i]
    part = divided(replace(rows, weights=own * rows.weights), 2, rng)
    others = [j for j in range(len(state.components)) if j != i]
    shares = np.column_stack([state.shares[:, others], own[:, None] * part])
    components = [state.components[j] for j in others] + [state.components[i]] * 2
    return counted(rows, components, shares)


def improved_by_moves(
    search: Search,
    rows: Rows,
    state: State,
    clock: Deadline,
    rng: np.random.Generator,
    seconds: float | None,
    tolerance: float,
) -> State | None:
    """Return a better state with as many components, two merged and one split; or None.

    The pairs that share most rows are merged, the largest of the others is split (Ueda, Nakano,
    Ghahramani and Hinton, 2000). A state is better if its objective is higher.
    """
    before = objective(rows, state)
    for a, b in _pairs(rows, state):
        if clock.over:
            return None
        others = [i for i in range(len(state.components)) if i not in (a, b)]
        merged = added_up(rows, state, [*([i] for i in others), (a, b)])
        largest = splits(rows, merged)
        # The merged pair itself is not split again: that would undo the move.
        candidates = [i for i in largest if i != len(merged.components) - 1]
        if not candidates:
            continue
        moved = split(rows, merged, candidates[0], rng)
        moved = resettled(search, rows, moved, clock, seconds, tolerance)
        if objective(rows, moved) > before + tolerance * rows.total:
            return moved
    return None


def resettled(
    search: Search,
    rows: Rows,
    state: State,
    clock: Deadline,
    seconds: float | None,
    tolerance: float,
) -> State:
    """Return a state with a split after a few steps, new structures, and a few steps more."""
    state, _ = settled(rows, state, clock, max_steps=FIRST_STEPS, tolerance=tolerance)
    if not clock.over:
        # The parts of a split come last.
        which = range(max(len(state.components) - 2, 0), len(state.components))
        state = with_structures(search, rows, state, seconds, which)
    return settled(rows, state, clock, max_steps=LAST_STEPS, tolerance=tolerance)[0]


def _pairs(rows: Rows, state: State) -> Iterator[tuple[int, int]]:
    """Yield pairs of components, those that share most rows first."""
    shares = state.shares
    common = (shares * rows.weights[:, None]).T @ shares
    sizes = np.sqrt(common.diagonal())
    pairs = list(combinations(range(shares.shape[1]), 2))
    if len(sizes) < 3:
        return
    pairs.sort(key=lambda pair: -common[pair] / max(sizes[pair[0]] * sizes[pair[1]], 1e-300))
    yield from pairs[:MAX_PAIRS]
