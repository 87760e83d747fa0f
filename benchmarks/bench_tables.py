"""Coding and reading tables: ratios against pandas in the same run, and a table beyond memory.

python benchmarks/bench_tables.py [--rows 1000000] [--large 20000000] [--folder FOLDER]

The large table is made, read in chunks and learned from in a process of its own, whose peak memory
is printed; ``--large 0`` leaves it out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import twbn

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = 30
ROUNDS = 3

LARGE = """
import resource, sys, time
import twbn
start = time.perf_counter()
table = twbn.read_table(sys.argv[1], distinct=True)
read = time.perf_counter() - start
result = twbn.learn(table, treewidth=3, time_limit=20)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"{table.total_weight:,.0f} rows of {table.n_variables} columns: {table.n_rows:,} distinct; "
      f"read in {read:.0f} s, learned in {time.perf_counter() - start - read:.0f} s "
      f"({len(result.dag.arcs)} arcs), peak memory {peak:.2f} GiB")
"""


def seconds(function: Callable[[], Any]) -> float:
    """Return the least of a few times."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def integers(n_rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({f"v{v}": rng.integers(0, 2 + 3 * v, n_rows) for v in range(COLUMNS)})


def report(what: str, ours: float, bound: float) -> None:
    mark = "" if ours <= bound else "  <-- missed"
    print(f"{what:34} {ours:7.2f} s, allowed {bound:7.2f} s{mark}", flush=True)


def coding_and_reading(n_rows: int, folder: Path) -> None:
    frame = integers(n_rows)
    factorized = seconds(lambda: [pd.factorize(frame[name]) for name in frame])
    coded = seconds(lambda: twbn.as_table(frame))
    print(f"{n_rows:,} rows of {COLUMNS} integers; pandas.factorize {factorized:.2f} s, ", end="")
    print(f"as_table {coded:.2f} s, ratio {coded / factorized:.2f}")
    report("as_table, 3 times factorize", coded, 3 * factorized)
    for ending, write, read in (
        ("csv", lambda path: frame.to_csv(path, index=False), pd.read_csv),
        ("parquet", frame.to_parquet, pd.read_parquet),
    ):
        path = folder / f"table.{ending}"
        write(path)
        theirs = seconds(lambda path=path, read=read: read(path))  # type: ignore[misc]
        ours = seconds(lambda path=path: twbn.read_table(path))  # type: ignore[misc]
        print(f"{ending}: pandas {theirs:.2f} s, read_table {ours:.2f} s")
        report(f"read_table of {ending}", ours, 2 * theirs + 3 * factorized)
        path.unlink()


def prediction(n_rows: int) -> None:
    frame = integers(n_rows // 5).iloc[:, :12]
    table = twbn.as_table(frame)
    result = twbn.learn(table, treewidth=3, max_iterations=20_000)
    engine = twbn.Inference(twbn.fit(result, table))
    from_table = seconds(lambda: engine.predict_proba(table, "v3"))
    from_frame = seconds(lambda: engine.predict_proba(frame, "v3"))
    print(f"predict_proba: table {from_table:.2f} s, frame {from_frame:.2f} s")
    report("predict_proba from a frame", from_frame, 1.5 * from_table)


def beyond_memory(n_rows: int, folder: Path) -> None:
    path = folder / "large.parquet"
    rng = np.random.default_rng(1)
    writer = None
    for first in range(0, n_rows, 2**20):
        n = min(2**20, n_rows - first)
        columns: dict[str, Any] = {"v0": rng.integers(0, 4, n)}
        for v in range(1, 20):  # a chain with some noise: neighbours tell of each other
            before, noise = columns[f"v{v - 1}"], rng.random(n) < 0.08
            columns[f"v{v}"] = np.where(noise, rng.integers(0, 2 + v % 3, n), before % (2 + v % 3))
        batch = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, batch.schema)
        writer.write_table(batch)
    if writer is not None:
        writer.close()
        subprocess.run([sys.executable, "-c", LARGE, str(path)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, default=20_000_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        coding_and_reading(options.rows, Path(folder))
        prediction(options.rows)
        if options.large:
            beyond_memory(options.large, Path(folder))


if __name__ == "__main__":
    main()
