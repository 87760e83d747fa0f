"""What a search returns: a network with its proof."""

from __future__ import annotations

import math
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from twbn.errors import GraphError, TwbnError
from twbn.views import Viewed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from twbn.graphs.dag import Dag
    from twbn.graphs.decomposition import TreeDecomposition
    from twbn.scores.protocol import LocalScores

__all__ = ["STATUSES", "SearchResult", "TracePoint", "VerificationError", "check_network"]

#: How a search may end.
STATUSES = ("optimal", "time_limit", "iteration_limit", "interrupted", "memory_limit")

#: Scores are sums of many logarithms; equal ones may differ by this share from rounding.
TOLERANCE = 1e-9


class VerificationError(TwbnError):
    """A result is not what it claims to be."""


class TracePoint(NamedTuple):
    """The state of a search when it improved."""

    seconds: float
    iteration: int
    score: float
    bound: float


def check_network(
    dag: Dag, decomposition: TreeDecomposition, treewidth: int, scores: LocalScores
) -> float:
    """Return the score of a network, or raise VerificationError saying what is wrong with it.

    From the definitions: every family is in the scores, the decomposition decomposes the moral
    graph, and its width is at most `treewidth`. (A `Dag` is acyclic.)
    """
    if dag.n_vertices != scores.n_variables:
        msg = f"the network has {dag.n_vertices} variables, the scores have {scores.n_variables}"
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
    try:
        decomposition.check(dag.moral_graph())
    except GraphError as error:
        msg = f"the tree decomposition does not fit the network: {error}"
        raise VerificationError(msg) from None
    if decomposition.width > treewidth:
        msg = f"the tree decomposition has width {decomposition.width}, the bound is {treewidth}"
        raise VerificationError(msg)
    return scores.total(dag)


@dataclass(frozen=True)
class SearchResult(Viewed):
    """A network of bounded treewidth, verified when it is made.

    The constructor checks it against `scores` (see `check_network`) and computes the score anew;
    an object of this class is proof that the checks have passed.

    Attributes
    ----------
    score, bound, gap
        Log score; an upper bound for all networks within the treewidth bound; their distance as
        a share of the score.
    status
        ``optimal``, ``time_limit``, ``iteration_limit``, ``interrupted`` or ``memory_limit``.
    decomposition
        Tree decomposition of the moral graph: the proof of the treewidth.
    fingerprint
        Of the data, or of the scores where these came from a file.
    coding
        How the columns of the data were coded, so that other rows can be coded alike; None where
        scores came without data.
    n_accepted
        Of a local search: how many moves were made.
    trace
        Every improvement: seconds, iteration, score, bound.
    """

    scores: InitVar[LocalScores]
    dag: Dag
    decomposition: TreeDecomposition
    treewidth_bound: int
    method: str
    status: str
    bound: float
    n_iterations: int
    seconds: float
    seed: int
    trace: tuple[TracePoint, ...] = ()
    notes: tuple[str, ...] = ()
    n_accepted: int | None = None
    score: float = field(init=False)
    score_name: str = field(init=False)
    ess: float | None = field(init=False)
    names: tuple[str, ...] = field(init=False)
    fingerprint: str | None = field(init=False)
    coding: tuple[Mapping[str, Any], ...] | None = field(init=False, repr=False)

    def __post_init__(self, scores: LocalScores) -> None:
        score = check_network(self.dag, self.decomposition, self.treewidth_bound, scores)
        if self.status not in STATUSES:
            msg = f"status must be one of {list(STATUSES)}, got {self.status!r}"
            raise VerificationError(msg)
        if not score <= self.bound + TOLERANCE * abs(score):
            msg = f"the score {score} exceeds the bound {self.bound}"
            raise VerificationError(msg)
        if scores.info.status not in {"complete", "lazy"}:
            # Sets that were never scored may be better: no proof covers them.
            object.__setattr__(self, "bound", max(self.bound, scores.upper_bound()))
            if self.status == "optimal" and self.bound > score + TOLERANCE * abs(score):
                object.__setattr__(self, "status", "iteration_limit")
                note = "the best among the parent sets that were scored; others may be better"
                object.__setattr__(self, "notes", (*self.notes, note))
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "bound", max(self.bound, score))
        object.__setattr__(self, "score_name", scores.info.score)
        object.__setattr__(self, "ess", scores.info.ess)
        object.__setattr__(self, "names", tuple(scores.names))
        object.__setattr__(self, "fingerprint", scores.fingerprint)
        object.__setattr__(self, "coding", scores.info.coding)

    @property
    def treewidth(self) -> int:
        """The proved width: that of the decomposition."""
        return max(self.decomposition.width, 0)

    @property
    def gap(self) -> float:
        """How far the bound is from the score, as a share of the score; 0 when optimal."""
        if self.bound == self.score:
            return 0.0
        return (self.bound - self.score) / max(abs(self.score), 1e-12)

    @property
    def parents(self) -> dict[str, list[str]]:
        """Parents of each variable, by name."""
        lists: Sequence[Sequence[int]] = self.dag.parents
        return {
            name: [self.names[p] for p in parents]
            for name, parents in zip(self.names, lists, strict=True)
        }

    def __repr__(self) -> str:
        return (
            f"SearchResult({self.method}, score {self.score:.4f}, treewidth {self.treewidth}, "
            f"{len(self.dag.arcs)} arcs, {self.status})"
        )
