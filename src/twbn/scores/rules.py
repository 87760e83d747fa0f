"""Constraints on parent sets: sizes, required and forbidden arcs, tiers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn.checks import checked_whole, unknown
from twbn.errors import Option, OptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ParentRules",
    "RuleOptions",
    "listed_pairs",
    "listed_rules",
    "make_rules",
    "within_treewidth",
]


@dataclass(frozen=True)
class ParentRules:
    """Rules by position: `allowed[child, parent]`, required parents, largest sizes.

    If joint states are limited, `n_states` has the number of states of each variable, and no family
    has more than `max_states`.
    """

    max_parents: NDArray[np.int32]
    allowed: NDArray[np.uint8]
    required: tuple[tuple[int, ...], ...]
    max_states: int | None = None
    n_states: tuple[int, ...] = ()

    def within_states(self, max_states: int, n_states: Sequence[int]) -> ParentRules:
        """Return the rules without families of more joint states than that."""
        counts = np.array(n_states, dtype=np.float64)
        fitting = np.outer(counts, counts) <= max_states
        return replace(
            self,
            allowed=self.allowed & fitting.astype(np.uint8),
            max_states=max_states,
            n_states=tuple(map(int, n_states)),
        )

    def admits(self, child: int, parents: Sequence[int]) -> bool:
        """Say whether `parents` may be the parent set of `child`."""
        return (
            len(parents) <= self.max_parents[child]
            and all(self.allowed[child, p] for p in parents)
            and set(self.required[child]).issubset(parents)
            and (
                self.max_states is None
                or math.prod(self.n_states[v] for v in (child, *parents)) <= self.max_states
            )
        )


class RuleOptions(NamedTuple):
    """Rules by name, as a caller gives them.

    Parameters
    ----------
    max_parents
        Largest parent set, for all variables or by name (3 for those not named); None: no limit.
    required, forbidden
        Arcs (parent, child) that must or must not be present.
    tiers
        Groups of variables in order: no arc leads from a later group to an earlier one.
        Variables in no group are free.
    roots, leaves
        Variables without parents, and without children.
    """

    max_parents: int | Mapping[str, int] | None = 3
    required: Iterable[tuple[str, str]] = ()
    forbidden: Iterable[tuple[str, str]] = ()
    tiers: Sequence[Iterable[str]] | None = None
    roots: Iterable[str] = ()
    leaves: Iterable[str] = ()


def listed_pairs(kind: str, pairs: Any) -> list[tuple[str, str]]:
    """Return pairs of names, given as such or as texts like ``"a -> b"``; OptionError if not so.

    Examples
    --------
    >>> listed_pairs("required", [("rain", "wet"), "sun -> dry"])
    [('rain', 'wet'), ('sun', 'dry')]
    """
    example = "such as [('a', 'b')] or ['a -> b']"
    if isinstance(pairs, str | Mapping) or not isinstance(pairs, Iterable):
        raise OptionError(Option(kind), f" takes a list of pairs {example}, got {pairs!r}")
    found = []
    for pair in pairs:
        parts = [part.strip() for part in pair.split("->")] if isinstance(pair, str) else pair
        named = isinstance(parts, Sequence) and len(parts) == 2
        if not named or not all(isinstance(part, str) and part for part in parts):
            raise OptionError(Option(kind), f" takes pairs {example}, got {pair!r}")
        if parts[0] == parts[1]:
            arc = kind in {"required", "forbidden"}
            what = "leads from a variable to itself" if arc else "names one variable twice"
            raise OptionError(Option(kind), f": {tuple(parts)!r} {what}")
        found.append((parts[0], parts[1]))
    return found


def listed_names(kind: str, names: Any) -> list[str]:
    """Return names, of which one may stand alone; OptionError if they are none."""
    given = [names] if isinstance(names, str) else names
    listed = list(given) if isinstance(given, Iterable) else []
    if not isinstance(given, Iterable) or not all(isinstance(name, str) for name in listed):
        raise OptionError(Option(kind), f" takes names of variables, got {names!r}")
    return listed


def listed_tiers(tiers: Any) -> list[list[str]] | None:
    """Return groups of names; OptionError if they are none."""
    if tiers is None:
        return None
    if isinstance(tiers, str) or not isinstance(tiers, Iterable):
        raise OptionError(Option("tiers"), f" takes lists of variables, got {tiers!r}")
    return [listed_names("tiers", tier) for tier in tiers]


def listed_rules(options: RuleOptions) -> dict[str, Any]:
    """Return the rules as plain lists; OptionError for what is no rule, whatever the variables."""
    return {
        "max_parents": options.max_parents,
        "required": listed_pairs("required", options.required),
        "forbidden": listed_pairs("forbidden", options.forbidden),
        "tiers": listed_tiers(options.tiers),
        "roots": listed_names("roots", options.roots),
        "leaves": listed_names("leaves", options.leaves),
    }


def make_rules(names: Sequence[str], options: RuleOptions) -> ParentRules:
    """Return the rules by position, or raise OptionError saying which of them make no sense."""
    max_parents, required, forbidden, tiers, roots, leaves = options
    n = len(names)
    position = {name: v for v, name in enumerate(names)}
    allowed = np.ones((n, n), dtype=np.uint8)
    np.fill_diagonal(allowed, 0)
    for parent, child in _arcs(forbidden, position, "forbidden"):
        allowed[child, parent] = 0
    _apply_tiers(allowed, tiers or (), position)
    for root in _variables(roots, position, "roots"):
        allowed[root, :] = 0
    for leaf in _variables(leaves, position, "leaves"):
        allowed[:, leaf] = 0
    sizes = np.minimum(_sizes(names, max_parents), allowed.sum(axis=1)).astype(np.int32)
    needed: list[set[int]] = [set() for _ in range(n)]
    for parent, child in _arcs(required, position, "required"):
        if not allowed[child, parent]:
            msg = (
                f"the arc {names[parent]!r} -> {names[child]!r} is required, "
                "but a forbidden arc, the tiers, a root or a leaf rule it out"
            )
            raise OptionError(msg)
        needed[child].add(parent)
    for child, parents in enumerate(needed):
        if len(parents) > sizes[child]:
            msg = (
                f"{names[child]!r} has {len(parents)} required parents, "
                f"but may have at most {sizes[child]}"
            )
            raise OptionError(msg)
    _check_acyclic(names, needed)
    return ParentRules(sizes, allowed, tuple(tuple(sorted(p)) for p in needed))


def within_treewidth(
    max_parents: int | Mapping[str, int] | None, treewidth: int
) -> int | Mapping[str, int] | None:
    """Return `max_parents` limited to `treewidth`: every family is a clique of the moral graph.

    Sizes given by name are returned unchanged.

    Examples
    --------
    >>> within_treewidth(3, 2), within_treewidth(None, 4), within_treewidth({"a": 5}, 4)
    (2, 4, {'a': 5})
    """
    if max_parents is None:
        return treewidth
    whole = isinstance(max_parents, int | np.integer) and not isinstance(max_parents, bool)
    return min(max_parents, treewidth) if whole else max_parents  # type: ignore[type-var]


def _arcs(
    arcs: Iterable[tuple[str, str]], position: Mapping[str, int], kind: str
) -> Iterable[tuple[int, int]]:
    for arc in listed_pairs(kind, arcs):
        for name in arc:
            if name not in position:
                problem = unknown("variable", name, list(position))
                raise OptionError(Option(kind), f" arc {arc!r}: {problem}")
        yield position[arc[0]], position[arc[1]]


def _variables(names: Iterable[str], position: Mapping[str, int], kind: str) -> Iterable[int]:
    for name in listed_names(kind, names):
        if name not in position:
            problem = unknown("variable", name, list(position))
            raise OptionError(Option(kind), f": {problem}")
        yield position[name]


def _apply_tiers(
    allowed: NDArray[np.uint8], tiers: Sequence[Iterable[str]], position: Mapping[str, int]
) -> None:
    tier_of: dict[int, int] = {}
    for tier, members in enumerate(listed_tiers(tiers) or ()):
        for name in listed_names("tiers", members):
            if name not in position:
                problem = unknown("variable", name, list(position))
                raise OptionError(f"tier {tier + 1}: ", problem)
            if position[name] in tier_of:
                msg = f"{name!r} is in tier {tier_of[position[name]] + 1} and in tier {tier + 1}"
                raise OptionError(msg)
            tier_of[position[name]] = tier
    for child, child_tier in tier_of.items():
        for parent, parent_tier in tier_of.items():
            if parent_tier > child_tier:
                allowed[child, parent] = 0


def _sizes(names: Sequence[str], max_parents: int | Mapping[str, int] | None) -> NDArray[np.int32]:
    n = len(names)
    if max_parents is None:
        return np.full(n, n - 1, dtype=np.int32)
    if isinstance(max_parents, Mapping):
        sizes = np.full(n, 3, dtype=np.int32)
        for name, size in max_parents.items():
            if name not in names:
                problem = unknown("variable", name, names)
                raise OptionError(Option("max_parents"), f": {problem}")
            sizes[list(names).index(name)] = _size(size)
        return sizes
    return np.full(n, min(_size(max_parents), n), dtype=np.int32)


def _size(size: int) -> int:
    return min(checked_whole("max_parents", size, least=0), 2**20)


def _check_acyclic(names: Sequence[str], parents: Sequence[set[int]]) -> None:
    waiting = {v for v, needed in enumerate(parents) if needed}
    done = set(range(len(names))) - waiting
    while waiting:
        ready = {v for v in waiting if parents[v] <= done}
        if not ready:
            cycle = ", ".join(names[v] for v in sorted(waiting))
            msg = f"the required arcs contain a cycle among {cycle}"
            raise OptionError(msg)
        waiting -= ready
        done |= ready
