"""How to read a file."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ReadOptions"]


@dataclass(frozen=True)
class ReadOptions:
    """How to read a text file; None means that the property is detected."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    skip_rows: int = 0  # lines above the table
    engine: str | None = None  # of `twbn.data.read.engines`; None: the first that is installed
