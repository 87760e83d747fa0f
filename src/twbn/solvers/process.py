"""The parent's side of a solver process: start it, communicate with it, clean up after it."""

from __future__ import annotations

import pickle
import queue
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

from twbn import interrupts

if TYPE_CHECKING:
    from twbn.deadline import Deadline
    from twbn.solvers.job import Event

__all__ = ["SolverDiedError", "SolverProcess"]

#: The folder that contains the package, and the code with which a process runs one of its modules.
PACKAGE_FOLDER = Path(__file__).parents[2]
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "import importlib; importlib.import_module(sys.argv[2]).main()"
)


class SolverDiedError(Exception):
    """The solver process ended before it had answered."""


class SolverProcess:
    """A solver process, which runs until `end` is called.

    Any object can be sent to it at any time; its answers arrive as events.
    """

    def __init__(self, module: str = "twbn.solvers.highs") -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end
        self._process = subprocess.Popen(
            # -P: do not import from the current folder. If twbn is not installed but is on our
            # path, the child finds it there, after everything else.
            [sys.executable, "-P", "-c", _START, str(PACKAGE_FOLDER), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C is for us; we end the child ourselves
        )
        assert self._process.stdout is not None
        try:
            self._events, self._reader = _listen(self._process.stdout)
        except BaseException:
            self._process.kill()
            raise

    def send(self, content: object) -> None:
        """Send one object to the process."""
        assert self._process.stdin is not None
        try:
            pickle.dump(content, self._process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death() from None

    def receive(self, deadline: Deadline, stop: threading.Event | None = None) -> Event:
        """Return the next event.

        Raises TimeoutError if the deadline passes or `stop` is set, KeyboardInterrupt on Ctrl-C.
        """
        while stop is None or not stop.is_set():
            if interrupts.pending():
                raise KeyboardInterrupt
            left = deadline.left_or_forever
            if left <= 0:
                raise TimeoutError
            try:
                event = self._events.get(timeout=min(left, 0.1))  # short, to notice Ctrl-C
            except queue.Empty:
                continue
            if event is None:
                raise self._death()
            return event
        raise TimeoutError

    def _death(self) -> SolverDiedError:
        """Return an error with the exit code and the last line of standard error, if any."""
        code = self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        words = f": {lines[-1].strip()}" if lines else ""
        return SolverDiedError(f"the solver process ended with code {code}{words}")

    def end(self) -> None:
        """Kill the process, join the reader thread and close the pipes."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


Events: TypeAlias = "queue.Queue[Event | None]"


def _listen(stream: IO[bytes]) -> tuple[Events, threading.Thread]:
    """Return a queue that a thread fills with the events of a stream; None at its end."""
    events: Events = queue.Queue()

    def read() -> None:
        try:
            while head := stream.read(8):
                (length,) = struct.unpack("<Q", head)
                events.put(pickle.loads(stream.read(length)))
        except (OSError, ValueError, struct.error, EOFError, pickle.UnpicklingError):
            pass  # the process was killed in the middle of an event
        events.put(None)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    return events, reader
