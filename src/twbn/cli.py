"""The command line: one small function per command, no logic of its own."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

import twbn
from twbn.data.discretize import Discretize
from twbn.errors import MemoryLimitError, OptionError, TwbnError
from twbn.scores.kinds import SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from twbn.data.table import Table

__all__ = ["app", "run"]

app = typer.Typer(
    help="Learn Bayesian networks of bounded treewidth, with proofs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)

# The options that several commands share.
Data = Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, ARFF or .dat file.", metavar="DATA")]
Delimiter = Annotated[str | None, typer.Option(help="Column separator; found out by default.")]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="First line has names; found out by default."),
]
Cut = Annotated[
    str, typer.Option("--discretize", help="Cut of numeric columns: median, quantile or uniform.")
]
BinCount = Annotated[int, typer.Option("--bins", help="Intervals for quantile and uniform.")]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")]
Weights = Annotated[str | None, typer.Option(help="Column that holds row weights.")]
Missing = Annotated[
    list[str] | None,
    typer.Option(help="Text that means a missing cell, such as '?'; may be repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds.", metavar="SECONDS")]
MemoryLimit = Annotated[float | None, typer.Option(help="GiB.", metavar="GIB")]
Jobs = Annotated[int, typer.Option("--jobs", help="Threads; -1 is one per core.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.")]
Out = Annotated[Path | None, typer.Option("-o", "--out", help="File to write.", metavar="FILE")]


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 done, 1 not possible, 2 wrong usage."""
    try:
        code = app(list(arguments), standalone_mode=False)
    except (typer.Exit, SystemExit) as stop:
        return int(getattr(stop, "exit_code", getattr(stop, "code", 0)) or 0)
    except (OptionError, typer.BadParameter) as error:
        return _complain(_message(error), 2)
    except TwbnError as error:
        return _complain(str(error), 1)
    except typer.Abort:
        return _complain("interrupted", 1)
    except KeyboardInterrupt:
        return _complain("interrupted", 1)
    except BrokenPipeError:  # the reader of our output has gone, which is its right
        sys.stdout = None
        return 0
    except OSError as error:
        named = error.filename and error.strerror
        return _complain(f"{error.filename}: {error.strerror}" if named else str(error), 1)
    except Exception as error:
        if hasattr(error, "format_message"):  # click's own: unknown option, missing argument
            return _complain(error.format_message(), 2)
        raise
    return int(code or 0)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(twbn.__version__)
        raise typer.Exit


@app.command()
def info(
    data: Data,
    delimiter: Delimiter = None,
    header: Header = None,
    discretize: Cut = "median",
    bins: BinCount = 4,
    drop: Drop = None,
    weights: Weights = None,
    missing: Missing = None,
    as_json: AsJson = False,
) -> None:
    """Show how a table is read: its variables, their states, its gaps."""
    table = _read(data, delimiter, header, discretize, bins, drop, weights, missing)
    if as_json:
        _print_json(
            {
                "n_rows": table.n_rows,
                "n_variables": table.n_variables,
                "n_missing": int(table.n_missing.sum()),
                "weighted": table.weights is not None,
                "variables": [
                    {"name": name, "states": list(states), "n_missing": int(missing_cells)}
                    for name, states, missing_cells in zip(
                        table.names, table.states, table.n_missing, strict=True
                    )
                ],
            }
        )
        return
    out.print(f"[bold]{escape(str(data))}[/]: {table.n_rows:,} rows, {table.n_variables} variables")
    grid = Grid(box=None, pad_edge=False)
    for title, side in (
        ("variable", "left"),
        ("states", "right"),
        ("missing", "right"),
        ("", "left"),
    ):
        grid.add_column(title, justify=side)  # type: ignore[arg-type]
    for v in range(min(table.n_variables, 60)):
        states = ", ".join(str(state) for state in table.states[v][:6])
        more = ", …" if len(table.states[v]) > 6 else ""
        gaps = str(table.n_missing[v]) if table.n_missing[v] else ""
        grid.add_row(escape(table.names[v]), str(table.n_states[v]), gaps, escape(states + more))
    out.print(grid)
    if table.n_variables > 60:
        out.print(f"… and {table.n_variables - 60} more")


@app.command()
def score(
    data: Data,
    kind: Annotated[str, typer.Option("--score", help=f"{', '.join(SCORES)} (or mdl).")] = "bdeu",
    ess: Annotated[float, typer.Option(help="Equivalent sample size of BDeu.")] = 1.0,
    max_parents: Annotated[int, typer.Option(help="Largest parent set.")] = 3,
    out_file: Out = None,
    budget: Annotated[
        int | None,
        typer.Option(help="Wide tables: explore this many sets per variable instead of all."),
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Write names instead of positions.")
    ] = False,
    keep_all: Annotated[bool, typer.Option("--no-prune", help="Keep dominated sets.")] = False,
    delimiter: Delimiter = None,
    header: Header = None,
    discretize: Cut = "median",
    bins: BinCount = 4,
    drop: Drop = None,
    weights: Weights = None,
    missing: Missing = None,
    time_limit: TimeLimit = None,
    memory_limit: MemoryLimit = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Score parent sets and write them as a .jkl file."""
    table = _read(data, delimiter, header, discretize, bins, drop, weights, missing)
    _check_target(out_file)
    with _progress("scoring parent sets", quiet=as_json) as report:
        try:
            scores = twbn.compute_scores(
                table, score=kind, ess=ess, max_parents=max_parents, prune=not keep_all,
                budget=budget, n_jobs=jobs, time_limit=time_limit, memory_limit=memory_limit,
                on_progress=report,
            )  # fmt: skip
        except MemoryLimitError as error:
            raise OptionError(_as_options(str(error))) from None
    if out_file is not None:
        twbn.write_jkl(scores, out_file, names=names)
    facts = scores.statistics()
    if as_json:
        _print_json({**facts, "out": None if out_file is None else str(out_file)})
        return
    out.print(
        f"{facts['score']}: {facts['n_sets']:,} parent sets of {facts['n_variables']} variables "
        f"kept, {facts['n_scored']:,} scored in {facts['seconds']:.2f} s"
    )
    out.print(
        f"by size: {', '.join(f'{n:,} of {size}' for size, n in enumerate(facts['sets_by_size']))}"
    )
    out.print(f"network without arcs: {facts['empty_network']:.4f}")
    if facts["status"] not in {"complete", "budget"}:
        out.print(
            f"stopped early ({facts['status'].replace('_', ' ')}): "
            f"all sets of at most {facts['complete_size']} parents are in"
        )
    if out_file is not None:
        out.print(f"written to {escape(str(out_file))}")


@app.command()
def treewidth(
    graph: Annotated[Path, typer.Argument(help="PACE .gr or DIMACS .col file.", metavar="GRAPH")],
    exact: Annotated[
        bool, typer.Option("--exact", help="The width itself, not only bounds.")
    ] = False,
    out_file: Out = None,
    time_limit: TimeLimit = None,
    memory_limit: Annotated[float, typer.Option(help="GiB.", metavar="GIB")] = 4.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Bound the treewidth of a graph, or compute it; -o writes the decomposition (.td)."""
    _check_target(out_file)
    read = twbn.read_gr(graph)
    report = None
    if exact and not as_json and err.is_terminal:
        report = lambda low, high: err.print(f"between {low} and {high}")  # noqa: E731
    result = twbn.treewidth(
        read, exact=exact, time_limit=time_limit, memory_limit=memory_limit, seed=seed,
        on_progress=report,
    )  # fmt: skip
    if out_file is not None:
        twbn.write_td(result.decomposition, read.n_vertices, out_file)
    if as_json:
        _print_json(
            {
                "n_vertices": read.n_vertices,
                "n_edges": len(read.edges),
                "lower": result.lower,
                "upper": result.upper,
                "treewidth": result.upper if result.is_exact else None,
                "status": result.status,
                "seconds": result.seconds,
                "out": None if out_file is None else str(out_file),
            }
        )
        return
    shape = f"{read.n_vertices:,} vertices, {len(read.edges):,} edges"
    if result.is_exact:
        out.print(f"{shape}: treewidth {result.upper}")
    else:
        out.print(f"{shape}: treewidth between {result.lower} and {result.upper}")
        if exact:
            out.print(f"stopped: {result.status.replace('_', ' ')}")
        else:
            out.print("--exact computes the width itself")
    if out_file is not None:
        out.print(f"tree decomposition of width {result.upper} written to {escape(str(out_file))}")


# Shared by the commands


class _Report(Protocol):
    def __call__(self, done: int, total: int, /) -> None: ...


def _read(
    path: Path,
    delimiter: str | None,
    header: bool | None,
    discretize: str,
    bins: int,
    drop: list[str] | None,
    weights: str | None,
    missing: list[str] | None,
) -> Table:
    gaps = {} if missing is None else {"missing": ("", "NA", "NaN", "nan", "null", *missing)}
    delimiter = "\t" if delimiter in {"\\t", "tab"} else delimiter
    try:
        return twbn.read_table(
            path,
            delimiter=delimiter,
            header=header,
            discretize=Discretize(discretize, bins=bins),  # type: ignore[arg-type]
            drop=drop or (),
            weights=weights,
            **gaps,  # type: ignore[arg-type]
        )
    except TwbnError as error:
        raise type(error)(_as_options(str(error))) from None


def _check_target(path: Path | None) -> None:
    """Refuse a file that cannot be written before any work is done."""
    if path is not None and not path.parent.is_dir():
        msg = f"{path.parent} is not a folder"
        raise OptionError(msg)
    if path is not None and path.is_dir():
        msg = f"{path} is a folder, not a file to write"
        raise OptionError(msg)


def _as_options(message: str) -> str:
    """Say an error's advice in the words of the command line."""
    import re

    message = re.sub(r"drop=\['([^']*)'\]", r"--drop '\1'", message)
    return message.replace("max_parents=", "--max-parents ").replace("budget=", "--budget ")


@contextmanager
def _progress(title: str, *, quiet: bool) -> Iterator[_Report | None]:
    """Show a bar on a terminal; nothing in a pipe."""
    if quiet or not err.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
    )
    with Progress(*columns, TimeElapsedColumn(), console=err, transient=True) as bar:
        task = bar.add_task(title)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _print_json(value: dict[str, Any]) -> None:
    print(json.dumps(value, ensure_ascii=False))


def _message(error: Exception) -> str:
    return error.format_message() if isinstance(error, typer.BadParameter) else str(error)


def _complain(message: str, code: int) -> int:
    if message:  # none when click has shown the help instead
        err.print(f"[bold red]error:[/] {escape(message)}")
    return code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
