"""The command line: one file per command, which parses and prints but has no logic of its own."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

import twbn
from twbn.cli.bound import bound
from twbn.cli.compare import compare
from twbn.cli.confidence import confidence
from twbn.cli.console import complain, err, escape, spelled
from twbn.cli.convert import convert
from twbn.cli.fit import fit
from twbn.cli.impute import impute
from twbn.cli.influence import influence
from twbn.cli.info import info
from twbn.cli.ktree import ktree
from twbn.cli.learn import learn
from twbn.cli.map import map_states
from twbn.cli.mixture import mixture
from twbn.cli.mpe import mpe
from twbn.cli.option_groups import (
    with_method_options,
    with_rule_options,
    with_table_options,
    with_text_options,
)
from twbn.cli.predict import predict
from twbn.cli.query import query
from twbn.cli.report import report
from twbn.cli.reproduce import reproduce
from twbn.cli.sample import sample
from twbn.cli.score import score
from twbn.cli.sensitivity import sensitivity
from twbn.cli.treewidth import treewidth
from twbn.cli.update import update
from twbn.cli.verify import verify
from twbn.errors import OptionError, TwbnError

__all__ = ["make_app", "run"]


def make_app() -> typer.Typer:
    """Return the app; `learn` gets the options of all methods registered so far."""
    app = typer.Typer(
        help="Learn Bayesian networks of bounded treewidth, with proofs.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback(invoke_without_command=True)(_root)
    app.command()(with_table_options(info))
    app.command()(with_table_options(score))
    app.command()(with_method_options(with_rule_options(with_table_options(learn))))
    app.command()(with_table_options(bound))
    app.command()(with_rule_options(with_table_options(confidence)))
    app.command()(with_table_options(mixture))
    app.command()(verify)
    app.command()(fit)
    app.command()(with_text_options(update))
    app.command()(query)
    app.command()(mpe)
    app.command("map")(map_states)
    app.command()(influence)
    app.command()(sensitivity)
    app.command()(with_text_options(predict))
    app.command()(with_text_options(impute))
    app.command()(sample)
    app.command()(convert)
    app.command()(compare)
    app.command()(report)
    app.command()(treewidth)
    app.command()(reproduce)
    app.add_typer(ktree)
    return app


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Handle the options that come before a command."""
    if version:
        print(twbn.__version__)
        raise typer.Exit


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code: 0 success, 1 failure, 2 wrong usage."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # the name of a file may not be text
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.showwarning = lambda message, *_, **__: err.print(f"note: {escape(str(message))}")
        return _exit_code(arguments)


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        code = int(make_app()(list(arguments), standalone_mode=False) or 0)
    except (typer.Exit, SystemExit) as stop:
        code = int(getattr(stop, "exit_code", getattr(stop, "code", 0)) or 0)
    except TwbnError as error:
        return complain(spelled(error), 2 if isinstance(error, OptionError) else 1)
    except (typer.Abort, KeyboardInterrupt):
        return complain("interrupted", 1)
    except BrokenPipeError:  # the reader of our output stopped early: not an error
        sys.stdout = None
        return 0
    except MemoryError:
        return complain("out of memory; try a smaller table, treewidth or --max-parents", 1)
    except OSError as error:
        named = error.filename and error.strerror
        return complain(f"{error.filename}: {error.strerror}" if named else str(error), 1)
    except Exception as error:
        if hasattr(error, "format_message"):  # click's own: unknown option, missing argument
            return complain(error.format_message(), 2)
        raise
    return complain("interrupted", 1) if code == 130 else code  # Ctrl-C, as typer sees it
