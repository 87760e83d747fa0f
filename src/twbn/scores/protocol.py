"""What every search may ask of scores, precomputed or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from twbn.errors import DataError

__all__ = [
    "HasParents",
    "LocalScores",
    "ParentLists",
    "checked_family",
    "parent_lists",
    "total_score",
]

ParentLists: TypeAlias = Sequence[Sequence[int]]


class HasParents(Protocol):
    """Anything with the parents of every variable: a Dag is."""

    @property
    def parents(self) -> ParentLists:
        """For each variable its parents, by position."""
        ...


@runtime_checkable
class LocalScores(Protocol):
    """Local scores by child and parent set; natural logarithms, higher is better."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        ...

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        ...

    @property
    def max_parents(self) -> int:
        """Size of the largest parent set."""
        ...

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of one family; minus infinity where it is not a candidate."""
        ...

    def total(self, dag: HasParents | ParentLists) -> float:
        """Return the score of a whole network."""
        ...


def checked_family(names: Sequence[str], child: int, parents: Sequence[int]) -> list[int]:
    """Return the parents ascending, or raise DataError unless child and parents are variables."""
    n = len(names)
    family = sorted(int(p) for p in parents)
    for v in (child, *family):
        if not 0 <= v < n:
            msg = f"a variable must be between 0 and {n - 1}, got {v}"
            raise DataError(msg)
    if len(set(family)) < len(family) or child in family:
        msg = f"the parents of {names[child]!r} must be distinct and others than it, got {family}"
        raise DataError(msg)
    return family


def parent_lists(dag: HasParents | ParentLists) -> ParentLists:
    """Return the parents of every variable of a Dag or of plain lists."""
    return dag if isinstance(dag, Sequence) else dag.parents


def total_score(scores: LocalScores, dag: HasParents | ParentLists) -> float:
    """Return the sum of the local scores, in the order of the variables."""
    parents = parent_lists(dag)
    if len(parents) != scores.n_variables:
        msg = f"the network has {len(parents)} variables, the scores have {scores.n_variables}"
        raise DataError(msg)
    return float(sum(scores.local(v, p) for v, p in enumerate(parents)))
