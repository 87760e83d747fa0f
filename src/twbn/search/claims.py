"""What a result file says, before any of it is checked."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from twbn.errors import GraphError, VerificationError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.search.limit import WidthLimit
from twbn.search.result import (
    STATUSES,
    TOLERANCE,
    SearchResult,
    TracePoint,
    check_structure,
    gap_percent,
    score_problems,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from twbn.scores.protocol import LocalScores

__all__ = ["ResultClaims"]


@dataclass(frozen=True, kw_only=True)
class ResultClaims:
    """What a result file says, before any of it is checked."""

    names: tuple[str, ...]
    parents: Mapping[str, list[str]]
    bags: tuple[tuple[str, ...], ...]
    tree_edges: tuple[tuple[int, int], ...]
    score: float
    bound: float
    gap: float
    gap_percent: float
    status: str
    n_variables: int
    treewidth: int
    largest_bag_states: int | None
    trace: tuple[TracePoint, ...]
    data_options: Mapping[str, Any]
    score_name: str
    ess: float | None
    #: The other attributes of a `SearchResult`, which need no checking.
    about: Mapping[str, Any]

    def result(self) -> SearchResult:
        """Return the claims as a result; raise VerificationError if they do not form one."""
        return SearchResult(
            dag=self.dag(),
            decomposition=self.decomposition(),
            names=self.names,
            score=self.score,
            bound=self.bound,
            status=self.status,  # type: ignore[arg-type]  # checked by the constructor
            trace=self.trace,
            data_options=self.data_options,
            score_name=self.score_name,
            ess=self.ess,
            **self.about,
        )

    def dag(self) -> Dag:
        """Return the structure; VerificationError if the file's arcs are not those of a DAG."""
        position = self._positions()
        try:
            return Dag(tuple(tuple(position[p] for p in self.parents[name]) for name in self.names))
        except KeyError as error:
            msg = f"parents: {error.args[0]!r} is not among the names, or has no entry"
            raise VerificationError(msg) from None
        except GraphError as error:
            raise VerificationError(*error.with_names(self.names).parts) from None

    def decomposition(self) -> TreeDecomposition:
        """Return the decomposition; VerificationError if it is not a tree of bags."""
        position = self._positions()
        try:
            bags = tuple(frozenset(position[v] for v in bag) for bag in self.bags)
            return TreeDecomposition(bags, self.tree_edges)
        except KeyError as error:
            msg = f"decomposition: {error.args[0]!r} is not among the names"
            raise VerificationError(msg) from None
        except GraphError as error:
            raise VerificationError("decomposition: ", *error.parts) from None

    def verify(self, scores: LocalScores) -> list[str]:
        """Return a list of what is wrong with the file, judged by `scores`; empty if right."""
        n_states = scores.info.n_states or self.about["n_states"]
        limit = WidthLimit(self.about["treewidth_limit"], self.about["max_states"], n_states)
        problems = score_problems(
            self.names,
            self.score,
            scores,
            lambda: check_structure(self.dag(), self.decomposition(), limit, scores),
        )
        return problems + self._data_problems(scores) + self.contradictions()

    def verify_structure(self) -> list[str]:
        """Return what is wrong with the file, as far as no scores are needed to tell."""
        try:
            decomposition = self.decomposition()
            decomposition.check(self.dag().moral_graph())
        except (VerificationError, GraphError) as error:
            return [str(error), *self.contradictions()]
        return self.contradictions()

    def _data_problems(self, scores: LocalScores) -> list[str]:
        """Return what the file says about the data that is not so, where the data are known."""
        problems = []
        ours, claimed = scores.info.n_states, self.about["n_states"]
        if ours is not None and claimed is not None and self.names == scores.names:
            problems += [
                f"column {name!r} has {here} states, the file says {there}"
                for name, here, there in zip(self.names, ours, claimed, strict=True)
                if here != there
            ]
        fingerprint, coding = self.about["fingerprint"], self.about["coding"]
        theirs = scores.info.fingerprint
        if theirs is not None and fingerprint is not None and fingerprint != theirs:
            problems.append(f"the fingerprint of the data is {theirs}, the file says {fingerprint}")
        if scores.info.coding is not None and coding is not None and self.names == scores.names:
            pairs = zip(self.names, scores.info.coding, coding, strict=True)
            problems += [
                f"the coding of column {name!r} is not that of the data"
                for name, ours, claimed in pairs
                if json.loads(json.dumps(ours)) != claimed
            ]
        return problems

    def contradictions(self) -> list[str]:
        """Return which of the file's claims contradict each other."""
        problems = []
        limit = self.about["treewidth_limit"]
        widest = max((len(bag) for bag in self.bags), default=1) - 1
        if widest != self.treewidth:
            problems.append(f"the decomposition has width {widest}, the file says {self.treewidth}")
        if self.treewidth > limit:
            problems.append(f"treewidth {self.treewidth} exceeds the limit {limit}")
        problems += self._state_problems()
        if self.status not in STATUSES:
            problems.append(f"the status {self.status!r} is none of {list(STATUSES)}")
        if self.bound < self.score and not _close(self.bound, self.score):
            problems.append(f"the bound {self.bound:.6f} is below the score {self.score:.6f}")
        elif not _close(self.gap, self.bound - self.score) or not _close(
            self.gap_percent, gap_percent(self.score, self.bound)
        ):
            problems.append(f"the gap {self.gap:.6f} is not that of score and bound")
        if self.status == "optimal" and not _close(self.bound, self.score):
            problems.append("the status is optimal, but the bound is not the score")
        if self.n_variables != len(self.names):
            problems.append(f"{len(self.names)} names, but n_variables is {self.n_variables}")
        if set(self.parents) != set(self.names):
            extra = sorted(set(self.parents) ^ set(self.names))
            problems.append(f"parents and names differ in {extra[0]!r}")
        if self.trace and not _close(self.trace[-1].score, self.score):
            problems.append(f"the trace ends at {self.trace[-1].score:.6f}, not at the score")
        return problems

    def _state_problems(self) -> list[str]:
        """Return what the file says about the joint states of bags that is not so."""
        n_states, most = self.about["n_states"], self.about["max_states"]
        if n_states is None:
            return [] if most is None else ["max_states is given, but n_states is not"]
        number = dict(zip(self.names, n_states, strict=True))
        if not {v for bag in self.bags for v in bag} <= number.keys():
            return []  # the decomposition is wrong, which is told elsewhere
        states = max((math.prod(number[v] for v in bag) for bag in self.bags), default=1)
        problems = []
        if self.largest_bag_states not in {states, None}:
            problems.append(
                f"the largest bag has {states} joint states, the file says "
                f"{self.largest_bag_states}"
            )
        if most is not None and states > most:
            problems.append(f"a bag has {states} joint states, the limit is {most}")
        return problems

    def _positions(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.names)}


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-6)
