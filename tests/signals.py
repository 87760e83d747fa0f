"""Signals for other processes, sent when these say that they are at work."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["interrupted_command"]

#: Runs the command line with functions of the library that say whenever they report progress.
SAYING = """
import sys
import twbn
from twbn.cli import run

def saying(function):
    def wrapped(*args, **options):
        def told(*_):
            print("working", file=sys.stderr, flush=True)
        options["on_progress"] = told
        return function(*args, **options)
    return wrapped

twbn.learn = saying(twbn.learn)
twbn.compute_scores = saying(twbn.compute_scores)
sys.exit(run(sys.argv[1:]))
"""


def interrupted_command(
    *arguments: object, after: int = 1, before: Callable[[int], None] = lambda _: None
) -> subprocess.CompletedProcess[str]:
    """Run a command and press Ctrl-C when it has reported progress for the `after`-th time.

    `before` is called with the process's number just then. If the command is done before, it is
    not interrupted. What the process says of its progress is left out of its output.
    """
    command = [sys.executable, "-c", SAYING, *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        said, left = [], after
        for line in process.stderr:
            if line != "working\n":
                said.append(line)
                continue
            left -= 1
            if left == 0:
                before(process.pid)
                process.send_signal(signal.SIGINT)
        printed = process.stdout.read()
    return subprocess.CompletedProcess(command, process.returncode, printed, "".join(said))
