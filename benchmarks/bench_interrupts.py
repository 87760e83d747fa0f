"""Ctrl-C at random moments of every method: how many of the networks found are lost.

python benchmarks/bench_interrupts.py [--n 200] [--methods ...] [--where process|command]
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np

import twbn

SECONDS = 0.6

#: Runs the command line and says when the search has begun.
COMMAND = """
import sys
import twbn
from dataclasses import replace
from twbn.__main__ import main
from twbn.search import method as registry

def saying(function):
    def wrapped(*args, **options):
        print("searching", file=sys.stderr, flush=True)
        return function(*args, **options)
    return wrapped

for name, method in dict(twbn.METHODS).items():
    registry._methods[name] = replace(method, function=saying(method.function))
main()
"""


def table() -> twbn.Table:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (150, 11))
    for v in range(1, 11):
        copied = rng.random(150) < 0.7
        codes[copied, v] = codes[copied, v - 1]
    return twbn.Table.from_codes(codes)


def in_process(method: str, n: int, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return how many runs were interrupted, how many ended before, how many lost their network."""
    scores = twbn.compute_scores(table(), score="loglik", max_parents=3)
    interrupted = whole = lost = 0
    for seed in range(n):
        inside = [False]

        def press(delay: float, inside: list[bool] = inside) -> None:
            time.sleep(delay)
            if inside[0]:
                os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=press, args=(float(rng.uniform(0, 1.1 * SECONDS)),))
        result: Any = None
        try:
            thread.start()
            inside[0] = True
            result = twbn.METHODS[method](scores, treewidth=2, time_limit=SECONDS, seed=seed)
            inside[0] = False
        except KeyboardInterrupt as interrupt:
            inside[0] = False
            # Raised here and not in there: the call had not begun, or had returned.
            if interrupt.__traceback__ is None or interrupt.__traceback__.tb_next is None:
                thread.join()
                whole += 1
                continue
            traceback.print_exc()
        thread.join()
        if result is None:
            lost += 1
        elif result.status == "interrupted":
            interrupted += 1
        else:
            whole += 1
    return interrupted, whole, lost


def on_command_line(method: str, n: int, rng: np.random.Generator) -> tuple[int, int, int]:
    """The same for the command line; what was found must be in its file."""
    interrupted = whole = lost = 0
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "data.csv", Path(folder) / "out.json"
        rows = table()
        lines = [",".join(rows.names), *(",".join(map(str, row)) for row in rows.codes.tolist())]
        data.write_text("\n".join(lines) + "\n", encoding="utf-8")
        for seed in range(n):
            out.unlink(missing_ok=True)
            arguments = ["learn", data, "-k", "2", "--method", method, "--time-limit", SECONDS,
                         "--score", "loglik", "--seed", seed, "-o", out]  # fmt: skip
            with subprocess.Popen(
                [sys.executable, "-c", COMMAND, *map(str, arguments)],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            ) as process:  # fmt: skip
                assert process.stderr is not None
                process.stderr.readline()  # the search has begun
                time.sleep(float(rng.uniform(0, 1.1 * SECONDS)))
                process.send_signal(signal.SIGINT)
                said = process.stderr.read()
            if "Traceback" in said or not out.exists():
                lost += 1
                print(f"lost: {out.exists()=}, {said}", file=sys.stderr)
            elif twbn.read_result(out).status == "interrupted":
                interrupted += 1
            else:
                whole += 1
    return interrupted, whole, lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--methods", nargs="*", default=list(twbn.METHODS))
    parser.add_argument("--where", choices=["process", "command"], nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs may ignore it
    print(f"{'':24} {'interrupted':>12} {'ended before':>13} {'lost':>5}")
    for where in options.where or ["process", "command"]:
        run = in_process if where == "process" else on_command_line
        for method in options.methods:
            kept, whole, lost = run(method, options.n, np.random.default_rng(0))
            print(f"{where + ', ' + method:24} {kept:12} {whole:13} {lost:5}", flush=True)


if __name__ == "__main__":
    main()
