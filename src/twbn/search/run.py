"""The options common to all searches, validated once, and the builder of results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from twbn import interrupts
from twbn.checks import checked_n_jobs, checked_seed, checked_time_limit, checked_whole
from twbn.deadline import Deadline
from twbn.errors import Option, OptionError, VerificationError
from twbn.scores.score_table import ScoreTable
from twbn.search.feasibility import conflict
from twbn.search.limit import WidthLimit, width_limit
from twbn.search.relations import RELATIONS, Relations, broken_rules, make_relations
from twbn.search.result import SearchResult
from twbn.search.start import ProvedDag, checked_start

if TYPE_CHECKING:
    from twbn.graphs.dag import Dag
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.scores.protocol import LocalScores
    from twbn.search.result import Status
    from twbn.search.start import Start

__all__ = ["DEFAULT_TIME_LIMIT", "Improvement", "Progress", "Run", "check_limits"]

#: Called with (seconds, iterations, best score).
Progress = Callable[[float, int, float], None]
#: Called with the best result so far.
Improvement = Callable[[SearchResult], None]

#: Seconds that a search may take if neither a time limit nor a number of iterations is given.
DEFAULT_TIME_LIMIT = 10.0


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a search: its limits, start and callbacks, validated on construction.

    Attributes
    ----------
    treewidth, max_states, time_limit, max_iterations, seed, n_jobs, start
    adjacent, ancestors, non_ancestors, on_progress, on_improvement
        As for `twbn.learn`. Without `time_limit` and `max_iterations`, the limit is 10 seconds.
        `treewidth` is never None afterwards.
    enough
        Says of a score whether a search under a time limit may stop with it: for work that goes
        on beside the search.
    method
        The method name recorded in results.
    n, k
        Number of variables; the effective treewidth limit, at most n - 1.
    limit
        What a bag may hold: at most k + 1 variables, and so many joint states.
    relations
        The rules of `adjacent`, `ancestors` and `non_ancestors`, by position.
    first
        The start with a proof of its width, if there is a start.
    workers
        `n_jobs` as a number of threads.
    notes
        What a reader of the result should know from the start.
    unlimited
        Whether no time limit was given: a method that terminates by itself may then run to the end.
    deadline
        The clock, started when the run was made.
    """

    scores: LocalScores = field(kw_only=False)
    treewidth: int | None = None
    max_states: int | None = None
    time_limit: float | None = None
    max_iterations: int | None = None
    seed: int = 0
    n_jobs: int | None = None
    start: Start | None = None
    adjacent: Iterable[tuple[str, str]] = ()
    ancestors: Iterable[tuple[str, str]] = ()
    non_ancestors: Iterable[tuple[str, str]] = ()
    on_progress: Progress | None = None
    on_improvement: Improvement | None = None
    enough: Callable[[float], bool] | None = None
    method: str = "unknown"
    n: int = field(init=False)
    k: int = field(init=False)
    limit: WidthLimit = field(init=False)
    relations: Relations = field(init=False)
    workers: int = field(init=False)
    first: ProvedDag | None = field(init=False)
    unlimited: bool = field(init=False)
    deadline: Deadline = field(init=False)
    notes: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        scores, n = self.scores, self.scores.n_variables
        limit = check_limits(
            self.treewidth, self.time_limit, self.max_iterations, self.seed, self.n_jobs
        )
        self._set("unlimited", limit is None)
        if limit is None and self.max_iterations is None:
            limit = DEFAULT_TIME_LIMIT
        self._set("deadline", Deadline(limit))
        wanted = width_limit(self.treewidth, self.max_states, scores.names, scores.info.n_states)
        self._set("treewidth", wanted.treewidth)
        reason = conflict(scores, wanted.treewidth) if isinstance(scores, ScoreTable) else None
        if reason is not None:
            msg = f"no structure has all its parent sets in the scores: {reason}"
            raise OptionError(msg)
        self._set("n", n)
        self._set("limit", wanted.effective(n))
        self._set("k", self.limit.treewidth)
        self._set("workers", checked_n_jobs(self.n_jobs))
        for name in RELATIONS:
            self._set(name, tuple(getattr(self, name)))
        pairs = (self.adjacent, self.ancestors, self.non_ancestors)
        self._set("relations", make_relations(scores.names, *pairs))
        first = self.start
        if first is not None and not isinstance(first, ProvedDag):
            first = checked_start(first, scores, wanted, limit)
            broken = broken_rules(first.dag.parents, self.relations, scores.names)
            if broken:
                raise OptionError(Option("start"), f" breaks a rule: {broken[0]}")
        self._set("first", first)
        self._set("notes", self._first_notes())

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _first_notes(self) -> tuple[str, ...]:
        notes = []
        if self.treewidth_limit >= self.n > 1:
            notes.append(
                f"a treewidth limit of {self.treewidth} does not restrict {self.n} variables"
            )
        if self.scores.info.status not in {"complete", "lazy"}:
            reason = self.scores.info.status.replace("_", " ")
            notes.append(f"not all parent sets were scored ({reason}), so the bound is weak")
        return tuple(notes)

    @property
    def treewidth_limit(self) -> int:
        """The treewidth limit that was asked for, or that `max_states` implies."""
        assert self.treewidth is not None
        return self.treewidth

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return self.deadline.seconds

    @property
    def time_left(self) -> float | None:
        """Seconds until the time limit; None for a budget in iterations alone."""
        return self.deadline.left

    @property
    def time_left_if_limited(self) -> float | None:
        """Seconds until the time limit given by the user; None if none was given."""
        return None if self.unlimited else self.deadline.left

    def with_changes(self, **changes: Any) -> Run:
        """Return a run with some options changed; its clock starts now.

        A start that was proved once is not proved again.
        """
        if self.first is not None:
            changes.setdefault("start", self.first)
        return replace(self, **changes)

    def half_time(self, **changes: Any) -> Run:
        """Return a run that finds a first structure in half of the time left, without callbacks.

        If this run has no time limit, neither has the returned one.
        """
        seconds = None
        if not self.unlimited:
            seconds = max((self.time_left or 0.0) / 2, 0.001)
        return self.with_changes(
            time_limit=seconds, on_progress=None, on_improvement=None, **changes
        )

    def ended(self, n_iterations: int) -> Status:
        """Return why a search that proved nothing has ended."""
        if interrupts.pending():
            return "interrupted"
        out_of_time = self.deadline.passed and (
            self.max_iterations is None or n_iterations < self.max_iterations
        )
        return "time_limit" if out_of_time else "iteration_limit"

    def tell(self, n_iterations: int, score: float) -> None:
        """Report progress to the caller."""
        if self.on_progress is not None:
            self.on_progress(self.seconds, n_iterations, score)

    def result(
        self,
        dag: Dag,
        decomposition: TreeDecomposition,
        *,
        status: Status,
        bound: float,
        **about: Any,
    ) -> SearchResult:
        """Return a verified result of this run; `about` are further attributes of it."""
        for problem in broken_rules(dag.parents, self.relations, self.scores.names):
            raise VerificationError(problem)
        about.setdefault("notes", self.notes)
        return SearchResult.from_search(
            self.scores,
            dag,
            decomposition,
            treewidth_limit=self.treewidth_limit,
            max_states=self.max_states,
            bound=bound,
            status=status,
            method=self.method,
            seconds=self.seconds,
            seed=int(self.seed),
            **about,
        )


def check_limits(
    treewidth: int | None,
    time_limit: float | None,
    max_iterations: int | None,
    seed: int,
    n_jobs: int | None,
) -> float | None:
    """Return the validated time limit, or raise OptionError naming the invalid option."""
    if treewidth is not None:
        checked_whole("treewidth", treewidth, least=1)
    checked_seed(seed)
    checked_n_jobs(n_jobs)
    if max_iterations is not None:
        checked_whole("max_iterations", max_iterations, least=1, most=2**62)
    return checked_time_limit(time_limit)
