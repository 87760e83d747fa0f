"""Result files: a network, its score and its proof as JSON."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from twbn.errors import FileFormatError, GraphError, OptionError
from twbn.files import read_text, write_text
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.search.result import (
    STATUSES,
    TOLERANCE,
    SearchResult,
    TracePoint,
    VerificationError,
    check_network,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from twbn.scores.protocol import LocalScores

__all__ = ["ResultFile", "read_result", "result_document", "write_result"]

FORMAT, VERSION = "twbn-result", 1


def result_document(
    result: SearchResult, data_options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a result as plain values; variables by name, an unknown bound as None.

    `data_options` says how the data were read, so that they can be read alike to verify it.
    """
    names = result.names
    return {
        "format": FORMAT,
        "version": VERSION,
        "method": result.method,
        "status": result.status,
        "score": result.score,
        "bound": _finite(result.bound),
        "gap": _finite(result.gap),
        "treewidth": result.treewidth,
        "treewidth_bound": result.treewidth_bound,
        "n_variables": len(names),
        "iterations": result.n_iterations,
        "accepted": result.n_accepted,
        "seconds": result.seconds,
        "seed": result.seed,
        "scoring": {"score": result.score_name, "ess": result.ess},
        "fingerprint": result.fingerprint,
        "data_options": dict(data_options or {}),
        "notes": list(result.notes),
        "names": list(names),
        "coding": None if result.coding is None else list(result.coding),
        "parents": result.parents,
        "decomposition": {
            "bags": [[names[v] for v in sorted(bag)] for bag in result.decomposition.bags],
            "edges": [list(edge) for edge in result.decomposition.edges],
        },
        "trace": [{**point._asdict(), "bound": _finite(point.bound)} for point in result.trace],
    }


def write_result(
    result: SearchResult,
    path: str | os.PathLike[str],
    data_options: Mapping[str, Any] | None = None,
) -> None:
    """Write a result as JSON; a killed run leaves no half file behind."""
    text = json.dumps(result_document(result, data_options), ensure_ascii=False, indent=1)
    write_text(path, text + "\n")


@dataclass(frozen=True)
class ResultFile:
    """What a result file claims. `verify` finds out whether it is true."""

    names: tuple[str, ...]
    parents: Mapping[str, list[str]]
    bags: tuple[tuple[str, ...], ...]
    tree_edges: tuple[tuple[int, int], ...]
    score: float
    bound: float
    gap: float
    status: str
    n_variables: int
    treewidth_bound: int
    treewidth: int
    score_name: str
    ess: float | None
    data_options: Mapping[str, Any]
    fingerprint: str | None
    method: str = "unknown"
    seconds: float = 0.0
    seed: int = 0
    n_iterations: int = 0
    notes: tuple[str, ...] = ()
    trace: tuple[TracePoint, ...] = ()
    coding: tuple[Mapping[str, Any], ...] | None = None  # of each column, as plain values

    @cached_property
    def dag(self) -> Dag:
        """The network; raises VerificationError if the file's arcs are no DAG."""
        position = self._positions()
        try:
            return Dag(tuple(tuple(position[p] for p in self.parents[name]) for name in self.names))
        except KeyError as error:
            msg = f"parents: {error.args[0]!r} is not among the names, or has no entry"
            raise VerificationError(msg) from None
        except GraphError as error:
            raise VerificationError(self._with_names(str(error))) from None

    @cached_property
    def decomposition(self) -> TreeDecomposition:
        """The decomposition; raises VerificationError if it is no tree of bags."""
        position = self._positions()
        try:
            bags = tuple(frozenset(position[v] for v in bag) for bag in self.bags)
            return TreeDecomposition(bags, self.tree_edges)
        except KeyError as error:
            msg = f"decomposition: {error.args[0]!r} is not among the names"
            raise VerificationError(msg) from None
        except GraphError as error:
            msg = f"decomposition: {error}"
            raise VerificationError(msg) from None

    def verify(self, scores: LocalScores) -> list[str]:
        """Return what is wrong with the file, judged by `scores` alone; nothing if it is right."""
        if tuple(scores.names) != self.names:
            unknown = [name for name in self.names if name not in scores.names]
            detail = f"{unknown[0]!r} is not in the data" if unknown else "their order differs"
            return [f"the variables are not those of the data: {detail}"]
        try:
            dag, decomposition = self.dag, self.decomposition
            score = check_network(dag, decomposition, self.treewidth_bound, scores)
        except VerificationError as error:
            return [self._with_names(str(error))]
        problems = []
        if not _close(score, self.score):
            problems.append(f"the score is {score:.6f}, the file says {self.score:.6f}")
        if max(decomposition.width, 0) != self.treewidth:
            problems.append(
                f"the decomposition has width {decomposition.width}, the file says {self.treewidth}"
            )
        return problems + self.inconsistencies()

    def inconsistencies(self) -> list[str]:
        """Return which of the file's claims contradict each other."""
        problems = []
        if self.treewidth > self.treewidth_bound:
            problems.append(f"treewidth {self.treewidth} exceeds the bound {self.treewidth_bound}")
        if self.status not in STATUSES:
            problems.append(f"the status {self.status!r} is none of {list(STATUSES)}")
        if self.bound < self.score and not _close(self.bound, self.score):
            problems.append(f"the bound {self.bound:.6f} is below the score {self.score:.6f}")
        elif not _close(self.gap, (self.bound - self.score) / max(abs(self.score), 1e-12)):
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

    def _positions(self) -> dict[str, int]:
        return {name: v for v, name in enumerate(self.names)}

    def _with_names(self, message: str) -> str:
        """Say the vertices in a graph's message by name."""

        def name(match: re.Match[str]) -> str:
            v = int(match[0])
            return repr(self.names[v]) if v < len(self.names) else match[0]

        def inside(match: re.Match[str]) -> str:
            return re.sub(r"\d+", name, match[0])

        return re.sub(r"vertex \d+|edge \(\d+, \d+\)|cycle: [\d> -]+", inside, message)


def read_result(path: str | os.PathLike[str]) -> ResultFile:
    """Return what a result file claims, unverified; FileFormatError if it is no result file."""
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
        msg = f"{path}: version {document.get('version')!r} is not known, expected {VERSION}"
        raise FileFormatError(msg)
    try:
        return ResultFile(
            tuple(map(str, document["names"])),
            {str(k): [str(p) for p in ps] for k, ps in document["parents"].items()},
            tuple(tuple(map(str, bag)) for bag in document["decomposition"]["bags"]),
            tuple((int(a), int(b)) for a, b in document["decomposition"]["edges"]),
            float(document["score"]),
            math.inf if document["bound"] is None else float(document["bound"]),
            math.inf if document["gap"] is None else float(document["gap"]),
            str(document["status"]),
            _whole(document["n_variables"]),
            _whole(document["treewidth_bound"]),
            _whole(document["treewidth"]),
            str(document["scoring"]["score"]),
            _checked_ess(document["scoring"]),
            _checked_data_options(document["data_options"]),
            None if document.get("fingerprint") is None else str(document["fingerprint"]),
            str(document["method"]),
            float(document["seconds"]),
            _whole(document["seed"]),
            _whole(document["iterations"]),
            tuple(map(str, document["notes"])),
            tuple(_trace_point(point) for point in document["trace"]),
            _checked_coding(document),
        )
    except KeyError as error:
        msg = f"{path}: the entry {error.args[0]!r} is missing"
        raise FileFormatError(msg) from None
    except (TypeError, ValueError, OverflowError, AttributeError, OptionError) as error:
        msg = f"{path}: an entry is not what it should be ({error})"
        raise FileFormatError(msg) from None


def _trace_point(point: Mapping[str, Any]) -> TracePoint:
    bound = math.inf if point.get("bound") is None else float(point["bound"])
    return TracePoint(
        float(point.get("seconds", 0.0)),
        _whole(point.get("iteration", 0)),
        float(point["score"]),
        bound,
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


#: How a table may be said to have been read: option and what its value may be.
_DATA_OPTIONS: Mapping[str, tuple[type, ...]] = {
    "delimiter": (str, type(None)),
    "header": (bool, type(None)),
    "discretize": (str,),
    "bins": (int,),
    "drop": (list,),
    "weights": (str, type(None)),
    "missing": (list,),
}


def _checked_data_options(options: Any) -> dict[str, Any]:
    for key, value in dict(options).items():
        lists_texts = not isinstance(value, list) or all(isinstance(v, str) for v in value)
        if not isinstance(value, _DATA_OPTIONS.get(key, ())) or not lists_texts:
            msg = f"data option {key!r} has the value {value!r}"
            raise ValueError(msg)
    return dict(options)


def _checked_coding(document: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...] | None:
    coding = document.get("coding")
    if coding is None:
        return None
    if len(coding) != len(document["names"]) or not all(isinstance(c, dict) for c in coding):
        msg = f"coding must have an entry for each of {len(document['names'])} names"
        raise ValueError(msg)
    return tuple(coding)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
