"""The command line: one small function per command, no logic of its own."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

import twbn
from twbn.cli import compare, graphs, learn, networks, report, reproduce, tables
from twbn.cli.shared import as_options, complain, err, escape
from twbn.errors import OptionError, TwbnError

__all__ = ["app", "run"]

app = typer.Typer(
    help="Learn Bayesian networks of bounded treewidth, with proofs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command()(tables.info)
app.command()(tables.score)
app.command()(learn.learn)
app.command()(learn.bound)
app.command()(learn.verify)
app.command()(networks.fit)
app.command()(networks.query)
app.command()(networks.mpe)
app.command("map")(networks.map_states)
app.command()(networks.predict)
app.command()(networks.impute)
app.command()(networks.sample)
app.command()(networks.convert)
app.command()(compare.compare)
app.command()(report.report)
app.command()(graphs.treewidth)
app.command()(reproduce.reproduce)
app.add_typer(graphs.ktree)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Handle what comes before a command."""
    if version:
        print(twbn.__version__)
        raise typer.Exit


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 done, 1 not possible, 2 wrong usage."""
    warnings.showwarning = lambda message, *_, **__: err.print(f"note: {escape(str(message))}")
    if isinstance(sys.stdout, io.TextIOWrapper):  # a file's name may be no text
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = int(app(list(arguments), standalone_mode=False) or 0)
    except (typer.Exit, SystemExit) as stop:
        code = int(getattr(stop, "exit_code", getattr(stop, "code", 0)) or 0)
    except OptionError as error:
        return complain(as_options(str(error)), 2)
    except TwbnError as error:
        return complain(as_options(str(error)), 1)
    except (typer.Abort, KeyboardInterrupt):
        return complain("interrupted", 1)
    except BrokenPipeError:  # the reader of our output has gone, which is its right
        sys.stdout = None
        return 0
    except MemoryError:
        return complain("out of memory; a smaller table, treewidth or --max-parents needs less", 1)
    except OSError as error:
        named = error.filename and error.strerror
        return complain(f"{error.filename}: {error.strerror}" if named else str(error), 1)
    except Exception as error:
        if hasattr(error, "format_message"):  # click's own: unknown option, missing argument
            return complain(error.format_message(), 2)
        raise
    return complain("interrupted", 1) if code == 130 else code  # Ctrl-C, as typer sees it
