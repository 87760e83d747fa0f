"""The paper's sampling method on its eleven data sets: best, median and worst of several seeds.

    python experiments/sampling.py --treewidth 4 --seconds 10 --seeds 10 --workers 2

Data: TWBN_SHARED, by default ../shared beside the project. Scores are computed beforehand, as in
the paper: BDeu, equivalent sample size 1, at most 3 parents (hill and community: 2).
"""

from __future__ import annotations

import argparse
import csv
import os
import platform
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))

# Medians of ten runs of ten minutes in the paper's Table 3 (treewidth 4).
PRINTED = {
    "sample": {
        "nursery": -72159.27, "breast": -2685.99, "housing": -3196.41, "zoo": -582.57,
        "letter": -187901.06, "wdbc": -7201.37, "hill": -1137.03, "community": -93300.99,
    },
    "sample-exact": {
        "nursery": -72239.34, "breast": -2714.39, "housing": -3458.86, "zoo": -676.20,
        "letter": -198054.51, "wdbc": -8907.39, "hill": -1411.53, "community": -112910.15,
    },
}  # fmt: skip
OTHER_CODING = {"mushroom", "audio", "adult"}


def run(job: tuple[str, str, int, float, int]) -> tuple[str, str, int, float, int]:
    name, method, treewidth, seconds, seed = job
    table = twbn.datasets.load(name, folder=SHARED / "uci" / "raw")
    scores = twbn.compute_scores(table, max_parents=2 if name in {"hill", "community"} else 3)
    result = twbn.learn(scores, treewidth=treewidth, method=method, time_limit=seconds, seed=seed)
    return name, method, seed, result.score, result.n_iterations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--treewidth", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--methods", default="sample,sample-exact")
    parser.add_argument("--csv", type=Path, help="also write every run to this file")
    options = parser.parse_args()
    jobs = [
        (name, method, options.treewidth, options.seconds, seed)
        for method in options.methods.split(",")
        for name in twbn.datasets.NAMES
        for seed in range(options.seeds)
    ]
    with ProcessPoolExecutor(options.workers) as pool:
        runs = list(pool.map(run, jobs))
    print(f"treewidth {options.treewidth}, {options.seconds:g} s, {options.seeds} seeds")
    for method in options.methods.split(","):
        print(f"\n{method}")
        print(f"{'data':12}{'best':>14}{'median':>14}{'worst':>14}{'k-trees':>12}{'paper':>14}")
        for name in twbn.datasets.NAMES:
            mine = [(score, n) for d, m, _, score, n in runs if (d, m) == (name, method)]
            found = sorted((score for score, _ in mine), reverse=True)
            n_trees = statistics.median(n for _, n in mine)
            printed = PRINTED[method].get(name) if options.treewidth == 4 else None
            note = f"{printed:14.2f}" if printed else f"{'':14}"
            note += "  not the paper's coding" if name in OTHER_CODING else ""
            print(
                f"{name:12}{found[0]:14.2f}{statistics.median(found):14.2f}{found[-1]:14.2f}"
                f"{n_trees:12,.0f}{note}"
            )
    if options.csv:
        with options.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["# " + " ".join(sys.argv), twbn.__version__, platform.platform()])
            writer.writerow(["data", "method", "seed", "score", "k-trees"])
            writer.writerows(runs)


if __name__ == "__main__":
    main()
