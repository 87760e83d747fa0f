"""Confidence in arcs: speed, the consensus beside one learned network, and calibration.

python benchmarks/bench_confidence.py [--tables 10] [--n 200] [--seconds 60]

Tables of rows are drawn from a known network (bif/alarm.bif by default); for each, a bootstrap is
compared with a single search that takes as long. Data: TWBN_SHARED, by default ../shared beside the
project.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import time
import warnings
from pathlib import Path

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))
EDGES = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", default="alarm", help="a file of bif/, without its ending")
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("-n", "--n", type=int, default=200, help="resamples")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--treewidth", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    wanted = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows of the file that do not quite sum to one
        network = twbn.read_network(SHARED / "bif" / f"{wanted.network}.bif")
    true = network.dag.cpdag()
    joined = {frozenset((network.names[u], network.names[v])) for u, v in network.dag.arcs}
    print(f"{wanted.network}, {wanted.rows:,} rows, treewidth {wanted.treewidth}")
    titles = ("resamples", "seconds", "consensus", "single")
    print(f"{'table':>6}" + "".join(f"{title:>11}" for title in titles))
    distances: list[tuple[int, int]] = []
    counts = [[0, 0] for _ in EDGES[1:]]
    for seed in range(wanted.tables):
        rows = network.sample(wanted.rows, seed=seed)
        options = {"treewidth": wanted.treewidth, "n_jobs": wanted.workers, "seed": seed}
        begun = time.perf_counter()
        found = twbn.confidence(rows, n=wanted.n, time_limit=wanted.seconds, **options)
        seconds = time.perf_counter() - begun
        agreed = found.consensus(n_jobs=wanted.workers)
        alone = twbn.learn(rows, time_limit=min(wanted.seconds, 10), **options)
        both = [r.dag.cpdag().distance(true) for r in (agreed, alone)]
        distances.append((both[0], both[1]))
        print(f"{seed:6}{found.n:11}{seconds:11.1f}{both[0]:11}{both[1]:11}", flush=True)
        for arc, share in found.arcs.items():
            i = next(i for i, edge in enumerate(EDGES[1:]) if share <= edge)
            counts[i][0] += 1
            counts[i][1] += frozenset(arc) in joined
    means = [statistics.mean(column) for column in zip(*distances, strict=True)]
    print(f"mean structural Hamming distance: consensus {means[0]:.2f}, single {means[1]:.2f}")
    print("arcs by frequency, and how many of them join variables that the network joins")
    for (low, high), (n_all, n_right) in zip(itertools.pairwise(EDGES), counts, strict=True):
        right = f"{n_right / n_all:8.1%}" if n_all else f"{'-':>8}"
        print(f"  {low:4.2f} to {high:4.2f}{n_all:8,}{right}")


if __name__ == "__main__":
    main()
