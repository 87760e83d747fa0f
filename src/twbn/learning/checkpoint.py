"""A file that holds the best result so far."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from twbn.errors import Option, OptionError
from twbn.search.result_file import write_result

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from twbn.search.result import SearchResult

__all__ = ["Checkpoint"]


class Checkpoint:
    """A file that always holds a complete result. A failure to write it never aborts a run."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        data_options: Mapping[str, Any] | None = None,
        *,
        continuing: bool = False,
    ) -> None:
        self.path = Path(path)
        self.failure: str | None = None
        self._data_options = dict(data_options or {})
        if not self.path.absolute().parent.is_dir():
            raise OptionError(
                Option("checkpoint"), f": there is no folder {self.path.absolute().parent}"
            )
        if self.path.is_dir():
            raise OptionError(
                Option("checkpoint"), f": {self.path} is a folder, not a file to write"
            )
        if self.path.exists() and not continuing:
            raise OptionError(
                Option("checkpoint"), f" {self.path} exists: start from it, or remove it"
            )
        try:  # before any work is done
            trial = self.path.with_name(self.path.name + ".part")
            trial.touch()
            trial.unlink()
        except OSError as error:
            raise OptionError(
                Option("checkpoint"), f" {self.path} cannot be written: {error.strerror}"
            ) from None

    def write(self, result: SearchResult) -> None:
        """Replace the file with this result; on failure, record the reason in `failure`."""
        try:
            write_result(result.but(data_options=self._data_options), self.path)
            self.failure = None
        except OSError as error:
            self.failure = error.strerror or str(error)

    def finish(self, result: SearchResult) -> SearchResult:
        """Write the final result; return it, with a note if it could not be written."""
        self.write(result)
        if self.failure is None:
            return result
        return result.noted(f"the checkpoint was not written: {self.failure}")
