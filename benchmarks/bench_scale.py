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

import numpy as np

import twbn
from wide_data import random_dag, sample_rows, write_wide

SIZES = (100, 200, 500, 1000, 2000, 5000)
PLOT = Path(__file__).with_name("time_per_move.svg")
#: Proposals for each variable while moves are timed.
PROPOSALS = 4000
TREEWIDTH = 5


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


def print_runs(seconds: float) -> None:
    print(f"\ntwbn learn from CSV to verified network, limit {seconds:.0f} s, 2 workers")
    print(f"{'variables':>10}{'seconds':>9}{'MiB':>7}{'score':>16}{'true network':>16}")
    for n in (1000, 5000):
        with tempfile.TemporaryDirectory() as folder:
            data, out = Path(folder, "wide.csv"), Path(folder, "result.json")
            truth = write_wide(data, n, 2000)
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
            print(
                f"{n:10}{taken:9.1f}{mib:7.0f}{found.score:16.1f}{scores.total(truth):16.1f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of the runs from CSV")
    wanted = parser.parse_args()
    print_growth()
    print_runs(wanted.seconds)


if __name__ == "__main__":
    main()
