"""Result files: a structure, its score and its proof as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from twbn.checks import checked_data_options
from twbn.errors import FileFormatError, GraphError, OptionError, VerificationError
from twbn.files import read_text, write_text
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
    import os
    from collections.abc import Mapping

    from twbn.scores.protocol import LocalScores

__all__ = ["ResultClaims", "read_claims", "read_result", "result_document", "write_result"]

FORMAT, VERSION = "twbn-result", 2


def result_document(result: SearchResult) -> dict[str, Any]:
    """Return a result as plain values; variables by name, an unknown bound as None."""
    names = result.names
    return {
        "format": FORMAT,
        "version": VERSION,
        "method": result.method,
        "status": result.status,
        "score": result.score,
        "bound": _finite(result.bound),
        "gap": _finite(result.gap),
        "gap_percent": _finite(result.gap_percent),
        "treewidth": result.treewidth,
        "treewidth_limit": result.treewidth_limit,
        "max_states": result.max_states,
        "largest_bag_states": result.largest_bag_states,
        "n_variables": len(names),
        "n_iterations": result.n_iterations,
        "n_accepted": result.n_accepted,
        "seconds": result.seconds,
        "seed": result.seed,
        "scoring": {"score": result.score_name, "ess": result.ess},
        "fingerprint": result.fingerprint,
        "data_options": dict(result.data_options),
        "notes": list(result.notes),
        "names": list(names),
        "coding": None if result.coding is None else list(result.coding),
        "n_states": None if result.n_states is None else list(result.n_states),
        "parents": result.parents,
        "decomposition": {
            "bags": [[names[v] for v in sorted(bag)] for bag in result.decomposition.bags],
            "edges": [list(edge) for edge in result.decomposition.edges],
        },
        "trace": [{**point._asdict(), "bound": _finite(point.bound)} for point in result.trace],
    }


def write_result(result: SearchResult, path: str | os.PathLike[str]) -> None:
    """Write a result as JSON; a killed run leaves no half-written file behind."""
    text = json.dumps(result_document(result), ensure_ascii=False, indent=1)
    write_text(path, text + "\n")


def read_result(path: str | os.PathLike[str]) -> SearchResult:
    """Return the result of a file; `SearchResult.verify` checks it against scores.

    Raises FileFormatError if it is not a result file, and VerificationError if it contradicts
    itself or its decomposition does not prove its treewidth.
    """
    claims = read_claims(path)
    try:
        result = claims.result()
    except VerificationError as error:
        msg = f"{path}: the result file is inconsistent: {error}"
        raise VerificationError(msg) from None
    problems = claims.contradictions()
    if problems:
        msg = f"{path}: the result file is inconsistent: {'; '.join(problems)}"
        raise VerificationError(msg)
    return result


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


def read_claims(path: str | os.PathLike[str]) -> ResultClaims:
    """Return what a result file says, unchecked; FileFormatError if it is not a result file."""
    text = read_text(path, encodings=("utf-8-sig",))
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not a JSON file ({error})"
        raise FileFormatError(msg) from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        msg = f"{path}: not a result file of twbn (its format is not {FORMAT!r})"
        raise FileFormatError(msg)
    if document.get("version") != VERSION:
        msg = f"{path}: unknown version {document.get('version')!r}, expected {VERSION}"
        raise FileFormatError(msg)
    try:
        return _claims(document)
    except KeyError as error:
        msg = f"{path}: the entry {error.args[0]!r} is missing"
        raise FileFormatError(msg) from None
    except (TypeError, ValueError, OverflowError, AttributeError, OptionError) as error:
        msg = f"{path}: an entry is not what it should be ({error})"
        raise FileFormatError(msg) from None


def _claims(document: Mapping[str, Any]) -> ResultClaims:
    accepted = document["n_accepted"]
    fingerprint = document.get("fingerprint")
    largest = document.get("largest_bag_states")
    return ResultClaims(
        names=tuple(map(str, document["names"])),
        parents={str(k): [str(p) for p in ps] for k, ps in document["parents"].items()},
        bags=tuple(tuple(map(str, bag)) for bag in document["decomposition"]["bags"]),
        tree_edges=tuple((int(a), int(b)) for a, b in document["decomposition"]["edges"]),
        score=float(document["score"]),
        bound=_number_or_infinity(document["bound"]),
        gap=_number_or_infinity(document["gap"]),
        gap_percent=_number_or_infinity(document["gap_percent"]),
        status=str(document["status"]),
        n_variables=_whole(document["n_variables"]),
        treewidth=_whole(document["treewidth"]),
        largest_bag_states=None if largest is None else _whole(largest),
        trace=tuple(_trace_point(point) for point in document["trace"]),
        data_options=checked_data_options(document["data_options"]),
        score_name=str(document["scoring"]["score"]),
        ess=_checked_ess(document["scoring"]),
        about={
            "treewidth_limit": _whole(document["treewidth_limit"]),
            "method": str(document["method"]),
            "seconds": float(document["seconds"]),
            "seed": _whole(document["seed"]),
            "n_iterations": _whole(document["n_iterations"]),
            "n_accepted": None if accepted is None else _whole(accepted),
            "notes": tuple(map(str, document["notes"])),
            "fingerprint": None if fingerprint is None else str(fingerprint),
            "coding": _checked_coding(document),
            "max_states": _checked_max_states(document),
            "n_states": _checked_n_states(document),
        },
    )


def _number_or_infinity(value: Any) -> float:
    return math.inf if value is None else float(value)


def _trace_point(point: Mapping[str, Any]) -> TracePoint:
    return TracePoint(
        float(point.get("seconds", 0.0)),
        _whole(point.get("iteration", 0)),
        float(point["score"]),
        _number_or_infinity(point.get("bound")),
    )


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-6)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        msg = f"{value!r} is not a whole number"
        raise ValueError(msg)
    return value


def _checked_ess(scoring: Mapping[str, Any]) -> float | None:
    ess = scoring["ess"]
    if (ess is None) == (scoring["score"] == "bdeu") or (ess is not None and not float(ess) > 0):
        msg = f"ess {ess!r} does not go with the score {scoring['score']!r}"
        raise ValueError(msg)
    return None if ess is None else float(ess)


def _checked_coding(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...] | None:
    coding = document.get("coding")
    if coding is None:
        return None
    if len(coding) != len(document["names"]) or not all(isinstance(c, dict) for c in coding):
        msg = f"coding must have an entry for each of {len(document['names'])} names"
        raise ValueError(msg)
    return tuple(coding)


def _checked_max_states(document: Mapping[str, Any]) -> int | None:
    states = document.get("max_states")
    return None if states is None else _whole(states)


def _checked_n_states(document: Mapping[str, Any]) -> tuple[int, ...] | None:
    states = document.get("n_states")
    if states is None:
        return None
    if len(states) != len(document["names"]) or not all(_whole(number) >= 1 for number in states):
        msg = f"n_states must have a number for each of {len(document['names'])} names"
        raise ValueError(msg)
    return tuple(states)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
