"""A bar towards a time limit: in terminals and notebooks, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias

__all__ = ["ProgressBar", "as_reporter", "bar_line"]

#: Called with (seconds, iterations, best score).
Reporter: TypeAlias = Callable[[float, int, float], None]
#: Characters of the bar.
WIDTH = 30


class ProgressBar:
    """Shows seconds, iterations and best score each time that it is called.

    In a notebook, the line is replaced in place; in a terminal, it is rewritten on standard error;
    in a pipe or a file, nothing is shown. Leaving the context ends the line.
    """

    def __init__(self, time_limit: float | None) -> None:
        self.time_limit = time_limit
        self._display = _notebook_display()
        self._shown = False

    def __call__(self, seconds: float, n_iterations: int, best: float) -> None:
        """Show how far the work is."""
        line = bar_line(self.time_limit, seconds, n_iterations, best)
        if self._display is not None:
            self._display.update({"text/plain": line}, raw=True)
        elif sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()
            self._shown = True

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        """End the line in a terminal."""
        if self._shown:
            sys.stderr.write("\n")
            self._shown = False


def as_reporter(
    on_progress: Reporter | bool | None, time_limit: float | None
) -> tuple[Reporter | None, AbstractContextManager[object]]:
    """Return what to call with the progress, a bar if it is True, and what to close at the end."""
    if on_progress is True:
        bar = ProgressBar(time_limit)
        return bar, bar
    return (None if on_progress is False else on_progress), nullcontext()


def bar_line(time_limit: float | None, seconds: float, n_iterations: int, best: float) -> str:
    """Return one line: a bar towards the limit if there is one, then what was found so far.

    Examples
    --------
    >>> bar_line(10, 5, 2000, -12.5)
    '[###############...............] 5.0 of 10 s, 2,000 iterations, best score -12.5000'
    """
    found = f"{n_iterations:,} iterations, best score {best:.4f}"
    if time_limit is None:
        return f"{seconds:.1f} s, {found}"
    full = round(WIDTH * min(seconds / time_limit, 1.0))
    return f"[{'#' * full}{'.' * (WIDTH - full)}] {seconds:.1f} of {time_limit:g} s, {found}"


def _notebook_display() -> Any:
    """Return a place in the notebook that this runs in, or None."""
    shell = sys.modules.get("IPython")  # not loaded: no notebook
    running = None if shell is None else shell.get_ipython()
    if running is None or type(running).__name__ != "ZMQInteractiveShell":
        return None
    from IPython.display import display  # type: ignore[import-not-found, unused-ignore]

    return display({"text/plain": ""}, raw=True, display_id=True)
