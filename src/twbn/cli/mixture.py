"""The command that learns a mixture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import twbn
from twbn.cli.console import out, print_json, say_written, search_status
from twbn.cli.files import check_page, check_target, read_data
from twbn.cli.options import (
    AsJson,
    Data,
    Jobs,
    LargestFamilies,
    MaxIterations,
    MaxStates,
    OptionalOut,
    Page,
    Seed,
    TimeLimit,
    TreewidthIfAny,
)
from twbn.errors import OptionError
from twbn.interrupts import deferred
from twbn.report import write_report

__all__ = ["mixture"]


def mixture(
    data: Data,
    reading: dict[str, Any],
    treewidth: TreewidthIfAny = None,
    n_components: Annotated[
        str, typer.Option("-m", "--n-components", help="Number of networks, or auto.")
    ] = "auto",
    max_states: MaxStates = None,
    ess: Annotated[float, typer.Option(help="Equivalent sample size of the prior.")] = 10.0,
    max_parents: LargestFamilies = None,
    held_out: Annotated[
        Path | None,
        typer.Option(
            help="Rows kept out of learning, which choose smoothing and number of components.",
            metavar="DATA",
        ),
    ] = None,
    n_bags: Annotated[int, typer.Option(help="Mixtures of resampled rows to average.", min=1)] = 1,
    time_limit: TimeLimit = None,
    max_iterations: MaxIterations = None,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    report: Page = None,
    out_file: OptionalOut = None,
    as_json: AsJson = False,
) -> None:
    """Learn a mixture of networks of bounded treewidth; -o writes it (JSON).

    The file works with twbn query, mpe, predict, impute, sample, report and convert, as a network's
    does.
    """
    _check_out(out_file, data, held_out)
    check_page(report, data, held_out)
    table = read_data(data, reading)
    other = None if held_out is None else read_data(held_out, reading, table)
    with deferred(), search_status(time_limit, quiet=as_json) as show:
        found = twbn.learn_mixture(
            table,
            n_components=_number(n_components),
            treewidth=treewidth,
            max_states=max_states,
            ess=ess,
            max_parents=max_parents,
            held_out=other,
            n_bags=n_bags,
            time_limit=time_limit,
            max_iterations=max_iterations,
            seed=seed,
            n_jobs=n_jobs,
            on_progress=show,
        )
    model = found.mixture
    if out_file is not None:
        twbn.write_mixture(model, out_file)
    if report is not None:
        write_report(model, report, title=data.stem)
    if as_json:
        print_json(
            {
                "n_components": model.n_components,
                "weights": model.weights.tolist(),
                "objective": found.objective,
                "held_out": found.held_out,
                "status": found.status,
                "seconds": found.seconds,
            }
        )
        return
    shares = ", ".join(f"{weight:.1%}" for weight in model.weights)
    out.print(f"{model.n_components} component{'s' * (model.n_components != 1)}: {shares}")
    out.print(
        f"treewidth of each at most {model.treewidth}, {model.n_parameters:,} parameters, "
        f"{found.status.replace('_', ' ')} after {found.seconds:.1f} s"
    )
    out.print(f"objective {found.objective:.4f} (a lower bound on the log-evidence)")
    if found.held_out is not None:
        out.print(f"mean log-likelihood of the held-out rows {found.held_out:.6f}")
    say_written([out_file, report])


def _check_out(path: Path | None, *inputs: Path | None) -> None:
    """Raise OptionError, before any work is done, for a file that takes no mixture."""
    check_target(path)
    if path is None:
        return
    if not path.name.lower().endswith((".json", ".json.gz")):
        name = path.with_suffix(".json").name
        msg = f"{path}: a mixture is written as JSON; name the file {name}"
        raise OptionError(msg)
    if any(other is not None and other.resolve() == path.resolve() for other in inputs):
        msg = f"{path} is read from, so it cannot be written to"
        raise OptionError(msg)


def _number(text: str) -> Any:
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        msg = f"-m must be a whole number or auto, got {text!r}"
        raise OptionError(msg) from None
