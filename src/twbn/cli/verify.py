"""The command that checks a result file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import twbn
from twbn.cli.console import err, escape, out, print_json
from twbn.cli.files import like_result, read_data
from twbn.cli.options import AsJson
from twbn.data.discretize import SCORE
from twbn.errors import OptionError, VerificationError
from twbn.scores.kinds import SCORES
from twbn.search.result_file import ResultClaims, read_claims

__all__ = ["verify"]


def verify(
    result: Annotated[Path, typer.Argument(help="Result file (JSON).", metavar="RESULT")],
    data: Annotated[Path, typer.Option("--data", help="Table or scores (.jkl).", metavar="DATA")],
    as_json: AsJson = False,
) -> None:
    """Check a result file from the data alone: arcs, score, decomposition, width."""
    claimed = read_claims(result)
    if data.suffix == ".jkl":
        scores: twbn.LocalScores = twbn.read_jkl(data)
    elif claimed.score_name not in SCORES:
        msg = (
            f"{result} was learned with scores {claimed.score_name}; verify it against those, "
            "with --data FILE.jkl"
        )
        raise OptionError(msg)
    else:
        # Cuts that a search chose cannot be found again from the data alone.
        by_score = claimed.data_options.get("discretize") == SCORE
        like = _like_claims(claimed) if by_score else None
        table = read_data(data, claimed.data_options, like).determined()
        if table.n_missing.any():
            err.print("note: cells are missing; structure and proof are checked, the score is not")
            _tell(claimed, claimed.verify_structure(), as_json=as_json)
            return
        scores = twbn.LazyScores(
            table, score=claimed.score_name, ess=claimed.ess or 1.0, max_parents=None
        )
    _tell(claimed, claimed.verify(scores), as_json=as_json)


def _like_claims(claimed: ResultClaims) -> twbn.Table | None:
    """Return a blank table coded as the file says, if it can be believed so far."""
    try:
        return like_result(claimed.result())
    except VerificationError:
        return None  # what is wrong with the file is told in full below


def _tell(claimed: ResultClaims, problems: list[str], *, as_json: bool) -> None:
    """Print what is wrong, or what was verified."""
    if as_json:
        print_json({"verified": not problems, "problems": problems})
    elif problems:
        for problem in problems:
            err.print(f"[bold red]wrong:[/] {escape(problem)}")
    else:
        out.print(
            f"verified: score {claimed.score:.4f}, treewidth {claimed.treewidth} "
            f"(limit {claimed.about['treewidth_limit']})"
        )
        if claimed.status == "optimal":
            out.print("optimality is claimed by the file; it was not proved again")
    if problems:
        raise typer.Exit(1)
