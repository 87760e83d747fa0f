"""How to read a file."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["ReadOptions"]


@dataclass(frozen=True)
class ReadOptions:
    """How to read a text file; None means that the property is detected."""

    delimiter: str | None = None
    header: bool | None = None
    encoding: str | None = None
    engine: str | None = None  # of `twbn.data.read.engines`; None: the first that is installed

    def without_header(self) -> ReadOptions:
        """Return the options for what follows the first lines of a file."""
        return replace(self, header=False)
