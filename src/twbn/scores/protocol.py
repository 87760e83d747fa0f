"""The interface of local scores to a search, precomputed or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from twbn.errors import DataError

if TYPE_CHECKING:
    from twbn import _core

__all__ = [
    "HasParents",
    "LocalScores",
    "ParentLists",
    "ScoringInfo",
    "ScoringStatus",
    "checked_family",
    "parent_lists",
    "total_score",
]

#: How scoring may end. `budget`: only the most promising sets were explored; `lazy`: sets are
#: scored on demand.
ScoringStatus = Literal["complete", "time_limit", "interrupted", "memory_limit", "budget", "lazy"]
ParentLists: TypeAlias = Sequence[Sequence[int]]


@dataclass(frozen=True)
class ScoringInfo:
    """Which score a table holds, and how it was computed."""

    score: str = "unknown"  # bdeu, bic, …, or the name of a function or file
    ess: float | None = None  # equivalent sample size, for BDeu
    status: ScoringStatus = "complete"
    complete_size: int | None = None  # all parent sets up to this size were considered
    n_scored: int = 0
    n_skipped: int = 0  # ruled out by a bound, unscored
    seconds: float = 0.0
    fingerprint: str | None = None  # of the data
    coding: tuple[Mapping[str, Any], ...] | None = None  # of each column, as plain values
    n_states: tuple[int, ...] | None = None  # of each variable, where they are known
    bound: float | None = None  # on any structure's score, where the sets are not complete

    @property
    def label(self) -> str:
        """The score as shown to users, such as ``bdeu, ess 1``."""
        return self.score if self.ess is None else f"{self.score}, ess {self.ess:g}"


class HasParents(Protocol):
    """Anything that has the parents of every variable, such as a Dag."""

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

    @property
    def info(self) -> ScoringInfo:
        """Which score these are, and how they were computed."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash that identifies the data or, if they are unknown, these scores."""
        ...

    @property
    def lookup(self) -> _core.ScoreLookup:
        """The object through which compiled searches look up scores."""
        ...

    def trivial_bound(self) -> float:
        """Return an upper bound on the score of any structure, from the local scores alone."""
        ...

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of one family; minus infinity where it is not a candidate."""
        ...

    def total(self, dag: HasParents | ParentLists) -> float:
        """Return the score of a whole structure."""
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
