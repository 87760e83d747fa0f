"""The command that learns a structure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import twbn
from twbn.cli.console import out, print_json, say_written, search_status, show_notes
from twbn.cli.files import (
    UNSET,
    check_page,
    check_target,
    like_result,
    read_data,
    read_scores_or_data,
)
from twbn.cli.options import (
    AsJson,
    CertificateFile,
    Checkpoint,
    Ess,
    Jobs,
    LargestFamilies,
    MaxIterations,
    MaxStates,
    MethodName,
    NewRows,
    OptionalOut,
    Page,
    Polish,
    Score,
    Seed,
    Source,
    StartFile,
    StatesFrom,
    TimeLimit,
    TreewidthIfAny,
)
from twbn.data.discretize import SCORE
from twbn.deadline import Deadline
from twbn.errors import OptionError
from twbn.interrupts import deferred
from twbn.learning.new_rows import NEW_ROWS, refuse_other_columns
from twbn.network.formats.files import FORMATS
from twbn.report import write_report
from twbn.search import read_result, result_document, write_result
from twbn.search.run import DEFAULT_TIME_LIMIT, check_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from twbn.search import SearchResult

__all__ = ["learn", "standing"]


def learn(
    source: Source,
    reading: dict[str, Any],
    treewidth: TreewidthIfAny = None,
    max_states: MaxStates = None,
    states_from: StatesFrom = None,
    method: MethodName = "auto",
    kind: Score = "bdeu",
    ess: Ess = 1.0,
    max_parents: LargestFamilies = None,
    time_limit: TimeLimit = None,
    max_iterations: MaxIterations = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    polish: Polish = False,
    start: StartFile = None,
    new_rows: NewRows = False,
    checkpoint: Checkpoint = None,
    certificate: CertificateFile = None,
    report: Page = None,
    out_file: OptionalOut = None,
    as_json: AsJson = False,
    method_options: dict[str, Any] | None = None,
    structure_rules: dict[str, Any] | None = None,
) -> None:
    """Learn a structure of bounded treewidth; -o writes it with its proof (JSON)."""
    clock = Deadline(check_limits(treewidth, time_limit, max_iterations, seed, n_jobs))
    _check_targets(out_file, report, (checkpoint, certificate), source)
    first = None if start is None else read_result(start)
    scoring = {"score": (kind, "bdeu"), "ess": (ess, 1.0), "max-parents": (max_parents, None)}
    data = read_scores_or_data(source, reading, scoring, states_from)
    if new_rows:
        first, data = _with_new_rows(first, source, data, reading)
    with deferred():  # what was found is written and shown even after Ctrl-C
        limit = _left(clock)
        with search_status(_shown_limit(limit, max_iterations), quiet=as_json) as show:
            rules = dict(structure_rules or {})
            if max_parents is not None:
                rules["max_parents"] = max_parents
            by_score = reading["discretize"] == SCORE and not isinstance(data, twbn.ScoreTable)
            result = twbn.learn(
                source if by_score else data,
                treewidth=treewidth,
                max_states=max_states,
                method=method,
                score=kind,
                ess=ess,
                **rules,
                time_limit=limit,
                max_iterations=max_iterations,
                seed=seed,
                n_jobs=n_jobs,
                polish=polish,
                start=first,
                checkpoint=checkpoint,
                certificate=certificate,
                discretize=SCORE if by_score else "quantile",
                data_options={} if isinstance(data, twbn.ScoreTable) else reading,
                on_progress=show,
                **(method_options or {}),
            )
        if new_rows:
            result = result.noted(NEW_ROWS)
        data = read_data(source, reading, like_result(result)) if by_score else data
        _hand_over(result, out_file, report, data, as_json=as_json)


def _with_new_rows(
    first: SearchResult | None,
    source: Path,
    data: twbn.ScoreTable | twbn.Table,
    reading: Mapping[str, Any],
) -> tuple[SearchResult, twbn.Table]:
    """Return a start learned from other rows, and these rows coded like those."""
    if first is None:
        msg = "--new-rows goes with --start RESULT, the result of the earlier rows"
        raise OptionError(msg)
    like = like_result(first)
    if like is None or not isinstance(data, twbn.Table):
        msg = "--new-rows needs a table of rows, and a result that was learned from one"
        raise OptionError(msg)
    for name in ("discretize", "bins", "max_categories"):
        if reading[name] != UNSET[name]:
            flag = name.replace("_", "-")
            msg = f"--new-rows codes the rows as the earlier ones, so --{flag} has no effect"
            raise OptionError(msg)
    refuse_other_columns(data.names, first)
    return first.but(fingerprint=None), read_data(source, reading, like)


def _left(clock: Deadline) -> float | None:
    """Return the seconds left after reading the data, but at least a tenth of the limit."""
    if clock.time_limit is None:
        return None
    return max(clock.left_or_forever, 0.1 * clock.time_limit)


def _shown_limit(time_limit: float | None, max_iterations: int | None) -> float | None:
    """Return the limit that a bar runs towards."""
    if time_limit is None and max_iterations is None:
        return DEFAULT_TIME_LIMIT
    return time_limit


def _check_targets(
    out_file: Path | None, page: Path | None, others: Iterable[Path | None], source: Path
) -> None:
    """Raise OptionError for files that cannot be written or have the wrong extension."""
    for path in (out_file, *others):
        check_target(path)
    check_page(page, source)
    if out_file is None:
        return
    packed = out_file.suffix == ".gz"
    ending = (out_file.with_suffix("") if packed else out_file).suffix.lower()
    if ending in FORMATS and ending != ".json":
        msg = (
            f"{out_file}: {ending} is for networks with parameters, learn writes a result (.json); "
            f"then twbn fit RESULT.json --data {source} -o {out_file} gives it parameters"
        )
        raise OptionError(msg)


def _hand_over(
    result: SearchResult,
    out_file: Path | None,
    page: Path | None,
    data: twbn.ScoreTable | twbn.Table,
    *,
    as_json: bool,
) -> None:
    """Write and print a result; if it cannot be written, at least print it."""
    failure = _write_files(result, out_file, page, data)
    if as_json or failure is not None:
        print_json(result_document(result))
    if failure is not None:
        raise failure
    if not as_json:
        _show(result)
        say_written([out_file, page])


def _write_files(
    result: SearchResult,
    out_file: Path | None,
    page: Path | None,
    data: twbn.ScoreTable | twbn.Table,
) -> OSError | None:
    """Write the requested files; return any error, so that the result can still be shown."""
    try:
        if out_file is not None:
            write_result(result, out_file)
        if page is not None and isinstance(data, twbn.ScoreTable):
            write_report(result, page, scores=data)
        elif page is not None:
            write_report(result, page, data=data)
    except OSError as error:
        return error
    return None


def _show(result: SearchResult) -> None:
    show_notes(result.notes)
    out.print(f"score {result.score:.4f} ({standing(result)})")
    n_bags = len(result.decomposition.bags)
    out.print(
        f"treewidth {result.treewidth}, proved by {n_bags} bag{'s' * (n_bags != 1)}; "
        f"{len(result.dag.arcs)} arcs among {len(result.names)} variables"
    )
    if result.largest_bag_states is not None:
        states = f"the largest bag has {result.largest_bag_states:,} joint states"
        limit = "" if result.max_states is None else f" (limit {result.max_states:,})"
        out.print(states + limit)
    out.print(
        f"{result.method}: {result.n_iterations:,} iterations in {result.seconds:.1f} s, "
        f"seed {result.seed}"
    )


def standing(result: SearchResult) -> str:
    """Describe how close to optimal a result is known to be."""
    if result.status == "optimal":
        return "optimal: no structure of these parent sets is better within the limit"
    gap = ""
    if result.gap_percent < 100:
        gap = f", at most {result.gap:.2f} nats ({result.gap_percent:.2f} %) below the best"
    return result.status.replace("_", " ") + gap
