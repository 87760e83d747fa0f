"""Commands that learn networks and check them."""

from __future__ import annotations

import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.status import Status

import twbn
from twbn.cli.options import (
    AsJson,
    BinCount,
    Cut,
    Delimiter,
    Drop,
    Ess,
    Header,
    Jobs,
    MaxParents,
    Missing,
    Out,
    Score,
    Seed,
    TimeLimit,
    Weights,
)
from twbn.cli.shared import (
    check_target,
    data_options,
    err,
    escape,
    out,
    print_json,
    read_data,
)
from twbn.errors import OptionError
from twbn.interrupts import deferred
from twbn.network.files import FORMATS
from twbn.report import write_report
from twbn.report.page import require_packages
from twbn.scores.kinds import SCORES
from twbn.scores.rules import within_treewidth
from twbn.search import METHODS, read_result, result_document, write_result
from twbn.search.ktree_dp import refuse_too_wide
from twbn.search.options import check_budget
from twbn.search.solver import SOLVERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twbn.search.options import Progress

__all__ = ["bound", "learn", "verify"]

#: Share of the time limit that scoring may take before a bound is computed.
SCORING_SHARE = 0.8
#: How tables are read when no option says otherwise.
UNSET = data_options(None, None, "median", 4, None, None, None)

Source = Annotated[Path, typer.Argument(help="Table, or scores (.jkl).", metavar="DATA|SCORES.jkl")]


def learn(
    source: Source,
    treewidth: Annotated[int, typer.Option("-k", "--treewidth", help="The bound.")] = 4,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.")] = "auto",
    kind: Score = "bdeu",
    ess: Ess = 1.0,
    max_parents: MaxParents = 3,
    time_limit: TimeLimit = None,
    iterations: Annotated[
        int | None, typer.Option(help="Budget in iterations: the same answer everywhere.")
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = 1,
    required: Annotated[
        list[str] | None, typer.Option(help="Arc to have; repeatable.", metavar="PARENT->CHILD")
    ] = None,
    forbidden: Annotated[
        list[str] | None, typer.Option(help="Arc not to have; repeatable.", metavar="PARENT->CHILD")
    ] = None,
    root: Annotated[
        list[str] | None, typer.Option(help="Variable without parents; repeatable.")
    ] = None,
    leaf: Annotated[
        list[str] | None, typer.Option(help="Variable without children; repeatable.")
    ] = None,
    solver: Annotated[
        str | None, typer.Option(help=f"Of the integer programs: {', '.join(SOLVERS)}.")
    ] = None,
    cuts: Annotated[
        str | None, typer.Option(help="With solver scip: tree, cuts in the search tree.")
    ] = None,
    with_polish: Annotated[
        bool, typer.Option("--polish", help="Search the final decomposition exactly.")
    ] = False,
    start: Annotated[
        Path | None,
        typer.Option(help="Result file to go on from.", metavar="RESULT"),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Keep the best so far in this file (auto, anneal).", metavar="FILE"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a page to look at and to ask.", metavar="PAGE.html"),
    ] = None,
    out_file: Out = None,
    as_json: AsJson = False,
    delimiter: Delimiter = None,
    header: Header = None,
    discretize: Cut = "median",
    bins: BinCount = 4,
    drop: Drop = None,
    weights: Weights = None,
    missing: Missing = None,
) -> None:
    """Learn a network of bounded treewidth; -o writes it with its proof (JSON)."""
    begun = time.perf_counter()
    _check_result_file(out_file, source)
    check_target(checkpoint)
    check_target(report)
    if report is not None:
        require_packages()
    first = None if start is None else read_result(start)
    options = data_options(delimiter, header, discretize, bins, drop, weights, missing)
    data = _read_source(source, options, kind, ess, max_parents)
    options = {} if isinstance(data, twbn.ScoreTable) else options
    if with_polish:  # before any work is done
        refuse_too_wide(data.n_variables, min(treewidth, data.n_variables - 1))
    check_budget(treewidth, time_limit, iterations, seed, jobs)
    if time_limit is not None:  # reading is part of the job
        time_limit = max(time_limit - (time.perf_counter() - begun), 0.1 * time_limit)
    with deferred():  # what was found is written and shown, whenever Ctrl-C comes
        with _status(quiet=as_json) as show:
            result = twbn.learn(
                data, treewidth=treewidth, method=method, score=kind, ess=ess,
                max_parents=max_parents, required=_arcs(required), forbidden=_arcs(forbidden),
                roots=root or (), leaves=leaf or (), time_limit=time_limit,
                max_iterations=iterations, seed=seed, n_jobs=jobs, solver=solver, cuts=cuts,
                polish=with_polish, start=first, checkpoint=checkpoint, data_options=options,
                on_progress=show,
            )  # fmt: skip
        failure = _write_files(result, out_file, report, options, data)
        if as_json or failure is not None:
            print_json(result_document(result, options))
        if failure is not None:
            raise failure
        if not as_json:
            _show(result, [path for path in (out_file, report) if path is not None])


def _check_result_file(path: Path | None, source: Path) -> None:
    """Refuse a file whose name says that it holds a network with parameters."""
    check_target(path)
    if path is None:
        return
    ending = path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix
    if ending.lower() in FORMATS and ending.lower() != ".json":
        msg = (
            f"{path}: {ending} is for networks with parameters, learn writes a result (.json); "
            f"then twbn fit RESULT.json --data {source} -o {path} gives it parameters"
        )
        raise OptionError(msg)


def _write_files(
    result: twbn.SearchResult,
    out_file: Path | None,
    page: Path | None,
    options: dict[str, Any],
    data: twbn.ScoreTable | twbn.Table,
) -> OSError | None:
    """Write what was asked for; return what went wrong, so that the result is shown at least."""
    try:
        if out_file is not None:
            write_result(result, out_file, options)
        if page is not None and isinstance(data, twbn.ScoreTable):
            write_report(result, page, scores=data)
        elif page is not None:
            write_report(result, page, data=data)
    except OSError as error:
        return error
    return None


def _show(result: twbn.SearchResult, written: list[Path]) -> None:
    for note in result.notes:
        out.print(f"note: {escape(note)}")
    out.print(f"score {result.score:.4f} ({_standing(result)})")
    n_bags = len(result.decomposition.bags)
    out.print(
        f"treewidth {result.treewidth}, proved by {n_bags} bag{'s' * (n_bags != 1)}; "
        f"{len(result.dag.arcs)} arcs among {len(result.names)} variables"
    )
    out.print(
        f"{result.method}: {result.n_iterations:,} iterations in {result.seconds:.1f} s, "
        f"seed {result.seed}"
    )
    for path in written:
        out.print(f"written to {escape(str(path))}")


def _arcs(texts: list[str] | None) -> list[tuple[str, str]]:
    """Return parent and child of every ``PARENT->CHILD``."""
    arcs = []
    for text in texts or []:
        parent, arrow, child = text.partition("->")
        if not arrow or not parent.strip() or not child.strip():
            msg = f"an arc is PARENT->CHILD, got {text!r}"
            raise OptionError(msg)
        arcs.append((parent.strip(), child.strip()))
    return arcs


def bound(
    source: Source,
    treewidth: Annotated[int, typer.Option("-k", "--treewidth", help="The bound.")] = 4,
    kind: Score = "bdeu",
    ess: Ess = 1.0,
    max_parents: MaxParents = 3,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    jobs: Jobs = 1,
    as_json: AsJson = False,
    delimiter: Delimiter = None,
    header: Header = None,
    discretize: Cut = "median",
    bins: BinCount = 4,
    drop: Drop = None,
    weights: Weights = None,
    missing: Missing = None,
) -> None:
    """Compute a score that no network of bounded treewidth exceeds."""
    begun = time.perf_counter()
    options = data_options(delimiter, header, discretize, bins, drop, weights, missing)
    time_limit = check_budget(treewidth, time_limit, None, seed, jobs)
    data = _read_source(source, options, kind, ess, max_parents)

    def left(share: float = 1.0) -> float | None:
        """Return the seconds that are left, of which reading and scoring are a part."""
        if time_limit is None:
            return None
        return max(share * (time_limit - (time.perf_counter() - begun)), 0.01)

    with _status(quiet=as_json) as report, deferred():
        scores = data
        if isinstance(scores, twbn.Table):
            scores = twbn.compute_scores(
                scores, score=kind, ess=ess, n_jobs=jobs, time_limit=left(SCORING_SHARE),
                max_parents=within_treewidth(max_parents, treewidth),
            )  # fmt: skip
        found = twbn.upper_bound(
            scores, treewidth=treewidth, time_limit=left(), seed=seed, n_jobs=jobs,
            on_bound=None if report is None else lambda s, b: report(s, 0, b),
        )  # fmt: skip
    if as_json:
        print_json(
            {
                "bound": found.value,
                "treewidth_bound": treewidth,
                "status": found.status,
                "seconds": found.seconds,
                "trace": [[p.seconds, p.bound] for p in found.trace],
                "notes": list(found.notes),
            }
        )
        return
    for note in found.notes:
        out.print(f"note: {escape(note)}")
    out.print(f"no network of treewidth at most {treewidth} scores above {found.value:.4f}")
    out.print(
        f"{found.n_rounds:,} rounds, {found.n_rows:,} rows in {found.seconds:.1f} s "
        f"({found.status.replace('_', ' ')})"
    )


def _read_source(
    source: Path, options: dict[str, Any], kind: str, ess: float, max_parents: int
) -> twbn.ScoreTable | twbn.Table:
    """Read scores or a table, by the ending of the name."""
    if source.suffix != ".jkl":
        return read_data(source, options)
    given = [
        name
        for name, value, default in (
            ("--score", kind, "bdeu"),
            ("--ess", ess, 1.0),
            ("--max-parents", max_parents, 3),
            *((f"--{name}", options[name], value) for name, value in UNSET.items()),
        )
        if value != default
    ]
    if given:
        msg = f"{source} has its scores already: {', '.join(given)} would have no effect"
        raise OptionError(msg)
    return twbn.read_jkl(source)


def verify(
    result: Annotated[Path, typer.Argument(help="Result file (JSON).", metavar="RESULT")],
    data: Annotated[Path, typer.Option("--data", help="Table or scores (.jkl).", metavar="DATA")],
    as_json: AsJson = False,
) -> None:
    """Check a result file from the data alone: arcs, score, decomposition, width."""
    claimed = read_result(result)
    if data.suffix == ".jkl":
        scores: twbn.LocalScores = twbn.read_jkl(data)
    elif claimed.score_name not in SCORES:
        msg = (
            f"{result} was learned with scores {claimed.score_name}; verify it against those, "
            "with --data FILE.jkl"
        )
        raise OptionError(msg)
    else:
        table = read_data(data, dict(claimed.data_options))
        scores = twbn.LazyScores(
            table, score=claimed.score_name, ess=claimed.ess or 1.0, max_parents=None
        )
    problems = claimed.verify(scores)
    if as_json:
        print_json({"verified": not problems, "problems": problems})
    elif problems:
        for problem in problems:
            err.print(f"[bold red]wrong:[/] {escape(problem)}")
    else:
        out.print(
            f"verified: score {claimed.score:.4f}, treewidth {claimed.treewidth} "
            f"(bound {claimed.treewidth_bound})"
        )
        if claimed.status == "optimal":
            out.print("that nothing better exists is the file's claim; it was not proved again")
    if problems:
        raise typer.Exit(1)


def _standing(result: twbn.SearchResult) -> str:
    """Say how good a result is known to be."""
    if result.status == "optimal":
        return "optimal: no network of these parent sets is better within the bound"
    distance = f", at most {result.gap:.2%} below the best" if result.gap < 1 else ""
    return result.status.replace("_", " ") + distance


@contextmanager
def _status(*, quiet: bool) -> Iterator[Progress | None]:
    """Show time, iterations and best score on a terminal; nothing in a pipe."""
    if quiet or not err.is_terminal:
        yield None
        return
    with Status("scoring parent sets", console=err) as status:
        yield lambda seconds, iterations, best: status.update(
            f"{seconds:6.1f} s   {iterations:,} iterations   best score {best:.4f}"
        )
