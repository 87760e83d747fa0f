"""Scores computed by a user-defined function, one parent set at a time."""

from __future__ import annotations

import itertools
import math
from bisect import insort
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from twbn import interrupts
from twbn.errors import MemoryLimitError
from twbn.interrupts import keeps_best
from twbn.scores.estimate import estimate
from twbn.scores.kinds import checked_value, score_name
from twbn.scores.protocol import ScoringInfo
from twbn.scores.score_table import ScoreTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from twbn.data.table import Table
    from twbn.deadline import Deadline
    from twbn.scores.protocol import ScoringStatus
    from twbn.scores.rules import ParentRules

__all__ = ["score_with_function"]

#: Memory that one set takes in the dictionaries of this module.
BYTES_PER_SET = 400

Sets = dict[tuple[int, ...], float]


@keeps_best
def score_with_function(
    table: Table,
    score: Callable[[Table, int, tuple[int, ...]], float],
    rules: ParentRules,
    *,
    prune: bool,
    budget: int | None,
    deadline: Deadline,
    max_bytes: int,
    on_progress: Callable[[int, int], None] | None,
) -> ScoreTable:
    """Return the scores of all sets by size or, with a budget, of the most promising ones.

    The results are those of the compiled scores, except for the order in which a budget is spent:
    after the single parents, best first by the estimate of `core/scores/best_first.h`.
    """
    table.require_complete("scoring")
    table.require_usable("scoring")
    n = table.n_variables
    most = int(rules.max_parents.max())
    total = estimate(n, most).n_sets if budget is None else n * (n + budget)
    if min(total, estimate(n, most).n_sets) * BYTES_PER_SET > max_bytes:
        msg = (
            f"{total:,} parent sets scored by a function need {total * BYTES_PER_SET / 2**30:.1f} "
            f"GiB, more than the memory limit of {max_bytes / 2**30:.1f} GiB; give a smaller "
            "max_parents or budget"
        )
        raise MemoryLimitError(msg)
    run = _Run(table, score, rules, deadline, total, on_progress)
    sets = run.by_size() if budget is None else run.promising(budget)
    kept = [_kept(found, rules, child, prune) for child, found in enumerate(sets)]
    info = ScoringInfo(
        score=score_name(score),
        status=run.status,
        complete_size=run.complete_size,
        n_scored=run.n_scored,
        seconds=deadline.seconds,
        fingerprint=table.fingerprint,
        coding=table.coding,
        n_states=tuple(table.n_states.tolist()),
    )
    if any(not found for found in kept) and run.status == "interrupted":
        raise KeyboardInterrupt
    return ScoreTable.from_sets(table.names, kept, info)


@dataclass
class _Run:
    """One run of the function over parent sets, until the time is over."""

    table: Table
    score: Callable[[Table, int, tuple[int, ...]], float]
    rules: ParentRules
    deadline: Deadline
    total: int
    on_progress: Callable[[int, int], None] | None
    status: ScoringStatus = "complete"
    complete_size: int = -1
    n_scored: int = 0

    def by_size(self) -> list[Sets]:
        """Return all sets up to the largest size that is complete."""
        n, most = self.table.n_variables, self.rules.max_parents
        found: list[Sets] = [{} for _ in range(n)]
        for size in range(int(most.max()) + 1):
            level: list[Sets] = [{} for _ in range(n)]
            for child in range(n):
                if size > most[child]:
                    continue
                for parents in itertools.combinations(self._candidates(child), size):
                    if size > 0 and self._over():
                        return found
                    level[child][parents] = self._value(child, parents)
                self._report()
            for sets, new in zip(found, level, strict=True):
                sets.update(new)
            self.complete_size = size
        return found

    def promising(self, budget: int) -> list[Sets]:
        """Return, for each variable, all single parents and `budget` larger sets, best first."""
        found: list[Sets] = []
        for child in range(self.table.n_variables):
            required = self.rules.required[child]
            sets = {family: self._value(child, family) for family in {(), required}}
            found.append(sets)
            for n_larger, parents in enumerate(self._by_promise(child, sets)):
                if self._over() or n_larger >= budget:
                    break
                sets[parents] = self._value(child, parents)
            self._report()
        self.complete_size = 1 if self.status == "complete" else 0
        self.status = "budget" if self.status == "complete" else self.status
        return found

    def _by_promise(self, child: int, sets: Sets) -> Iterator[tuple[int, ...]]:
        """Yield sets of two or more parents; the caller scores each one before taking the next."""
        most = int(self.rules.max_parents[child])
        singles: list[tuple[float, int]] = []
        for parent in self._candidates(child) if most else []:
            if self._over():
                return
            sets[parent,] = self._value(child, (parent,))
            insort(singles, (-sets[parent,], parent))
        heap: list[tuple[float, tuple[int, ...], int]] = []

        def push(base: tuple[int, ...], place: int) -> None:
            while place < len(singles) and singles[place][1] in base:
                place += 1
            if len(base) < most and place < len(singles):
                estimate = -sets[base] + singles[place][0] + sets[()]
                heappush(heap, (estimate, base, place))

        required = self.rules.required[child]
        for base in [required] if required else [(parent,) for _, parent in singles]:
            push(base, 0)
        while heap:
            _, base, place = heappop(heap)
            push(base, place + 1)
            parents = tuple(sorted((*base, singles[place][1])))
            if parents not in sets:
                yield parents
                if parents in sets:
                    push(parents, 0)

    def _candidates(self, child: int) -> list[int]:
        return [v for v in range(self.table.n_variables) if self.rules.allowed[child, v]]

    def _value(self, child: int, parents: tuple[int, ...]) -> float:
        self.n_scored += 1
        value = self.score(self.table, child, parents)
        return checked_value(value, self.table, child, parents)

    def _over(self) -> bool:
        if interrupts.pending():
            self.status = "interrupted"
        elif self.deadline.passed:
            self.status = "time_limit"
        return self.status in {"interrupted", "time_limit"}

    def _report(self) -> None:
        if self.on_progress is not None:
            self.on_progress(min(self.n_scored, self.total), self.total)


def _kept(found: Sets, rules: ParentRules, child: int, prune: bool) -> Sets:
    """Return the admitted sets; with `prune`, only those better than all their scored subsets."""
    best: Sets = {}  # over the set and its scored subsets
    kept: Sets = {}
    for parents, value in sorted(found.items(), key=lambda item: len(item[0])):
        smaller = (parents[:i] + parents[i + 1 :] for i in range(len(parents)))
        limit = max((best[s] for s in smaller if s in best), default=-math.inf)
        wanted = rules.admits(child, parents)
        if wanted and (not prune or value > limit):
            kept[parents] = value
        best[parents] = max(limit, value if wanted else -math.inf)
    return kept
