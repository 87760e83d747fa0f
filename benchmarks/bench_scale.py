"""How annealing grows with the number of variables; a plot, and runs from CSV to network.

Run by `make bench-scale`. Writes benchmarks/time_per_move.svg when matplotlib is there.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import twbn
from wide_data import random_dag, sample_rows, write_wide

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = (100, 200, 500, 1000, 2000, 5000)
PLOT = Path(__file__).with_name("time_per_move.svg")
#: Proposals for each variable while moves are timed.
PROPOSALS = 4000
TREEWIDTH = 5
#: Variables and seconds of the runs from CSV.
RUNS = ("300:20", "1000:60", "5000:60")


def time_per_move(n: int) -> tuple[float, float]:
    """Return microseconds for each accepted move and for each proposal, one worker."""
    rng = np.random.default_rng(n)
    rows = sample_rows(random_dag(n, TREEWIDTH, 3, rng), 500, rng)
    table = twbn.Table.from_codes(rows.astype(np.int32))
    scores = twbn.compute_scores(table, budget=200, n_jobs=2)

    def run(n_proposals: int) -> twbn.SearchResult:
        return twbn.learn(
            scores, treewidth=TREEWIDTH, method="anneal", max_iterations=n_proposals, n_jobs=1
        )

    run(1)  # what is built once is built before the clock starts
    result = run(PROPOSALS * n)
    if not result.n_accepted:
        sys.exit("no move was accepted")
    seconds = 1e6 * result.seconds
    return seconds / result.n_accepted, seconds / result.n_iterations


def print_growth() -> None:
    print(f"annealing, one worker, treewidth {TREEWIDTH}; microseconds")
    print(f"{'variables':>10}{'per accepted move':>19}{'per proposal':>14}{'beside n = 100':>16}")
    times = []
    for n in SIZES:
        per_move, per_proposal = time_per_move(n)
        times.append(per_move)
        ratio = per_move / times[0]
        print(f"{n:10}{per_move:19.2f}{per_proposal:14.3f}{ratio:15.2f}x", flush=True)
    logarithmic = math.log(SIZES[-1]) / math.log(SIZES[0])
    print(f"growth from {SIZES[0]} to {SIZES[-1]}: {times[-1] / times[0]:.2f} times; ", end="")
    print(f"logarithmic growth would be {logarithmic:.2f} times")
    try:
        draw(times)
    except ImportError:
        print("no plot: matplotlib is not installed")


def draw(times: list[float]) -> None:
    """Plot the time per accepted move against the number of variables."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5))
    axes.plot(SIZES, times, marker="o", label="measured")
    growth = [times[0] * math.log(n) / math.log(SIZES[0]) for n in SIZES]
    axes.plot(SIZES, growth, linestyle="--", label="logarithmic")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("variables")
    axes.set_ylabel("µs per accepted move")
    axes.legend()
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None})
    print(f"plot in {PLOT.name}")


def print_run(n: int, seconds: float, seed: int) -> None:
    """Learn from a CSV file and print the score beside that of the network the rows came from."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "wide.csv"), Path(folder, "result.json")
        truth = write_wide(data, n, 2000, seed=seed)
        command = [
            sys.executable, "-m", "twbn", "learn", str(data), "--time-limit", str(seconds),
            "--n-jobs", "2", "-o", str(out),
        ]  # fmt: skip
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        taken = time.perf_counter() - begun
        mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        scores = twbn.LazyScores(twbn.read_table(data), max_parents=None)
        found = twbn.search.read_result(out)
        problems = found.verify(scores)
        if problems:
            raise SystemExit("\n".join(problems))
        true = scores.total(truth)
        beside = f"{found.score:16.1f}{true:16.1f}{found.score - true:+12.1f}"
        print(f"{n:10}{seed:6}{seconds:8.0f}{taken:9.1f}{mib:7.0f}{beside}", flush=True)


def print_runs(runs: Sequence[tuple[int, float]], seeds: int) -> None:
    print("\ntwbn learn from CSV to verified structure, defaults, 2 workers")
    print(
        f"{'variables':>10}{'seed':>6}{'limit s':>8}{'seconds':>9}{'MiB':>7}{'score':>16}"
        f"{'true network':>16}{'above it':>12}"
    )
    for n, seconds in runs:
        for seed in range(seeds):
            print_run(n, seconds, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--runs", nargs="*", default=RUNS, metavar="VARIABLES:SECONDS", help="runs from CSV"
    )
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only-runs", action="store_true", help="do not time moves")
    wanted = parser.parse_args()
    if not wanted.only_runs:
        print_growth()
    runs = [run.split(":") for run in wanted.runs]
    print_runs([(int(n), float(seconds)) for n, seconds in runs], wanted.seeds)


if __name__ == "__main__":
    main()
