"""Where the tests find data that the project does not ship."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))


def shared_path(relative: str) -> Path:
    """Return a file or folder of the shared data, or skip the test saying what is missing."""
    path = SHARED / relative
    if not path.exists():
        pytest.skip(f"{path} is not here; set TWBN_SHARED to the folder that holds {relative}")
    return path
