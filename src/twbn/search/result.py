"""The result of a search: a structure with its score, its bound and its proof."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from twbn.errors import GraphError, VerificationError
from twbn.frame_out import frame_of
from twbn.search.limit import WidthLimit
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twbn.graphs.dag import Dag
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.scores.protocol import LocalScores
    from twbn.search.certificate.proof import Proof

__all__ = [
    "STATUSES",
    "TOLERANCE",
    "SearchResult",
    "Status",
    "TracePoint",
    "check_structure",
    "gap_percent",
    "score_problems",
]

#: How a search may end.
Status = Literal["optimal", "time_limit", "iteration_limit", "interrupted", "memory_limit"]
STATUSES: tuple[Status, ...] = get_args(Status)

#: Scores are sums of many logarithms; equal ones may differ by this fraction from rounding.
TOLERANCE = 1e-9


#: Attributes of a result that cannot change without a check.
_FIXED = frozenset(
    {"dag", "decomposition", "names", "score", "treewidth_limit", "max_states", "n_states"}
)


class TracePoint(NamedTuple):
    """The state of a search when it improved."""

    seconds: float
    iteration: int
    score: float
    bound: float


def check_structure(
    dag: Dag, decomposition: TreeDecomposition, limit: WidthLimit, scores: LocalScores
) -> float:
    """Return the score of a structure, or raise VerificationError saying what is wrong with it.

    From the definitions: every family is in the scores, the decomposition decomposes the moral
    graph, and its bags are within the limit. (A `Dag` is acyclic.)
    """
    if dag.n_vertices != scores.n_variables:
        msg = f"the structure has {dag.n_vertices} variables, the scores have {scores.n_variables}"
        raise VerificationError(msg)
    for child, parents in enumerate(dag.parents):
        local = scores.local(child, parents)
        names = [scores.names[p] for p in parents]
        if local == -math.inf:
            msg = f"the parents {names} of {scores.names[child]!r} are not in the scores"
            raise VerificationError(msg)
        if not math.isfinite(local):
            msg = f"the score of {scores.names[child]!r} given {names} is {local}, not a number"
            raise VerificationError(msg)
    _check_width(dag, decomposition, limit, scores.names)
    return scores.total(dag)


def score_problems(
    names: tuple[str, ...],
    claimed: float,
    scores: LocalScores,
    checked_score: Callable[[], float],
) -> list[str]:
    """Return a list of what is wrong with the claimed names and score; empty if they are right.

    `checked_score` computes the score, or raises VerificationError.
    """
    if tuple(scores.names) != names:
        unknown = [name for name in names if name not in scores.names]
        detail = f"{unknown[0]!r} is not in the data" if unknown else "their order differs"
        return [f"the variables are not those of the data: {detail}"]
    try:
        score = checked_score()
    except VerificationError as error:
        return [str(error)]
    if not math.isclose(score, claimed, rel_tol=TOLERANCE, abs_tol=1e-6):
        return [f"the score is {score:.6f}, the result says {claimed:.6f}"]
    return []


def _check_width(
    dag: Dag, decomposition: TreeDecomposition, limit: WidthLimit, names: tuple[str, ...]
) -> None:
    try:
        decomposition.check(dag.moral_graph())
    except GraphError as error:
        msg = f"the tree decomposition does not fit the structure: {error.with_names(names)}"
        raise VerificationError(msg) from None
    if decomposition.width > limit.treewidth:
        msg = (
            f"the tree decomposition has width {decomposition.width}, "
            f"the limit is {limit.treewidth}"
        )
        raise VerificationError(msg)
    if limit.max_states is None:
        return
    if limit.n_states is None or len(limit.n_states) != len(names):
        msg = "the limit on joint states needs the number of states of every variable"
        raise VerificationError(msg)
    states = decomposition.largest_states(limit.n_states)
    if states > limit.max_states:
        msg = f"a bag has {states:,} joint states, the limit is {limit.max_states:,}"
        raise VerificationError(msg)


def gap_percent(score: float, bound: float) -> float:
    """Return how far a bound is above a score, in per cent of the score."""
    return 0.0 if bound == score else 100 * (bound - score) / max(abs(score), 1e-12)


@dataclass(frozen=True, kw_only=True)
class SearchResult(Viewed):
    """A structure of bounded treewidth with its proof.

    Searches create it with `from_search`, which checks the structure against the scores and
    recomputes its score. The constructor itself checks only what needs no scores: that the
    decomposition proves the width, and that score, bound and status agree. A result read from a
    file (`read_result`) therefore has the same type and the same attributes; use `verify` to check
    its score against the data.

    Attributes
    ----------
    score, bound, gap, gap_percent
        Log score; an upper bound on the score of every structure within the treewidth limit; the
        difference between them in nats, and in per cent of the score.
    status
        ``optimal``, ``time_limit``, ``iteration_limit``, ``interrupted`` or ``memory_limit``.
    decomposition
        Tree decomposition of the moral graph: the proof of the treewidth.
    fingerprint
        Identifies the data, or the scores where these came from a file.
    coding
        How the columns of the data were coded, so that new rows can be coded the same way; None if
        the scores came without data.
    data_options
        How the data file was read, if there was one.
    max_states, n_states, largest_bag_states
        The limit on the joint states of a bag, if there is one; the number of states of each
        variable and the joint states of the largest bag, where they are known.
    verified
        Whether the score was recomputed from local scores when this object was created; False for
        a result read from a file.
    proof
        The search tree behind an optimal result, if it was asked for (`learn(certificate=...)`).
    n_accepted
        Of a local search: how many moves were made.
    trace
        Every improvement: seconds, iteration, score, bound.
    """

    dag: Dag
    decomposition: TreeDecomposition
    names: tuple[str, ...]
    treewidth_limit: int
    score: float
    bound: float
    status: Status
    method: str
    n_iterations: int = 0
    seconds: float = 0.0
    seed: int = 0
    trace: tuple[TracePoint, ...] = ()
    notes: tuple[str, ...] = ()
    n_accepted: int | None = None
    score_name: str = "unknown"
    ess: float | None = None
    fingerprint: str | None = None
    coding: tuple[Mapping[str, Any], ...] | None = field(default=None, repr=False)
    data_options: Mapping[str, Any] = field(default_factory=dict)
    verified: bool = field(default=False, compare=False)
    proof: Proof | None = field(default=None, repr=False, compare=False)
    max_states: int | None = None
    n_states: tuple[int, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.dag.n_vertices != len(self.names):
            msg = f"the structure has {self.dag.n_vertices} variables, but {len(self.names)} names"
            raise VerificationError(msg)
        object.__setattr__(self, "dag", self.dag.named(self.names))
        _check_width(self.dag, self.decomposition, self.limit, self.names)
        self._check_claims()

    def _check_claims(self) -> None:
        if self.status not in STATUSES:
            msg = f"the status must be one of {list(STATUSES)}, got {self.status!r}"
            raise VerificationError(msg)
        if not self.score <= self.bound + TOLERANCE * abs(self.score):
            msg = f"the score {self.score} exceeds the bound {self.bound}"
            raise VerificationError(msg)
        object.__setattr__(self, "bound", max(self.bound, self.score))

    @classmethod
    def from_search(
        cls,
        scores: LocalScores,
        dag: Dag,
        decomposition: TreeDecomposition,
        *,
        treewidth_limit: int,
        bound: float,
        status: Status,
        max_states: int | None = None,
        **about: Any,
    ) -> SearchResult:
        """Return the result of a search, with the structure checked against the scores.

        `about` holds attributes that need no checking: method, seconds, notes and so on.
        """
        limit = WidthLimit(treewidth_limit, max_states, scores.info.n_states)
        score = check_structure(dag, decomposition, limit, scores)
        if scores.info.status not in {"complete", "lazy"}:
            # Sets that were never scored may be better: no proof covers them.
            bound = max(bound, scores.trivial_bound())
            if status == "optimal" and bound > score + TOLERANCE * abs(score):
                status = "iteration_limit"
                note = "the best among the parent sets that were scored; others may be better"
                about["notes"] = (*about.get("notes", ()), note)
        return cls(
            dag=dag,
            decomposition=decomposition,
            names=tuple(scores.names),
            treewidth_limit=treewidth_limit,
            max_states=max_states,
            n_states=scores.info.n_states,
            score=score,
            bound=bound,
            status=status,
            score_name=scores.info.score,
            ess=scores.info.ess,
            fingerprint=scores.fingerprint,
            coding=scores.info.coding,
            verified=True,
            **about,
        )

    def but(self, **changes: Any) -> SearchResult:
        """Return the result with other notes, method, times, trace, bound or status.

        The structure and its score stay, so they are not checked again.
        """
        fixed = _FIXED & changes.keys()
        assert not fixed, f"{fixed} need a new result"
        changed = copy.copy(self)
        for name, value in changes.items():
            assert hasattr(self, name), name
            object.__setattr__(changed, name, value)
        changed._check_claims()
        return changed

    def noted(self, *notes: str) -> SearchResult:
        """Return the result with more notes."""
        return self.but(notes=(*self.notes, *notes)) if notes else self

    def verify(self, scores: LocalScores) -> list[str]:
        """Return a list of what is wrong with the result, judged by `scores` alone; empty if right.

        Claims that nothing better exists (status ``optimal``, the bound) are not proved again.
        """
        return score_problems(self.names, self.score, scores, lambda: self._checked_score(scores))

    def _checked_score(self, scores: LocalScores) -> float:
        n_states = scores.info.n_states or self.n_states
        limit = WidthLimit(self.treewidth_limit, self.max_states, n_states)
        return check_structure(self.dag, self.decomposition, limit, scores)

    @property
    def limit(self) -> WidthLimit:
        """What a bag of the decomposition may hold."""
        return WidthLimit(self.treewidth_limit, self.max_states, self.n_states)

    @property
    def largest_bag_states(self) -> int | None:
        """Joint states of the largest bag; None where numbers of states are not known."""
        return None if self.n_states is None else self.decomposition.largest_states(self.n_states)

    @property
    def treewidth(self) -> int:
        """The proved treewidth, which is the width of the decomposition."""
        return max(self.decomposition.width, 0)

    @property
    def gap(self) -> float:
        """How far the bound is above the score, in nats; 0 when optimal."""
        return 0.0 if self.bound == self.score else self.bound - self.score

    @property
    def gap_percent(self) -> float:
        """How far the bound is above the score, in per cent of the score."""
        return gap_percent(self.score, self.bound)

    @property
    def parents(self) -> dict[str, list[str]]:
        """Parents of each variable, by name."""
        return {
            name: [self.names[p] for p in parents]
            for name, parents in zip(self.names, self.dag.parents, strict=True)
        }

    def families_to_frame(self, kind: str = "pandas") -> Any:
        """Return a frame with a row for each variable: its parents, by commas, and their number."""
        families = self.parents
        columns: dict[str, list[Any]] = {
            "variable": list(families),
            "parents": [", ".join(parents) for parents in families.values()],
            "n_parents": [len(parents) for parents in families.values()],
        }
        return frame_of(columns, kind)

    def trace_to_frame(self, kind: str = "pandas") -> Any:
        """Return score and bound over time as a frame: seconds, iteration, score, bound."""
        columns = list(zip(*self.trace, strict=True)) or [()] * len(TracePoint._fields)
        return frame_of(dict(zip(TracePoint._fields, columns, strict=True)), kind)

    def __repr__(self) -> str:
        return (
            f"SearchResult({self.method}, score {self.score:.4f}, treewidth {self.treewidth}, "
            f"{len(self.dag.arcs)} arcs, {self.status})"
        )
