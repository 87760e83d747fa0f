"""Sampling k-trees: k-trees per second, growth with n and k, two workers, memory.

Run by `make bench`. Data: TWBN_SHARED, by default ../shared beside the project; the paper's sets
that are not there are left out, and said so.
"""

from __future__ import annotations

import math
import os
import resource
import time
from pathlib import Path

import numpy as np

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))
SECONDS = 2.0


def scores_of(name: str) -> twbn.ScoreTable | None:
    try:
        table = twbn.datasets.load(name, folder=SHARED / "uci" / "raw")
    except twbn.TwbnError as error:
        print(f"{name:12}{error}")
        return None
    return twbn.compute_scores(table, max_parents=2 if name == "hill" else 3)


def random_scores(n: int, seed: int = 0) -> twbn.ScoreTable:
    """Return made-up scores: 30 sets of one or two parents near each variable."""
    rng = np.random.default_rng(seed)
    sets = []
    for v in range(n):
        near = [u for u in range(max(0, v - 15), min(n, v + 16)) if u != v]
        families: dict[tuple[int, ...], float] = {(): -100.0}
        for _ in range(30):
            size = int(rng.integers(1, 3))
            members = tuple(sorted(rng.choice(near, size, replace=False).tolist()))
            families[members] = -float(rng.uniform(50, 100))
        sets.append(families)
    return twbn.ScoreTable.from_sets([f"x{v}" for v in range(n)], sets)


def rate(scores: twbn.ScoreTable, method: str, k: int, n_jobs: int = 1) -> float:
    """Return k-trees per second, the better of two runs."""
    best = 0.0
    for seed in range(2):
        result = twbn.learn(
            scores, treewidth=k, method=method, time_limit=SECONDS, seed=seed, n_jobs=n_jobs
        )
        best = max(best, result.n_iterations / SECONDS)
    return best


def print_version_2() -> None:
    print("Version 2 (an order at random in each k-tree), treewidth 4, scores precomputed")
    print(f"{'data':12}{'n':>6}{'k-trees/s':>12}{'wanted':>10}{'2 workers':>11}")
    for name, wanted in (("housing", 300_000), ("wdbc", 100_000), ("hill", 30_000)):
        scores = scores_of(name)
        if scores is None:
            continue
        one, two = rate(scores, "sample", 4), rate(scores, "sample", 4, n_jobs=2)
        print(f"{name:12}{scores.n_variables:6}{one:12,.0f}{wanted:10,}{two / one:10.2f}x")


def print_growth_with_n() -> None:
    print("\nVersion 2, growth with n (made-up scores), and memory of the process")
    print(f"{'n':>7}{'k-trees/s':>12}{'ns per variable':>17}{'GiB before':>12}{'after':>8}")
    for n in (100, 1_000, 10_000):
        scores = random_scores(n)
        twbn.learn(scores, treewidth=4, method="sample", max_iterations=2)  # the hash is built once
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        speed = rate(scores, "sample", 4)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(f"{n:7,}{speed:12,.0f}{1e9 / speed / n:17.1f}{before:12.3f}{after:8.3f}")


def print_version_1() -> None:
    print("\nVersion 1 (the best network inside each k-tree), hill, against k")
    scores = scores_of("hill")
    if scores is None:
        scores = random_scores(100)
        print("(made-up scores)")
    print(f"{'k':>3}{'ms per k-tree':>15}{'k 3^k (k+1)! n, to k=4':>25}{'ours, to k=4':>14}")
    costs = {}
    for k in range(1, 8):
        n_trees = 200 if k < 5 else 10 if k < 7 else 2
        start = time.perf_counter()
        twbn.learn(scores, treewidth=k, method="sample-exact", max_iterations=n_trees)
        costs[k] = 1000 * (time.perf_counter() - start) / n_trees
    theory = {k: k * 3**k * math.factorial(k + 1) for k in costs}
    for k, cost in costs.items():
        print(f"{k:3}{cost:15.3f}{theory[k] / theory[4]:25.4f}{cost / costs[4]:14.4f}")
    print(f"wanted: at most 5 ms at k = 4, n = 100; measured {costs[4]:.2f} ms")


if __name__ == "__main__":
    print_version_2()
    print_growth_with_n()
    print_version_1()
