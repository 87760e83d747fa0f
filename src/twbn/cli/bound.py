"""The command that bounds the score of every structure."""

from __future__ import annotations

from typing import Any

import twbn
from twbn.cli.console import out, print_json, search_status, show_notes
from twbn.cli.files import read_scores_or_data
from twbn.cli.options import (
    AsJson,
    Ess,
    Jobs,
    MaxParents,
    Score,
    Seed,
    Source,
    TimeLimit,
    Treewidth,
)
from twbn.deadline import Deadline
from twbn.interrupts import deferred
from twbn.scores.rules import within_treewidth
from twbn.search.run import check_limits

__all__ = ["bound"]

#: Fraction of the time limit that scoring may take before a bound is computed.
SCORING_SHARE = 0.8


def bound(
    source: Source,
    reading: dict[str, Any],
    treewidth: Treewidth = 4,
    kind: Score = "bdeu",
    ess: Ess = 1.0,
    max_parents: MaxParents = 3,
    time_limit: TimeLimit = 60.0,
    seed: Seed = 0,
    n_jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Compute a score that no structure of bounded treewidth exceeds."""
    clock = Deadline(check_limits(treewidth, time_limit, None, seed, n_jobs))
    scores = read_scores_or_data(
        source,
        reading,
        {"score": (kind, "bdeu"), "ess": (ess, 1.0), "max-parents": (max_parents, 3)},
    )
    with search_status(quiet=as_json) as report, deferred():
        if isinstance(scores, twbn.Table):
            scores = twbn.compute_scores(
                scores,
                score=kind,
                ess=ess,
                n_jobs=n_jobs,
                time_limit=clock.share(SCORING_SHARE, least=0.01).time_limit,
                max_parents=within_treewidth(max_parents, treewidth),
            )
        found = twbn.upper_bound(
            scores,
            treewidth=treewidth,
            time_limit=clock.left,
            seed=seed,
            n_jobs=n_jobs,
            on_bound=None if report is None else lambda s, b: report(s, 0, b),
        )
    if as_json:
        print_json(
            {
                "bound": found.value,
                "treewidth_limit": treewidth,
                "status": found.status,
                "seconds": found.seconds,
                "trace": [[p.seconds, p.bound] for p in found.trace],
                "notes": list(found.notes),
            }
        )
        return
    show_notes(found.notes)
    out.print(f"no structure of treewidth at most {treewidth} scores above {found.value:.4f}")
    out.print(
        f"{found.n_rounds:,} rounds, {found.n_rows:,} rows in {found.seconds:.1f} s "
        f"({found.status.replace('_', ' ')})"
    )
