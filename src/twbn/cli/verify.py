"""The command that checks a result file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import twbn
from twbn.cli.console import err, escape, out, print_json, progress_bar
from twbn.cli.files import like_result, read_data, read_scores
from twbn.cli.options import AsJson, StatesFrom
from twbn.data.discretize import SCORE
from twbn.errors import DataError, OptionError, VerificationError
from twbn.learning.certificate import check_certificate
from twbn.scores.kinds import SCORES
from twbn.search.certificate import read_certificate
from twbn.search.result_file import ResultClaims, read_claims

if TYPE_CHECKING:
    from twbn.search.certificate.checker import Checked

__all__ = ["verify"]


def verify(
    result: Annotated[Path, typer.Argument(help="Result file (JSON).", metavar="RESULT")],
    data: Annotated[Path, typer.Option("--data", help="Table or scores (.jkl).", metavar="DATA")],
    certificate: Annotated[
        Path | None,
        typer.Option(help="Also check this proof of optimality.", metavar="CERTIFICATE"),
    ] = None,
    states_from: StatesFrom = None,
    as_json: AsJson = False,
) -> None:
    """Check a result file from the data alone: arcs, score, decomposition, width."""
    claimed = read_claims(result)
    if data.suffix == ".jkl":
        given = read_scores(data, states_from)
        source: twbn.Table | twbn.ScoreTable = given
        scores: twbn.LocalScores = given
    elif claimed.score_name not in SCORES:
        msg = (
            f"{result} was learned with scores {claimed.score_name}; verify it against those, "
            "with --data FILE.jkl"
        )
        raise OptionError(msg)
    else:
        source = table = _read_rows(data, claimed).determined()
        if table.n_missing.any():
            err.print("note: cells are missing; structure and proof are checked, the score is not")
            _tell(claimed, claimed.verify_structure(), None, as_json=as_json)
            return
        scores = twbn.LazyScores(
            table, score=claimed.score_name, ess=claimed.ess or 1.0, max_parents=None
        )
    problems = claimed.verify(scores)
    checked = None
    if certificate is not None and not problems:
        with progress_bar("checking the certificate", quiet=as_json) as report:
            checked = check_certificate(read_certificate(certificate), claimed, source, report)
        problems = checked.problems
    _tell(claimed, problems, checked, as_json=as_json)


def _read_rows(data: Path, claimed: ResultClaims) -> twbn.Table:
    """Return the rows, coded anew or, where that gives something else, as the file says.

    Cuts that a search chose, or that came with earlier rows, are not found again from these rows.
    """
    by_score = claimed.data_options.get("discretize") == SCORE
    table = None if by_score else read_data(data, claimed.data_options)
    if table is not None and table.determined().fingerprint == claimed.about["fingerprint"]:
        return table
    like = _like_claims(claimed)
    if table is None:
        return read_data(data, claimed.data_options, like)
    if like is None or set(like.names) != set(table.names):
        return table
    try:
        return read_data(data, claimed.data_options, like)
    except DataError:  # these are other rows, which the check of the fingerprint tells
        return table


def _like_claims(claimed: ResultClaims) -> twbn.Table | None:
    """Return a blank table coded as the file says, if it can be believed so far."""
    try:
        return like_result(claimed.result())
    except VerificationError:
        return None  # what is wrong with the file is told in full below


def _tell(
    claimed: ResultClaims, problems: list[str], checked: Checked | None, *, as_json: bool
) -> None:
    """Print what is wrong, or what was verified."""
    if as_json:
        proved = checked is not None and not problems
        print_json({"verified": not problems, "proved_optimal": proved, "problems": problems})
    elif problems:
        for problem in problems:
            err.print(f"[bold red]wrong:[/] {escape(problem)}")
    else:
        out.print(
            f"verified: score {claimed.score:.4f}, treewidth {claimed.treewidth} "
            f"(limit {claimed.about['treewidth_limit']})"
        )
        if claimed.about["max_states"] is not None:
            out.print(
                f"the largest bag has {claimed.largest_bag_states:,} joint states "
                f"(limit {claimed.about['max_states']:,})"
            )
        if checked is not None:
            out.print(
                f"proved optimal: {checked.n_branches:,} branches by obstructions, "
                f"{checked.n_leaves:,} leaves that no structure escapes from"
            )
        elif claimed.status == "optimal":
            out.print("optimality is claimed by the file; it was not proved again")
    if problems:
        raise typer.Exit(1)
