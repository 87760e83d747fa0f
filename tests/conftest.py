"""Where the tests find data that the project does not ship."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from twbn import SearchResult

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))

# A shell may have told us to ignore Ctrl-C (jobs in the background): here it is to be heard, by us
# and by the processes that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def shared_path(relative: str) -> Path:
    """Return a file or folder of the shared data, or skip the test saying what is missing."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"{path} is not here; set TWBN_SHARED to the folder that holds {relative}")
    return path


def with_time_enough(
    run: Callable[[float], SearchResult], enough: Callable[[SearchResult], bool]
) -> SearchResult:
    """Return the first result that has come far enough, run with more and more seconds.

    What a machine does in a second depends on what else it does; that it gets there does not.
    """
    for seconds in (1.0, 4.0, 16.0, 64.0):
        result = run(seconds)
        if enough(result):
            break
    return result
