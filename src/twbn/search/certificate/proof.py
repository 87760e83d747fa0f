"""The proof that a structure is optimal: a tree of cases, each of which leads to nothing better."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Branch", "Proof"]


class Branch(NamedTuple):
    """A case that is split: a graph with all these pairs is too wide, so one of them is missing.

    Each child is (u, v, number): the pair that it forbids, and the number of the branch that splits
    it further, or None if it is a leaf. A child keeps the pairs of those before it.
    """

    number: int
    children: tuple[tuple[int, int, int | None], ...]


class Proof(NamedTuple):
    """A tree of cases over all structures whose bags are within a limit.

    Branch 0 is the root; without branches, the root is a leaf. No structure of a leaf, limited or
    not, scores more than `score`.
    """

    treewidth_limit: int
    score: float
    branches: tuple[Branch, ...]
    max_states: int | None = None
