"""Exact inference and network files, beside pyAgrum and pgmpy. One thread; run by `make bench`.

Data: TWBN_SHARED, by default ../shared beside the project.
"""

from __future__ import annotations

import argparse
import logging
import os
import resource
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import twbn
from questions import FINDINGS, N_QUESTIONS, ask_agrum, ask_twbn
from questions import N_ROWS as QUESTION_ROWS
from wide_data import random_dag, sample_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))
NETWORKS = [
    "alarm",
    "andes",
    "asia",
    "cancer",
    "child",
    "hailfinder",
    "hepar2",
    "insurance",
    "munin1",
    "pigs",
    "sachs",
    "win95pts",
]
N_ROWS, GAPS = 10_000, 0.3
N_AGRUM, N_PGMPY = 500, 20  # rows that the others are timed on


def seconds(job: Callable[[], object], repeat: int = 3) -> float:
    """Return the best time of a few runs."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        job()
        times.append(time.perf_counter() - begun)
    return min(times)


def print_questions(folder: Path, names: Sequence[str]) -> None:
    """Print the times of random questions to networks beside those of pyAgrum."""
    kinds = ("cold question", "warm question", "all marginals", "row with gaps")
    print(
        f"random questions ({N_QUESTIONS} each with {', '.join(map(str, FINDINGS))} findings), all "
        f"marginals, {QUESTION_ROWS:,} rows; microseconds for one, and how often pyAgrum takes that"
    )
    print(f"{'network':14}{'n':>5}" + "".join(f"{kind:>23}" for kind in kinds))
    ratios = []
    for name in names:
        path = folder / f"{name}.bif"
        if not path.exists():
            print(f"{name}: no data at {path}")
            continue
        network = twbn.read_network(path)
        ours, answers = ask_twbn(network, seed=1)
        theirs, difference = ask_agrum(network, 1, answers)
        if difference > 1e-9:
            raise SystemExit(f"{name}: pyAgrum's answers differ by {difference:.1e}")
        ratios.append([b / a for a, b in zip(ours, theirs, strict=True)])
        cells = zip(ours, ratios[-1], strict=True)
        line = "".join(f"{1e6 * us:14,.1f}{ratio:8,.1f}x" for us, ratio in cells)
        print(f"{name:14}{network.n_variables:5}{line}", flush=True)
    if ratios:
        means = np.exp(np.log(ratios).mean(axis=0))
        print(f"{'geometric mean':19}" + "".join(f"{'':14}{mean:8,.1f}x" for mean in means))
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of both: {mib:,.0f} MiB\n", flush=True)


def learned_network() -> twbn.Network:
    """Return a network of 100 variables and treewidth 4, learned from rows of another."""
    rng = np.random.default_rng(0)
    rows = sample_rows(random_dag(100, 4, 3, rng), 2000, rng)
    table = twbn.Table.from_codes(rows.astype(np.int32))
    return twbn.fit(twbn.learn(table, treewidth=4, time_limit=10, method="anneal"), table)


def print_rows(name: str, network: twbn.Network, folder: Path) -> None:
    import pyagrum
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader

    rng = np.random.default_rng(1)
    rows = network.sample(N_ROWS, seed=1)
    codes = np.where(rng.random(rows.codes.shape) < GAPS, -1, rows.codes).astype(np.int32)
    table = twbn.Table(rows.names, rows.codings, codes)
    v = network.n_variables // 2
    target = network.names[v]
    engine = twbn.Inference(network)
    found = engine.predict_proba(table, target)
    ours = seconds(lambda: engine.predict_proba(table, target)) / N_ROWS

    file = folder / "network.bif"
    twbn.write_network(network, file)
    evidence = [known_cells(network, row, v) for row in codes]
    lazy = pyagrum.LazyPropagation(pyagrum.loadBN(str(file)))
    lazy.setTargets({target})

    def ask_agrum() -> None:
        for i in range(N_AGRUM):
            lazy.setEvidence(evidence[i])
            lazy.makeInference()
            if np.abs(lazy.posterior(target).toarray() - found[i]).max() > 1e-4:
                raise SystemExit(name + ": pyAgrum has another answer")

    agrum = seconds(ask_agrum, 1) / N_AGRUM
    elimination = VariableElimination(BIFReader(str(file)).get_model())

    def ask_pgmpy() -> None:
        for i in range(N_PGMPY):
            elimination.query([target], evidence=evidence[i], show_progress=False)

    pgmpy = seconds(ask_pgmpy, 1) / N_PGMPY
    one = known_states(network, evidence[0])
    single = seconds(lambda: engine.query([target], one), 50)

    def ask_one() -> None:
        lazy.setEvidence(evidence[0])
        lazy.makeInference()
        lazy.posterior(target)

    single_agrum = seconds(ask_one, 50)
    print(
        f"{name:14}{1e6 * ours:9.1f}{agrum / ours:10.0f}x{pgmpy / ours:10.0f}x"
        f"{1e6 * single:12.0f}{single_agrum / single:10.1f}x",
        flush=True,
    )


def known_cells(network: twbn.Network, row: NDArray[np.int32], left_out: int) -> dict[str, str]:
    return {
        name: str(network.states[u][row[u]])
        for u, name in enumerate(network.names)
        if row[u] >= 0 and u != left_out
    }


def known_states(network: twbn.Network, evidence: dict[str, str]) -> dict[str, object]:
    codes = {name: network.state_code(network.index(name), s) for name, s in evidence.items()}
    return {name: network.states[network.index(name)][code] for name, code in codes.items()}


def print_files(folder: Path) -> None:
    from pgmpy.readwrite import BIFReader, BIFWriter

    path = SHARED / "bif" / "munin1.bif"
    if not path.exists():
        print(f"no data at {path}")
        return
    network = twbn.read_network(path)
    reading = seconds(lambda: twbn.read_network(path))
    writing = seconds(lambda: twbn.write_network(network, folder / "ours.bif"))
    model = BIFReader(str(path)).get_model()
    theirs_read = seconds(lambda: BIFReader(str(path)).get_model(), 1)
    theirs_write = seconds(lambda: BIFWriter(model).write(str(folder / "theirs.bif")), 1)
    print(
        f"\nmunin1.bif: read in {reading:.3f} s, {theirs_read / reading:.0f} times as fast as "
        f"pgmpy; written in {writing:.3f} s, {theirs_write / writing:.0f} times"
    )


def print_wide() -> None:
    rng = np.random.default_rng(5)
    rows = sample_rows(random_dag(5000, 5, 3, rng), 1000, rng)
    table = twbn.Table.from_codes(rows.astype(np.int32))
    result = twbn.learn(table, treewidth=5, time_limit=60, method="anneal", n_jobs=2)
    network = twbn.fit(result, table)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.perf_counter()
    engine = twbn.Inference(network)
    engine.marginals()
    taken = time.perf_counter() - begun
    evidence = known_states(network, known_cells(network, table.codes[0], 0))
    some = dict(list(evidence.items())[::3])
    with_evidence = seconds(lambda: engine.marginals(some), 1)
    mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"5,000 variables, treewidth {result.treewidth}: tree and all marginals in {taken:.2f} s, "
        f"given 1,667 cells in {with_evidence:.2f} s; {mib:.0f} MiB more"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=SHARED / "bif", help="BIF files")
    parser.add_argument("--networks", nargs="*", default=NETWORKS)
    parser.add_argument("--only-questions", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    print_questions(options.folder, options.networks)
    if options.only_questions:
        return
    print(f"posterior of one column for {N_ROWS:,} rows, {GAPS:.0%} of the cells missing at random")
    print(
        f"{'network':14}{'µs/row':>9}{'pyAgrum':>11}{'pgmpy':>11}{'one query µs':>14}{'pyAgrum':>9}"
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for name in ("alarm", "hailfinder"):
            path = SHARED / "bif" / f"{name}.bif"
            if path.exists():
                print_rows(name, twbn.read_network(path), folder)
            else:
                print(f"{name}: no data at {path}")
        print_rows("learned, 100", learned_network(), folder)
        print_files(folder)
    print_wide()


if __name__ == "__main__":
    main()
