"""Local scores computed on demand."""

from __future__ import annotations

import copy
import itertools
import threading
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from twbn import _core
from twbn.checks import checked_memory_limit
from twbn.data.fingerprint import fingerprint_of
from twbn.data.frames import as_table
from twbn.data.table import Table
from twbn.scores.kinds import (
    ScoreOption,
    checked_score,
    checked_value,
    score_name,
    scored_data,
)
from twbn.scores.likelihood_bound import likelihood_bound
from twbn.scores.protocol import ScoringInfo, checked_family, total_score
from twbn.scores.rules import ParentRules, RuleOptions, make_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from twbn.scores.held import HeldScores
    from twbn.scores.protocol import HasParents, ParentLists

__all__ = ["LazyScores"]

BYTES_PER_SET = 32  # hashes and score
#: Single parents of each variable from which searches draw candidates, and rows for finding them.
CANDIDATES, MAX_SINGLES_ROWS = 40, 5000


class SingleParents(NamedTuple):
    """Those of variable i are ``parents[offsets[i]:offsets[i + 1]]``."""

    offsets: NDArray[np.int64]
    parents: NDArray[np.int32]


class LazyScores:
    """Local scores of a table, computed on demand and cached in limited memory.

    Thread-safe. When the memory limit is reached, cached scores are discarded and recomputed when
    needed; the values never change. The parameters are those of `compute_scores`.

    Examples
    --------
    >>> table = as_table({"a": [0, 0, 1, 1] * 3, "c": [0, 0, 1, 1] * 3})
    >>> scores = LazyScores(table, score="bic")
    >>> round(scores.local(0, [1]), 6)
    -2.484907
    """

    def __init__(
        self,
        data: Any,
        *,
        score: ScoreOption = "bdeu",
        ess: float = 1.0,
        max_parents: int | Mapping[str, int] | None = 3,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        tiers: Sequence[Iterable[str]] | None = None,
        roots: Iterable[str] = (),
        leaves: Iterable[str] = (),
        memory_limit: float = 1.0,
    ) -> None:
        table = as_table(data)
        checked_score(score, ess)
        checked_memory_limit(memory_limit)
        self._made_of = (table, score, ess, memory_limit)
        self.names = table.names
        name = score_name(score)
        self.info = ScoringInfo(
            name,
            float(ess) if name == "bdeu" else None,
            status="lazy",
            fingerprint=table.fingerprint,
            coding=table.coding,
            n_states=tuple(table.n_states.tolist()),
        )
        self.fingerprint = table.fingerprint
        wanted = RuleOptions(max_parents, required, forbidden, tiers, roots, leaves)
        self.rules = make_rules(table.names, wanted)
        self._single_parents: SingleParents | None = None
        self._likelihood_bound: float | None = None
        self._cache = self._new_cache()

    def _new_cache(self) -> _core.LazyScoreCache | _CallableCache:
        table, score, ess, memory_limit = self._made_of
        max_sets = max(int(memory_limit * 2**30 / BYTES_PER_SET), 1024)
        if not callable(score):
            self._data = scored_data(table, score, ess)
            return _core.LazyScoreCache(self._data, max_sets)
        table.require_complete("scoring")
        table.require_usable("scoring")
        return _CallableCache(partial(_called, score, table), max_sets)

    def __getstate__(self) -> dict[str, Any]:
        # The cache refers to this process's memory; it is recreated when unpickled. Codes travel in
        # the smallest type that holds them.
        state = {key: value for key, value in self.__dict__.items() if key not in _COMPILED}
        table, *rest = self._made_of
        codes = table.codes.astype(np.min_scalar_type(-int(table.n_states.max())))
        state["_made_of"] = (table.names, table.codings, codes, table.weights, *rest)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        names, codings, codes, weights, *rest = state["_made_of"]
        self.__dict__.update(state)
        self._made_of = (Table(names, codings, codes, weights), *rest)
        self._cache = self._new_cache()

    @cached_property
    def lookup(self) -> _core.ScoreLookup:
        """The object through which compiled searches look up scores."""
        if isinstance(self._cache, _CallableCache):
            # Not self.local: the lookup must not keep alive the object that holds it.
            function = partial(_admitted_score, self.rules, self._cache)
            return _core.CallableLookup(function, self.n_variables, self.max_parents)
        rules = self.rules
        required = [list(parents) for parents in rules.required]
        max_states = float("inf") if rules.max_states is None else float(rules.max_states)
        return _core.LazyLookup(
            self._cache, rules.max_parents, rules.allowed, required, max_states, rules.n_states
        )

    def within_states(self, max_states: int) -> LazyScores:
        """Return the same scores, in the same memory, without families of more joint states."""
        limited = copy.copy(self)
        for name in ("lookup", "digest"):
            limited.__dict__.pop(name, None)
        limited._single_parents = None
        n_states = self._made_of[0].n_states.tolist()
        limited.rules = self.rules.within_states(max_states, n_states)
        return limited

    @property
    def by_function(self) -> bool:
        """Whether a Python function gives the scores."""
        return isinstance(self._cache, _CallableCache)

    @property
    def single_parents(self) -> SingleParents | None:
        """The best single parents of each variable, if they were found; `find_single_parents`."""
        return self._single_parents

    def find_single_parents(
        self,
        n_jobs: int = 1,
        time_limit: float | None = None,
        held: HeldScores | None = None,
    ) -> SingleParents | None:
        """Return the best single parents of each variable, best first; None for a function.

        They are found once, in O(n²) time, where there are many rows from some of them; on the
        workers of a cluster where these hold the scores. A variable that is reached too late has
        none.
        """
        if self.by_function or self._single_parents is not None:
            return self._single_parents
        if held is None:
            blocks = [_single_parents(self, 0, self.n_variables, n_jobs, time_limit)]
        else:
            ends = np.linspace(0, self.n_variables, held.n_workers + 1).astype(int).tolist()
            jobs = [(first, last, 1, time_limit) for first, last in itertools.pairwise(ends)]
            blocks = held.map(_single_parents, jobs)
        counts = np.concatenate([counts for counts, _ in blocks])
        parents = np.concatenate([parents for _, parents in blocks])
        self._single_parents = SingleParents(np.concatenate([[0], np.cumsum(counts)]), parents)
        return self._single_parents

    @cached_property
    def digest(self) -> str:
        """A hash of the data, the score and the rules."""
        rules = self.rules
        about = (*self.names, self.info.label, rules.max_states, rules.required)
        return f"{self.fingerprint}-{fingerprint_of(about, (rules.max_parents, rules.allowed))}"

    def trivial_bound(self) -> float:
        """Return the log-likelihood of the rows' own frequencies, which no structure exceeds.

        Infinity where a Python function gives the scores; see `likelihood_bound`.
        """
        if self._likelihood_bound is None:
            table, score, *_ = self._made_of
            self._likelihood_bound = likelihood_bound(table, score)
        return self._likelihood_bound

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def max_parents(self) -> int:
        """Size of the largest parent set."""
        return int(np.max(self.rules.max_parents))

    def local(self, child: int, parents: Sequence[int]) -> float:
        """Return the score of one family; minus infinity where the rules exclude it."""
        family = checked_family(self.names, child, parents)
        return _admitted_score(self.rules, self._cache, int(child), family)

    def total(self, dag: HasParents | ParentLists) -> float:
        """Return the score of a structure."""
        return total_score(self, dag)

    @property
    def n_remembered(self) -> int:
        """Number of scores currently in the cache."""
        return self._cache.n_remembered()

    @property
    def n_computed(self) -> int:
        """Number of scores computed so far."""
        return self._cache.n_computed()

    def __repr__(self) -> str:
        return f"LazyScores({self.n_variables} variables, {self.n_remembered} scores so far)"


#: Attributes of `LazyScores` that cannot be pickled.
_COMPILED = frozenset({"_cache", "_data", "lookup"})


def _single_parents(
    scores: LazyScores, first: int, last: int, n_jobs: int, time_limit: float | None
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return for the variables first .. last - 1 how many single parents are kept, and these."""
    table, score, ess, _ = scores._made_of
    assert isinstance(score, str)
    data = scores._data
    if table.n_rows > MAX_SINGLES_ROWS:
        some = np.linspace(0, table.n_rows - 1, MAX_SINGLES_ROWS).astype(int)
        weights = None if table.weights is None else table.weights[some]
        if weights is None or weights.any():
            rows = Table(table.names, table.codings, table.codes[some], weights)
            data = scored_data(rows, score, ess)
    mine = np.zeros(scores.n_variables, dtype=bool)
    mine[first:last] = True
    sizes = np.where(mine, scores.rules.max_parents, 0).astype(np.int32)
    offsets, parents, interrupted = _core.best_single_parents(
        data, sizes, scores.rules.allowed, CANDIDATES, n_jobs, time_limit
    )
    if interrupted:
        raise KeyboardInterrupt
    return np.diff(offsets)[first:last], parents


def _called(
    score: Callable[[Table, int, tuple[int, ...]], float],
    table: Table,
    child: int,
    parents: tuple[int, ...],
) -> float:
    """Return a function's score of one family, or raise OptionError if it is not a valid score."""
    return checked_value(score(table, child, parents), table, child, parents)


def _admitted_score(
    rules: ParentRules, cache: _core.LazyScoreCache | _CallableCache, child: int, parents: list[int]
) -> float:
    return cache.score(child, parents) if rules.admits(child, parents) else -float("inf")


class _CallableCache:
    """Remembers what a Python function returns; the same interface as the compiled cache."""

    def __init__(self, function: Callable[[int, tuple[int, ...]], float], max_sets: int) -> None:
        self._function = function
        self._max_sets = max_sets
        self._scores: dict[tuple[int, ...], float] = {}
        self._lock = threading.Lock()
        self._n_computed = 0

    def score(self, child: int, parents: Sequence[int]) -> float:
        key = (child, *parents)
        with self._lock:
            if key in self._scores:
                return self._scores[key]
        value = float(self._function(child, tuple(parents)))
        with self._lock:
            self._n_computed += 1
            if len(self._scores) >= self._max_sets:
                self._scores.clear()
            self._scores[key] = value
        return value

    def n_remembered(self) -> int:
        return len(self._scores)

    def n_computed(self) -> int:
        return self._n_computed
