"""Result files: a structure, its score and its proof as JSON."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from twbn.checks import checked_data_options
from twbn.errors import FileFormatError, OptionError, VerificationError
from twbn.files import read_text, write_text
from twbn.search.claims import ResultClaims
from twbn.search.result import SearchResult, TracePoint

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


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
