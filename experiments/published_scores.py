"""Scores that the paper prints and that need no search: networks without arcs.

Run by `make reproduce`. Data: TWBN_SHARED, by default ../shared beside the project.
"""

from __future__ import annotations

import os
from pathlib import Path

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))

# The paper's MILP columns hold these where the solver found nothing better (two decimals, cut).
PRINTED = {"wdbc": -12313.03, "hill": -42347.68, "community": -135844.68, "audio": -2541.25}
OTHER_CODING = {"mushroom", "audio", "adult"}


def main() -> None:
    print("BDeu, equivalent sample size 1, network without arcs")
    print(f"{'data':12}{'n':>5}{'rows':>8}{'ours':>14}{'paper':>14}")
    for name in twbn.datasets.NAMES:
        try:
            table = twbn.datasets.load(name, folder=SHARED / "uci" / "raw")
        except twbn.TwbnError as error:
            print(f"{name:12}{error}")
            continue
        score = twbn.compute_scores(table, max_parents=0).total([()] * table.n_variables)
        printed = f"{PRINTED[name]:14.2f}" if name in PRINTED else f"{'':14}"
        note = "   not the paper's coding: do not compare" if name in OTHER_CODING else ""
        print(f"{name:12}{table.n_variables:5}{table.n_rows:8}{score:14.4f}{printed}{note}")


if __name__ == "__main__":
    main()
