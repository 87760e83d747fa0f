"""A checker of certificates that relies on nothing but NumPy and the definitions.

The proof is a tree of cases. A *case* forbids some pairs of variables to be in one family (a child
with its parents) and keeps others: structures in which every kept pair is in a family. A case is
split by a set of pairs which, together with the kept ones, make a graph that has no tree
decomposition within the limit. The moral graph of a structure within the limit lacks one of them,
and not a kept one: the first that it lacks, in the order of the children, says which child it
belongs to. So the leaves cover all structures, and it is left to show that no acyclic structure of
a leaf, of any width, scores more than the certificate claims: that is a dynamic program over the
sets of variables that can come first in an order.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from twbn.search.certificate.proof import Branch, Proof

__all__ = ["Checked", "Families", "Limit", "check_proof", "is_wider"]

#: Scores are sums of logarithms; equal ones may differ by this fraction.
TOLERANCE = 1e-9

#: For each child: parent sets as masks, and their scores.
Families = list[tuple["NDArray[np.int64]", "NDArray[np.float64]"]]


class Limit(NamedTuple):
    """What a bag may hold: k + 1 variables and, if limited, so many joint states."""

    k: int
    max_states: int | None = None
    n_states: tuple[int, ...] = ()

    def allows(self, bag: Iterable[int]) -> bool:
        """Say whether some variables may share a bag."""
        members = list(bag)
        if self.max_states is None:
            return len(members) <= self.k + 1
        states = math.prod(self.n_states[v] for v in members)
        return len(members) <= self.k + 1 and states <= self.max_states


class Checked(NamedTuple):
    """What was found: how many branches and leaves were checked, and what is wrong."""

    n_branches: int
    n_leaves: int
    problems: list[str]


def check_proof(
    proof: Proof,
    families: Families,
    on_progress: Callable[[int, int], None] | None = None,
    *,
    n_states: Sequence[int] = (),
) -> Checked:
    """Return what is wrong with a proof about these families; nothing if it is valid.

    `n_states` has the number of states of each variable, for a proof about a limit on joint states.
    O(n 2^n) for every leaf, and a decision of treewidth for every branch.
    """
    if proof.max_states is not None and len(n_states) != len(families):
        return Checked(0, 0, ["the numbers of states of the variables are not known"])
    limit = Limit(proof.treewidth_limit, proof.max_states, tuple(n_states))
    branches = {branch.number: branch for branch in proof.branches}
    problems = []
    if len(branches) < len(proof.branches):
        problems.append("two branches have the same number")
    leaf = _Leaf(families, limit, proof.score)
    n_leaves, seen = 0, set[int]()
    cases: list[_Case] = [_Case(0 if branches else None, frozenset(), frozenset())]
    while cases and not problems:
        case = cases.pop()
        if case.number is None:
            n_leaves += 1
            problems += leaf.problems(case.forbidden)
            continue
        if case.number not in branches or case.number in seen:
            problems.append(f"branch {case.number} is missing, or is met twice")
            continue
        seen.add(case.number)
        branch = branches[case.number]
        pairs = _pairs_of(branch, len(families))
        if not is_wider(case.kept | set(pairs), limit):
            problems.append(f"branch {case.number} does not split by an obstruction")
            continue
        for position, (pair, (_, _, number)) in enumerate(zip(pairs, branch.children, strict=True)):
            kept = case.kept | set(pairs[:position])
            cases.append(_Case(number, case.forbidden | {pair}, kept))
        if on_progress is not None:
            on_progress(len(seen), len(branches))
    if not problems and len(seen) < len(branches):
        problems.append(f"{len(branches) - len(seen)} branches are not met from the root")
    return Checked(len(seen), n_leaves, problems)


class _Case(NamedTuple):
    """A case to be checked: the branch that splits it, or None for a leaf."""

    number: int | None
    forbidden: frozenset[tuple[int, int]]
    kept: frozenset[tuple[int, int]]


def _pairs_of(branch: Branch, n: int) -> list[tuple[int, int]]:
    """Return the pairs of a branch; those that are none make it too narrow to be accepted."""
    pairs = [(min(u, v), max(u, v)) for u, v, _ in branch.children]
    return pairs if all(0 <= u < v < n for u, v in pairs) else []


class _Leaf:
    """The bound on all acyclic structures without certain pairs, of any width."""

    def __init__(self, families: Families, limit: Limit, score: float) -> None:
        self.n = n = len(families)
        # A family is a clique: some bag has to hold it.
        narrow = [
            np.array([limit.allows(_members(m | 1 << v)) for m in masks.tolist()])
            for v, (masks, _) in enumerate(families)
        ]
        families = [
            (masks[some], scores[some])
            for (masks, scores), some in zip(families, narrow, strict=True)
        ]
        self.score = score
        slack = TOLERANCE * abs(score)
        best = [scores.max() for _, scores in families]
        # A family that alone loses more than there is to lose is in no better structure.
        spare = sum(best) - score + slack
        self.limit = score + slack
        self.families = [
            (masks[top - scores <= spare], scores[top - scores <= spare])
            for (masks, scores), top in zip(families, best, strict=True)
        ]
        self.members = [
            [int(m) | 1 << v for m in masks] for v, (masks, _) in enumerate(self.families)
        ]
        sets = np.arange(2**n)
        sizes = np.array([bin(s).count("1") for s in range(2**n)])
        # For each size: the sets, and for each variable in them the set without it.
        self.layers = []
        for size in range(1, n + 1):
            of_size = sets[sizes == size]
            last = [np.flatnonzero(of_size >> v & 1) for v in range(n)]
            self.layers.append((of_size, last))

    def problems(self, forbidden: Iterable[tuple[int, int]]) -> list[str]:
        """Say if a structure without the forbidden pairs may score more than it should."""
        bound = self.bound([1 << u | 1 << v for u, v in forbidden])
        if bound <= self.limit:
            return []
        return [f"a leaf has a bound of {bound:.6f}, above the score {self.score:.6f}"]

    def bound(self, forbidden: Sequence[int]) -> float:
        """Return the best score of an acyclic structure: sets that come first, by size."""
        best = np.stack([self._best_inside(v, forbidden) for v in range(self.n)])
        value = np.full(2**self.n, -np.inf)
        value[0] = 0.0
        for of_size, members in self.layers:
            found = np.full(len(of_size), -np.inf)
            for v, rows in enumerate(members):
                before = of_size[rows] ^ (1 << v)
                found[rows] = np.maximum(found[rows], value[before] + best[v][before])
            value[of_size] = found
        return float(value[-1])

    def _best_inside(self, v: int, forbidden: Sequence[int]) -> NDArray[np.float64]:
        """Return, for each set of variables, the best family of v with parents inside it."""
        masks, scores = self.families[v]
        allowed = [not any(pair & m == pair for pair in forbidden) for m in self.members[v]]
        best = np.full(2**self.n, -np.inf)
        np.maximum.at(best, masks[allowed], scores[allowed])
        for u in range(self.n):
            halves = best.reshape(-1, 2, 2**u)
            np.maximum(halves[:, 1], halves[:, 0], out=halves[:, 1])
        return best


def _members(mask: int) -> list[int]:
    return [v for v in range(mask.bit_length()) if mask >> v & 1]


def is_wider(pairs: Iterable[tuple[int, int]], limit: Limit) -> bool:
    """Say whether the graph of these pairs has no tree decomposition within a limit.

    It has one if its vertices can be eliminated one by one, each with neighbours left that may
    share a bag with it, which then become adjacent. What is left depends on which vertices are
    gone, not on their order, so each set is tried once. A vertex that fits into a bag with its
    neighbours can be eliminated without loss if these are adjacent already, or all but one of them:
    elimination then contracts an edge, which widens nothing if the one has no more states than the
    vertex.

    Examples
    --------
    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> is_wider(triangle, Limit(1)), is_wider(triangle, Limit(2))
    (True, False)
    """
    near: dict[int, set[int]] = {}
    for u, v in pairs:
        near.setdefault(u, set()).add(v)
        near.setdefault(v, set()).add(u)
    return not _can_be_eliminated(near, limit, set())


def _can_be_eliminated(
    near: dict[int, set[int]], limit: Limit, failed: set[frozenset[int]]
) -> bool:
    while True:
        if limit.allows(near):
            return True
        fitting = [v for v in near if limit.allows({v, *near[v]})]
        safe = next((v for v in fitting if _is_safe(near, v, limit)), None)
        if safe is None:
            break
        near = _eliminated(near, safe)
    rest = frozenset(near)
    if rest in failed:
        return False
    failed.add(rest)
    fitting.sort(key=lambda v: len(near[v]))
    return any(_can_be_eliminated(_eliminated(near, v), limit, failed) for v in fitting)


def _is_safe(near: dict[int, set[int]], v: int, limit: Limit) -> bool:
    """Say whether a vertex that fits into a bag with its neighbours can be eliminated for sure."""
    around = near[v]
    if _is_clique(near, around):
        return True
    states = limit.n_states if limit.max_states is not None else None
    return any(
        _is_clique(near, around - {w}) and (states is None or states[w] <= states[v])
        for w in around
    )


def _is_clique(near: dict[int, set[int]], members: set[int]) -> bool:
    return all(members - near[u] == {u} for u in members)


def _eliminated(near: dict[int, set[int]], v: int) -> dict[int, set[int]]:
    """Return the graph without a vertex, its neighbours adjacent."""
    around = near[v]
    return {
        u: (others | around) - {u, v} if u in around else others
        for u, others in near.items()
        if u != v
    }
