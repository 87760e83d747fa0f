"""Rules that no single family decides: who must be joined to whom, and who whose ancestor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from twbn import _core
from twbn.checks import unknown
from twbn.errors import Option, OptionError
from twbn.scores.rules import listed_pairs

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

__all__ = ["RELATIONS", "Relations", "broken_rules", "is_ancestor", "make_relations", "said"]

#: The options that give relations.
RELATIONS = ("adjacent", "ancestors", "non_ancestors")

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Relations:
    """Rules on pairs of variables, by position.

    Attributes
    ----------
    adjacent
        Pairs that an arc must join, in either direction.
    ancestors, non_ancestors
        Pairs (a, b): a path of arcs must, or must not, lead from a to b.

    Examples
    --------
    >>> rules = Relations(adjacent=((0, 1),), ancestors=((0, 2),))
    >>> list(rules.broken([[], [0], [1]])), list(rules.broken([[], [], [1]]))
    ([], [('adjacent', (0, 1)), ('ancestors', (0, 2))])
    """

    adjacent: tuple[Pair, ...] = ()
    ancestors: tuple[Pair, ...] = ()
    non_ancestors: tuple[Pair, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.adjacent or self.ancestors or self.non_ancestors)

    @property
    def pairs(self) -> tuple[tuple[Pair, ...], ...]:
        """The pairs of each kind, in the order of `RELATIONS`."""
        return self.adjacent, self.ancestors, self.non_ancestors

    def broken(self, parents: Sequence[Collection[int]]) -> Iterator[tuple[str, Pair]]:
        """Yield the kind and the pair of each rule that a structure breaks."""
        for a, b in self.adjacent:
            if a not in parents[b] and b not in parents[a]:
                yield "adjacent", (a, b)
        for kind, pairs in (("ancestors", self.ancestors), ("non_ancestors", self.non_ancestors)):
            for a, b in pairs:
                if is_ancestor(parents, a, b) == (kind == "non_ancestors"):
                    yield kind, (a, b)

    @cached_property
    def compiled(self) -> _core.Relations:
        """The same for the compiled core."""
        return _core.Relations(self.adjacent, self.ancestors, self.non_ancestors)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "compiled"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)


def said(kind: str, a: str, b: str) -> str:
    """Return a rule as a sentence.

    Examples
    --------
    >>> said("ancestors", "rain", "wet")
    "'rain' must be an ancestor of 'wet'"
    """
    if kind == "adjacent":
        return f"an arc must join {a!r} and {b!r}"
    must = "must" if kind == "ancestors" else "must not"
    return f"{a!r} {must} be an ancestor of {b!r}"


def broken_rules(
    parents: Sequence[Collection[int]], relations: Relations, names: Sequence[str]
) -> list[str]:
    """Return each rule that a structure breaks, as a sentence."""
    broken = relations.broken(parents)
    return [f"{said(kind, names[a], names[b])}" for kind, (a, b) in broken]


def is_ancestor(parents: Sequence[Collection[int]], a: int, b: int) -> bool:
    """Say whether a path of arcs leads from a to b."""
    seen, stack = {b}, [b]
    while stack:
        for p in parents[stack.pop()]:
            if p == a:
                return True
            if p not in seen:
                seen.add(p)
                stack.append(p)
    return False


def make_relations(
    names: Sequence[str],
    adjacent: Iterable[tuple[str, str]] = (),
    ancestors: Iterable[tuple[str, str]] = (),
    non_ancestors: Iterable[tuple[str, str]] = (),
) -> Relations:
    """Return the rules by position, or raise OptionError for what is no pair of variables."""
    position = {name: v for v, name in enumerate(names)}
    return Relations(
        tuple(_pairs("adjacent", adjacent, position)),
        tuple(_pairs("ancestors", ancestors, position)),
        tuple(_pairs("non_ancestors", non_ancestors, position)),
    )


def _pairs(
    kind: str, pairs: Iterable[tuple[str, str]], position: dict[str, int]
) -> Iterator[tuple[int, int]]:
    for pair in listed_pairs(kind, pairs):
        for name in pair:
            if name not in position:
                problem = unknown("variable", name, list(position))
                raise OptionError(Option(kind), f" {pair!r}: {problem}")
        yield position[pair[0]], position[pair[1]]
