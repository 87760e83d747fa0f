"""Files that commands read and write."""

from __future__ import annotations

import csv
import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import twbn
from twbn.data.columns import MISSING
from twbn.data.discretize import SCORE
from twbn.errors import OptionError, TwbnError
from twbn.network.fit import codings_of
from twbn.network.formats.json import json_document
from twbn.network.formats.mixtures import is_mixture
from twbn.report.template import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "UNSET",
    "cells_of",
    "check_page",
    "check_target",
    "check_writes_csv",
    "coded_rows",
    "engine_of",
    "is_mixture_file",
    "like_result",
    "read_data",
    "read_model",
    "read_result_or_network",
    "read_scores",
    "read_scores_or_data",
    "remembered",
    "write_csv",
]

#: How tables are read by default.
UNSET: Mapping[str, Any] = {
    "delimiter": None,
    "header": None,
    "encoding": None,
    "skip_rows": 0,
    "discretize": "quantile",
    "bins": None,
    "max_categories": None,
    "drop": [],
    "weights": None,
    "missing": [],
    "decimal": ".",
    "thousands": "",
    "distinct": False,
}


def read_data(path: Path, options: Mapping[str, Any], like: twbn.Table | None = None) -> twbn.Table:
    """Read a table, coded like another if one is given."""
    reading = {**UNSET, **{name: options[name] for name in UNSET if name in options}}
    reading["missing"] = (*MISSING, *reading["missing"])
    if reading["discretize"] == SCORE:  # as a result that was cut by its score records
        reading["discretize"] = UNSET["discretize"]
    return twbn.read_table(path, like=like, **reading)


def read_scores_or_data(
    source: Path,
    options: Mapping[str, Any],
    scoring: Mapping[str, tuple[Any, Any]],
    states_from: Path | None = None,
) -> twbn.ScoreTable | twbn.Table:
    """Read scores (.jkl) or a table, depending on the file extension.

    `scoring` has the options of scoring, which have no effect on scores, with their defaults.
    """
    if source.suffix != ".jkl":
        if states_from is not None:
            msg = f"--states-from is for scores (.jkl); {source} has its own numbers of states"
            raise OptionError(msg)
        return read_data(source, options)  # with cuts by score, those that the search begins with
    given = [
        name
        for name, value, default in (
            *((f"--{name}", *values) for name, values in scoring.items()),
            *((f"--{name}", options[name], value) for name, value in UNSET.items()),
        )
        if value != default
    ]
    if given:
        msg = f"{source} already holds scores: {', '.join(given)} would have no effect"
        raise OptionError(msg)
    return read_scores(source, states_from)


def read_scores(source: Path, states_from: Path | None) -> twbn.ScoreTable:
    """Read scores; a network may say how many states the variables have.

    Its variables are those of the scores by name or, where the scores number them, by position.
    """
    if states_from is None:
        return twbn.read_jkl(source)
    network = twbn.read_network(states_from)
    named = dict(zip(network.names, network.n_states, strict=True))
    scores = twbn.read_jkl(source)
    by_name = all(name in named for name in scores.names)
    numbered = scores.names == tuple(map(str, range(scores.n_variables)))
    if not by_name and not (numbered and len(named) == scores.n_variables):
        lacking = next(name for name in scores.names if name not in named)
        msg = (
            f"{states_from} has no variable {lacking!r}, and {len(named)} variables where {source} "
            f"has {scores.n_variables}"
        )
        raise OptionError(msg)
    states = [named[name] for name in scores.names] if by_name else network.n_states
    return replace(scores, info=replace(scores.info, n_states=tuple(states)))


def coded_rows(
    path: Path,
    network: twbn.Network | twbn.Mixture,
    reading: Mapping[str, Any],
    target: str | None = None,
) -> twbn.Table:
    """Read rows, coded like the network; the target column may be absent."""
    reading = remembered(reading, network)
    like = twbn.Table.blank(network.names, network.codings)
    names = ("delimiter", "header", "encoding", "skip_rows", "decimal", "thousands")
    options = {name: reading[name] for name in names}
    options["missing"] = (*MISSING, *reading["missing"])
    more: dict[str, Any] = {"absent_ok": True, "target": target, "unknown": "missing"}
    return twbn.read_table(path, like=like, **more, **options)


def remembered(reading: Mapping[str, Any], network: twbn.Network | twbn.Mixture) -> dict[str, Any]:
    """Return how to read rows: as told, or else as the rows that a network was fitted to."""
    told = {name: value for name, value in reading.items() if value != UNSET[name]}
    return {**UNSET, **network.data_options, **told}


def like_result(result: twbn.SearchResult) -> twbn.Table | None:
    """Return a blank table coded like the data of a result, or None if that is not recorded."""
    codings = codings_of(result)
    return None if codings is None else twbn.Table.blank(result.names, codings)


def read_result_or_network(path: Path) -> twbn.SearchResult | twbn.Network:
    """Read a result or a network, whichever the file says it is."""
    if path.suffix == ".json" and path.is_file():
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):  # the network reader reports what is wrong
            document = None
        if isinstance(document, dict) and document.get("format") == "twbn-result":
            return twbn.read_result(path)
    return twbn.read_network(path)


def check_target(path: Path | None) -> None:
    """Raise OptionError, before any work is done, if a file cannot be written."""
    if path is not None and not path.parent.is_dir():
        msg = f"{path.parent} is not a folder"
        raise OptionError(msg)
    if path is not None and path.is_dir():
        msg = f"{path} is a folder, not a file to write"
        raise OptionError(msg)


def is_mixture_file(path: Path) -> bool:
    """Say whether a file says that it holds a mixture."""
    if not path.name.lower().endswith((".json", ".json.gz")):
        return False
    with suppress(TwbnError):  # the readers report what is wrong
        return is_mixture(json_document(path))
    return False


def read_model(path: Path) -> twbn.Network | twbn.Mixture:
    """Read a network or a mixture, whichever the file says it is."""
    return twbn.read_mixture(path) if is_mixture_file(path) else twbn.read_network(path)


def engine_of(model: twbn.Network | twbn.Mixture, **options: Any) -> Any:
    """Return the engine that answers questions to a network or a mixture."""
    if isinstance(model, twbn.Mixture):
        return twbn.MixtureInference(model, **options)
    return twbn.Inference(model, **options)


def check_page(path: Path | None, *inputs: Path | None) -> None:
    """Raise OptionError, before any work is done, if a page cannot be written."""
    check_target(path)
    if path is None:
        return
    if path.suffix.lower() not in {".html", ".htm"}:
        msg = f"{path}: pages are written as HTML; name the file {path.with_suffix('.html').name}"
        raise OptionError(msg)
    if any(other is not None and other.resolve() == path.resolve() for other in inputs):
        msg = f"{path} is read from, so it cannot be written to"
        raise OptionError(msg)
    require_packages()


def check_writes_csv(path: Path | None) -> None:
    """Raise OptionError if a file extension promises something else than delimited text."""
    if path is not None and path.suffix.lower() not in {"", ".csv", ".tsv", ".txt", ".gz"}:
        msg = f"{path}: rows are written as CSV; name the file {path.with_suffix('.csv').name}"
        raise OptionError(msg)


def cells_of(table: twbn.Table) -> Iterable[list[Any]]:
    """Yield the rows of a table as states; an empty text where a cell is missing."""
    for row in table.codes.tolist():
        yield [table.states[v][code] if code >= 0 else "" for v, code in enumerate(row)]


def write_csv(
    file: Any, names: Iterable[str], rows: Iterable[Sequence[Any]], delimiter: str = ","
) -> None:
    """Write names and rows as delimited text."""
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
