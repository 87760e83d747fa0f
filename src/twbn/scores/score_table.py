"""Precomputed local scores: parent sets of every variable, best first."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn import _core
from twbn.data.fingerprint import fingerprint_of
from twbn.errors import DataError
from twbn.scores.kinds import MAX_TOTAL, SCORES
from twbn.scores.protocol import ScoringInfo, checked_family, total_score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.scores.protocol import HasParents, ParentLists

__all__ = ["ScoreTable"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """Candidate parent sets of every variable with their local scores.

    Invariant: the sets of variable v are the positions ``variable_offsets[v]`` up to
    ``variable_offsets[v + 1]``, best first; the parents of set t, ascending, are
    ``parents[set_offsets[t] : set_offsets[t + 1]]``; no set occurs twice. Arrays are read-only.

    Examples
    --------
    >>> table = ScoreTable.from_sets(["a", "b"], [{(): -3.0}, {(): -5.0, (0,): -2.0}])
    >>> table.local(1, [0])
    -2.0
    >>> table.total([[], [0]])
    -5.0
    >>> table.local(0, [1])
    -inf
    """

    names: tuple[str, ...]
    variable_offsets: NDArray[np.int64]
    scores: NDArray[np.float64]
    set_offsets: NDArray[np.int64]
    parents: NDArray[np.int32]
    info: ScoringInfo = field(default_factory=ScoringInfo)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        for name, kind in (
            ("variable_offsets", np.int64),
            ("scores", np.float64),
            ("set_offsets", np.int64),
            ("parents", np.int32),
        ):
            array = np.ascontiguousarray(getattr(self, name), dtype=kind)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        self._check()

    @classmethod
    def from_sets(
        cls,
        names: Sequence[str],
        sets: Sequence[Mapping[tuple[int, ...], float]],
        info: ScoringInfo | None = None,
    ) -> ScoreTable:
        """Return the table of one mapping {parents: score} per variable."""
        variable_offsets, set_offsets = [0], [0]
        scores: list[float] = []
        parents: list[int] = []
        for families in sets:
            ordered = sorted(
                (
                    (float(score), tuple(sorted(members)))
                    for members, score in families.items()
                    if score != -math.inf  # excluded sets are not stored
                ),
                key=lambda item: (-item[0], len(item[1]), item[1]),
            )
            for score, members in ordered:
                scores.append(score)
                parents.extend(members)
                set_offsets.append(len(parents))
            variable_offsets.append(len(scores))
        return cls(
            tuple(names),
            np.array(variable_offsets, dtype=np.int64),
            np.array(scores, dtype=np.float64),
            np.array(set_offsets, dtype=np.int64),
            np.array(parents, dtype=np.int32),
            info or ScoringInfo(),
        )

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_sets(self) -> int:
        """Number of parent sets of all variables together."""
        return len(self.scores)

    @cached_property
    def max_parents(self) -> int:
        """Size of the largest parent set."""
        return int(self.set_sizes.max(initial=0))

    @property
    def set_sizes(self) -> NDArray[np.int64]:
        """Number of parents of each set."""
        return np.diff(self.set_offsets)

    @property
    def children(self) -> NDArray[np.int64]:
        """The variable that each set belongs to."""
        return np.repeat(np.arange(self.n_variables), np.diff(self.variable_offsets))

    def positions(self, child: int) -> range:
        """Return the positions of a variable's sets among all sets."""
        return range(int(self.variable_offsets[child]), int(self.variable_offsets[child + 1]))

    def position(self, child: int, parents: Sequence[int]) -> int:
        """Return the position of one family among all sets, or -1 where the table lacks it."""
        return self.index.find(int(child), checked_family(self.names, child, parents))

    def parents_at(self, position: int) -> tuple[int, ...]:
        """Return the parents of the set at a position, ascending."""
        first, last = self.set_offsets[position], self.set_offsets[position + 1]
        return tuple(self.parents[first:last].tolist())

    def sets(self, child: int) -> Iterator[tuple[float, tuple[int, ...]]]:
        """Yield (score, parents) of one variable, best first."""
        for position in self.positions(child):
            yield float(self.scores[position]), self.parents_at(position)

    def losses(self) -> NDArray[np.float64]:
        """Return how much worse each set scores than the best set of its variable."""
        return self.best()[self.children] - self.scores

    def spare(self, score: float) -> float:
        """Return how much worse `score` is than the sum of the best local scores."""
        return float(self.best().sum()) - score

    def hopeless(self, score: float) -> NDArray[np.bool_]:
        """Return a mask of the sets that occur in no structure scoring better than `score`.

        Such a set alone loses more, relative to the best set of its variable, than a structure with
        this score loses in total.
        """
        spare = self.spare(score)
        return np.asarray(self.losses() > spare + 1e-6 * max(abs(spare), 1.0))

    @classmethod
    def chosen(cls, table: ScoreTable, kept: NDArray[np.bool_], info: ScoringInfo) -> ScoreTable:
        """Return a table with some of the sets of another table."""
        counts = np.bincount(table.children[kept], minlength=table.n_variables)
        return cls(
            table.names,
            np.concatenate([[0], np.cumsum(counts)]),
            table.scores[kept],
            np.concatenate([[0], np.cumsum(table.set_sizes[kept])]),
            table.parents[np.repeat(kept, table.set_sizes)],
            info,
        )

    @cached_property
    def index(self) -> _core.ScoreIndex:
        """Hash index that finds a family in O(size); built on first use."""
        index = _core.ScoreIndex(self.variable_offsets, self.scores, self.set_offsets, self.parents)
        if index.duplicate() >= 0:
            child = int(np.searchsorted(self.variable_offsets, index.duplicate(), "right")) - 1
            msg = f"a parent set of {self.names[child]!r} occurs twice"
            raise DataError(msg)
        return index

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of one family; minus infinity where the table does not have it."""
        return self.index.score(int(child), checked_family(self.names, child, parents))

    def total(self, dag: HasParents | ParentLists) -> float:
        """Return the score of a structure; minus infinity if the table lacks a family of it."""
        return total_score(self, dag)

    def best(self) -> NDArray[np.float64]:
        """Return the best local score of each variable; their sum bounds every structure's."""
        self._require_sets()
        return self.scores[self.variable_offsets[:-1]]

    @cached_property
    def fingerprint(self) -> str:
        """Hash that identifies the data or, if they are unknown, these scores."""
        return self.info.fingerprint if self.info.fingerprint is not None else self.digest

    @cached_property
    def digest(self) -> str:
        """A hash of names, sets and scores."""
        arrays = (self.variable_offsets, self.scores, self.set_offsets, self.parents)
        return fingerprint_of(self.names, arrays)

    @cached_property
    def lookup(self) -> _core.ScoreLookup:
        """The object through which compiled searches look up scores."""
        return _core.IndexLookup(self.index)

    def trivial_bound(self) -> float:
        """Return an upper bound on the score of any structure.

        This is the sum of the best local scores if all parent sets were considered. Otherwise, sets
        that the table lacks may be better, and the bound is that of the likelihood of the rows
        (`likelihood_bound`) or, where these are not known, zero for built-in scores, which are at
        most log-probabilities, and infinity for a function.
        """
        if self.info.status == "complete":
            return float(sum(self.best().tolist()))
        if self.info.bound is not None:
            return self.info.bound
        return 0.0 if self.info.score in SCORES else float("inf")

    def statistics(self) -> dict[str, Any]:
        """Return counts by variable and by size, and the range of structure scores."""
        sizes = self.set_sizes
        counts = np.diff(self.variable_offsets)
        empty = [self.local(v, ()) for v in range(self.n_variables)]
        return {
            "score": self.info.label,
            "status": self.info.status,
            "n_variables": self.n_variables,
            "n_sets": self.n_sets,
            "sets_by_size": np.bincount(sizes, minlength=1).tolist() if len(sizes) else [],
            "fewest_sets": int(counts.min()),
            "most_sets": int(counts.max()),
            "complete_size": self.info.complete_size,
            "n_scored": self.info.n_scored,
            "n_skipped": self.info.n_skipped,
            "seconds": self.info.seconds,
            "empty_network": float(sum(empty)),
            "sum_of_best": float(self.best().sum()),
        }

    def equals(self, other: ScoreTable) -> bool:
        """Say whether both tables have the same names, sets and scores."""
        return (
            self.names == other.names
            and np.array_equal(self.variable_offsets, other.variable_offsets)
            and np.array_equal(self.scores, other.scores)
            and np.array_equal(self.set_offsets, other.set_offsets)
            and np.array_equal(self.parents, other.parents)
        )

    def __repr__(self) -> str:
        return f"ScoreTable({self.info.label}, {self.n_variables} variables, {self.n_sets} sets)"

    def __reduce__(self) -> tuple[Any, ...]:
        # The hash index refers to this process's memory; it is rebuilt when needed elsewhere.
        arrays = (self.variable_offsets, self.scores, self.set_offsets, self.parents)
        return (ScoreTable, (self.names, *arrays, self.info))

    def _require_sets(self) -> None:
        without = np.flatnonzero(np.diff(self.variable_offsets) == 0)
        if len(without):
            msg = f"variable {self.names[without[0]]!r} has no parent set, not even the empty one"
            raise DataError(msg)

    def _check_totals(self) -> None:
        """Raise DataError if the score of a structure might not be finite."""
        sizes = np.where(np.isfinite(self.scores), np.abs(self.scores), 0.0)
        largest = np.maximum.reduceat(sizes, self.variable_offsets[:-1])
        if float(np.sum(largest / MAX_TOTAL)) > 1.0:
            v = int(largest.argmax())
            msg = (
                f"a score of {self.names[v]!r} is as large as {largest[v]:g}; those of a structure "
                f"must not add up to more than {MAX_TOTAL:g} either way"
            )
            raise DataError(msg)

    def _check(self) -> None:
        n = len(self.names)
        for offsets, end in ((self.variable_offsets, len(self.scores)), (self.set_offsets, None)):
            last = len(self.parents) if end is None else end
            if (
                not len(offsets)
                or offsets[0] != 0
                or offsets[-1] != last
                or np.any(np.diff(offsets) < 0)
            ):
                msg = f"offsets of a score table must rise from 0 to {last}"
                raise DataError(msg)
        if len(self.variable_offsets) != n + 1 or len(self.set_offsets) != len(self.scores) + 1:
            msg = f"the arrays of a score table of {n} variables do not fit together"
            raise DataError(msg)
        self._require_sets()
        if not np.all(np.isfinite(self.scores)):
            msg = "local scores must be finite; leave out sets that are excluded"
            raise DataError(msg)
        self._check_totals()
        if len(self.parents) and (self.parents.min() < 0 or self.parents.max() >= n):
            bad = self.parents.max() if self.parents.max() >= n else self.parents.min()
            msg = f"a parent must be between 0 and {n - 1}, got {bad}"
            raise DataError(msg)
        rises = self.scores[1:] > self.scores[:-1]
        rises[self.variable_offsets[1:-1] - 1] = False  # from one variable to the next
        if rises.any():
            msg = "the sets of each variable must be ordered best first"
            raise DataError(msg)
        owner = np.repeat(self.children, self.set_sizes)
        steps = np.diff(self.parents) <= 0
        starts = self.set_offsets[1:-1]
        steps[starts[(starts > 0) & (starts < len(self.parents))] - 1] = False
        if steps.any() or np.any(owner == self.parents):
            msg = "parents must be ascending, distinct and others than the variable itself"
            raise DataError(msg)
