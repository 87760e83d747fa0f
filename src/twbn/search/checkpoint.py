"""The best result so far, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from twbn.errors import OptionError
from twbn.search.formats import write_result

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from twbn.search.result import SearchResult

__all__ = ["Checkpoint"]


class Checkpoint:
    """A file that always holds a whole result. What cannot be written never ends a run."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        data_options: Mapping[str, Any] | None = None,
        *,
        going_on: bool = False,
    ) -> None:
        self.path = Path(path)
        self.failure: str | None = None
        self._data_options = data_options
        if not self.path.absolute().parent.is_dir():
            msg = f"checkpoint: there is no folder {self.path.absolute().parent}"
            raise OptionError(msg)
        if self.path.is_dir():
            msg = f"checkpoint: {self.path} is a folder, not a file to write"
            raise OptionError(msg)
        if self.path.exists() and not going_on:
            msg = f"checkpoint {self.path} exists: start from it, or remove it"
            raise OptionError(msg)
        try:  # before any work is done
            trial = self.path.with_name(self.path.name + ".part")
            trial.touch()
            trial.unlink()
        except OSError as error:
            msg = f"checkpoint {self.path} cannot be written: {error.strerror}"
            raise OptionError(msg) from None

    def write(self, result: SearchResult) -> None:
        """Replace the file by this result; remember why, if that is not possible."""
        try:
            write_result(result, self.path, self._data_options)
            self.failure = None
        except OSError as error:
            self.failure = error.strerror or str(error)
