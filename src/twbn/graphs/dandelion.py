"""Dandelion codes: a bijection between k-trees and short lists of symbols.

After Caminiti, Fusco and Petreschi, *Bijective linear time coding and decoding for k-trees* (2010).
Labels are 1..n here, as in the paper; a `KTree` has the vertices 0..n-1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twbn import _core
from twbn.errors import GraphError, OptionError
from twbn.graphs.ktree import KTree

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["DandelionCode", "count_ktrees", "log10_ktrees", "sample_ktree"]

#: (v, i) with 1 <= v <= n - k and 1 <= i <= k, or (0, 0), which the paper writes (0, ε).
Symbol = tuple[int, int]


@dataclass(frozen=True)
class DandelionCode:
    """The code (Q, S) of a k-tree on the labels 1..n, n >= k + 2.

    Invariant: Q has k labels, ascending; S has n - k - 2 symbols.

    Examples
    --------
    >>> code = DandelionCode(5, (2, 4), ((1, 2),))
    >>> DandelionCode.of(code.decode()) == code
    True
    """

    n: int
    Q: tuple[int, ...]
    S: tuple[Symbol, ...]

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "Q", tuple(sorted(int(q) for q in self.Q)))
            object.__setattr__(self, "S", tuple((int(v), int(i)) for v, i in self.S))
        except (TypeError, ValueError):
            msg = f"Q must hold numbers and S pairs of numbers, got {self.Q!r} and {self.S!r}"
            raise GraphError(msg) from None
        n, k = self.n, self.k
        if k < 1 or n < k + 2:
            msg = f"a code needs k >= 1 and n >= k + 2, got n = {n} and {k} labels in Q"
            raise GraphError(msg)
        if len(set(self.Q)) < k or self.Q[0] < 1 or self.Q[-1] > n:
            msg = f"Q must hold distinct labels between 1 and {n}, got {list(self.Q)}"
            raise GraphError(msg)
        if len(self.S) != n - k - 2:
            msg = f"S must have n - k - 2 = {n - k - 2} symbols, got {len(self.S)}"
            raise GraphError(msg)
        for position, (v, i) in enumerate(self.S, start=1):
            if (v, i) != (0, 0) and not (1 <= v <= n - k and 1 <= i <= k):
                msg = (
                    f"symbol {position} of S must be 0:e or v:i with 1 <= v <= {n - k} and "
                    f"1 <= i <= {k}, got {v}:{i}"
                )
                raise GraphError(msg)

    @classmethod
    def sample(cls, n: int, k: int, *, seed: int = 0, index: int = 0) -> DandelionCode:
        """Return a code drawn uniformly: every k-tree on n labels is equally likely.

        Different values of `index` give independent draws for one seed.
        """
        _check_size(n, k, least=k + 2)
        for name, value in (("seed", seed), ("index", index)):
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
                msg = f"{name} must be a whole number, 0 or more, got {value!r}"
                raise OptionError(msg)
        q, nodes, labels = _core.dandelion_sample(n, k, seed, index)
        return cls(n, tuple(q), tuple(zip(nodes, labels, strict=True)))

    @classmethod
    def of(cls, tree: KTree) -> DandelionCode:
        """Return the code of a k-tree. O(n · k)."""
        return _encode(tree)

    @property
    def k(self) -> int:
        """The treewidth."""
        return len(self.Q)

    def decode(self) -> KTree:
        """Return the k-tree of this code. O(n · k)."""
        nodes, labels = [v for v, _ in self.S], [i for _, i in self.S]
        steps = _core.dandelion_decode(self.n, self.k, list(self.Q), nodes, labels)
        return KTree.from_steps(self.n, steps)


def count_ktrees(n: int, k: int) -> int:
    """Return the number of k-trees on n labels: C(n, k) · (k (n - k) + 1)^(n - k - 2).

    Examples
    --------
    >>> [count_ktrees(*sizes) for sizes in ((5, 2), (6, 2), (7, 3))]
    [70, 1215, 5915]
    """
    _check_size(n, k, least=k)
    if n <= k + 1:
        return 1
    return math.comb(n, k) * int((k * (n - k) + 1) ** (n - k - 2))


def log10_ktrees(n: int, k: int) -> float:
    """Return the logarithm to base 10 of the number of k-trees on n labels."""
    _check_size(n, k, least=k)
    if n <= k + 1:
        return 0.0
    log_choose = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return log_choose / math.log(10) + (n - k - 2) * math.log10(k * (n - k) + 1)


def sample_ktree(n: int, k: int, *, seed: int = 0, index: int = 0) -> KTree:
    """Return a k-tree on n vertices drawn uniformly."""
    _check_size(n, k, least=k + 1)
    if n == k + 1:
        return KTree.complete(n)
    return DandelionCode.sample(n, k, seed=seed, index=index).decode()


def _check_size(n: int, k: int, least: int) -> None:
    if not (isinstance(n, int) and isinstance(k, int)):
        msg = f"n and k must be whole numbers, got {n!r} and {k!r}"
        raise OptionError(msg)
    if k < 1:
        msg = f"k must be at least 1, got {k}"
        raise OptionError(msg)
    if n < least:
        msg = f"n must be at least {least} for k = {k}, got {n}"
        raise OptionError(msg)


def _encode(tree: KTree) -> DandelionCode:
    n, k = tree.n_vertices, tree.k
    if n < k + 2:
        msg = f"the one {k}-tree on {n} vertices has no code"
        raise GraphError(msg)
    adjacent = tree.graph.neighbours
    # Q is what the largest leaf is attached to; the tree is grown again from there.
    leaf = max(v for v in range(n) if len(adjacent[v]) == k)
    root = sorted(adjacent[leaf])
    phi = _relabelling(n, [v + 1 for v in root])
    order, attached_to = _regrow(adjacent, root, k)
    target, label = _characteristic_tree(order, attached_to, root, phi)
    smallest = next(v for v in range(1, n + 1) if v - 1 not in set(root))
    x = phi[smallest]
    _close_cycles(target, label, x)
    skipped = {x, phi[leaf + 1]}
    symbols = tuple((target[v], label[v]) for v in range(1, n - k + 1) if v not in skipped)
    return DandelionCode(n, tuple(v + 1 for v in root), symbols)


def _relabelling(n: int, q: Sequence[int]) -> dict[int, int]:
    """Return phi, which maps Q to the largest labels and the displaced labels to those left."""
    low = n - len(q)
    phi = {v: v for v in range(1, n + 1)}
    phi.update({label: low + i for i, label in enumerate(q, start=1)})
    for v in range(low + 1, n + 1):
        if v in q:
            continue
        place = v
        while place > low:
            place = q[place - low - 1]
        phi[v] = place
    return phi


def _regrow(
    adjacent: Sequence[frozenset[int]], root: Sequence[int], k: int
) -> tuple[list[int], dict[int, frozenset[int]]]:
    """Return the vertices outside the root, oldest first, and what each is attached to."""
    degree = [len(around) for around in adjacent]
    protected = set(root)
    leaves = [v for v in range(len(adjacent)) if degree[v] == k and v not in protected]
    gone: list[int] = []
    left = set(range(len(adjacent)))
    attached_to: dict[int, frozenset[int]] = {}
    while leaves:
        v = leaves.pop()
        attached_to[v] = frozenset(adjacent[v] & left)
        left.discard(v)
        gone.append(v)
        for u in attached_to[v]:
            degree[u] -= 1
            if degree[u] == k and u not in protected:
                leaves.append(u)
    return gone[::-1], attached_to


def _characteristic_tree(
    order: Sequence[int],
    attached_to: dict[int, frozenset[int]],
    root: Sequence[int],
    phi: dict[int, int],
) -> tuple[dict[int, int], dict[int, int]]:
    """Return for each node its parent and the label of the edge, in the labels of phi."""
    age = {v: i for i, v in enumerate(order)} | dict.fromkeys(root, -1)
    target: dict[int, int] = {}
    label: dict[int, int] = {}
    for v in order:
        newest = max(attached_to[v], key=age.__getitem__)
        node = phi[v + 1]
        if age[newest] < 0:
            target[node], label[node] = 0, 0
            continue
        (out,) = attached_to[newest] - attached_to[v]
        ranked = sorted(phi[u + 1] for u in attached_to[newest])
        target[node], label[node] = phi[newest + 1], ranked.index(phi[out + 1]) + 1
    return target, label


def _close_cycles(target: dict[int, int], label: dict[int, int], x: int) -> None:
    """Undo the breaking of cycles: swap x with each node on its path larger than all after it."""
    path = []
    v = target[x]
    while v != 0:
        path.append(v)
        v = target[v]
    peaks: list[int] = []
    for v in reversed(path):
        if not peaks or v > peaks[-1]:
            peaks.append(v)
    for peak in reversed(peaks):
        target[x], target[peak] = target[peak], target[x]
        label[x], label[peak] = label[peak], label[x]
