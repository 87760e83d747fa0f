"""What more workers buy: chains that share a budget of iterations, beside one with half of it.

python benchmarks/bench_workers.py [--iterations 24000000] [--seeds 3]

Iterations are counted, not seconds, so that threads on any machine show what as many workers would.
Data: TWBN_SHARED, by default ../shared beside the project.
"""

from __future__ import annotations

import argparse
import os
import statistics
from pathlib import Path

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))
#: Score file, or table with the largest parent set; and the treewidth limit.
CASES = {"syn500": (None, 4), "community": (2, 4), "pigs-5000": (None, 5)}
CHAINS = (1, 2, 4, 8)


def scores_of(name: str, max_parents: int | None) -> twbn.ScoreTable:
    if max_parents is None:
        return twbn.read_jkl(SHARED / "scores" / f"{name}.jkl")
    path = SHARED / "uci" / "binary" / f"{name}.csv"
    return twbn.compute_scores(path, max_parents=max_parents, n_jobs=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=24_000_000, help="of all chains together")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", nargs="+", default=list(CASES))
    wanted = parser.parse_args()
    runs = [(1, wanted.iterations // 2), *((chains, wanted.iterations) for chains in CHAINS)]
    titles = ["1, half", *map(str, CHAINS)]
    print(f"{wanted.iterations:,} iterations in all, median of {wanted.seeds} seeds, by chains")
    print(f"{'data':12}" + "".join(f"{title:>14}" for title in titles))
    for name in wanted.data:
        max_parents, treewidth = CASES[name]
        scores = scores_of(name, max_parents)
        line = []
        for chains, iterations in runs:
            found = [
                twbn.learn(
                    scores,
                    treewidth=treewidth,
                    method="anneal",
                    chains=chains,
                    max_iterations=iterations,
                    n_jobs=-1,
                    seed=seed,
                ).score
                for seed in range(wanted.seeds)
            ]
            line.append(statistics.median(found))
        print(f"{name:12}" + "".join(f"{score:14.1f}" for score in line), flush=True)


if __name__ == "__main__":
    main()
