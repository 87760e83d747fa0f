"""Results on disk: one line of CSV for each finished cell, with its provenance."""

from __future__ import annotations

import csv
import os
import platform
import threading
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from twbn.errors import FileFormatError
from twbn.reproduce.plan import Cell

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Outcome", "Store", "machine"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run. `took`, and results that ended by the clock, differ between runs."""

    status: str  # of SearchResult, or "refused" with the reason in `note`
    value: float | None = None  # log score, or the upper bound
    bound: float | None = None
    took: float | None = None
    n_iterations: int | None = None
    polished: float | None = None  # score of the best network inside the decomposition found
    held_out: float | None = None  # mean log-likelihood of rows not learned from
    true_value: float | None = None  # the same of the network that the rows were drawn from
    true_held_out: float | None = None
    n_entries: int | None = None  # of the junction tree
    row_seconds: float | None = None  # to answer one row with missing cells
    trace: tuple[tuple[float, float], ...] = ()  # (seconds, score) at each improvement
    note: str = ""

    @property
    def by_the_clock(self) -> bool:
        """Whether another run may give a different value."""
        return self.status in {"time_limit", "interrupted"}

    def at(self, seconds: float) -> float | None:
        """Return the best score known after so many seconds."""
        return max((score for t, score in self.trace if t <= seconds), default=None)


CELL_FIELDS = tuple(field.name for field in fields(Cell))
OUTCOME_FIELDS = tuple(field.name for field in fields(Outcome))
MADE_BY = ("version", "command", "machine", "finished")
COLUMNS = (*CELL_FIELDS, *OUTCOME_FIELDS, *MADE_BY)


class Store:
    """The file of results. Lines are appended whole; a torn last line is cut off on opening."""

    def __init__(self, path: Path, *, version: str, command: str) -> None:
        self._path = path
        self._made_by = (version, command, machine())
        self._lock = threading.Lock()
        self.outcomes: dict[tuple[str, ...], Outcome] = {}
        self.made_by: dict[str, set[str]] = {name: set() for name in MADE_BY[:3]}
        header = (",".join(COLUMNS) + "\n").encode()
        content = path.read_bytes() if path.exists() else b""
        if header.startswith(content):  # new, or killed before its first line was whole
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(header)
        else:
            self._read(content)

    def __contains__(self, cell: Cell) -> bool:
        return cell.key() in self.outcomes

    def get(self, cell: Cell) -> Outcome | None:
        """Return the outcome of a cell, or None if it has not been run."""
        return self.outcomes.get(cell.key())

    def add(self, cell: Cell, outcome: Outcome) -> None:
        """Append one line and make sure that it is on the disk."""
        values = [_text(getattr(outcome, name)) for name in OUTCOME_FIELDS]
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        texts = [*cell.key(), *values, *self._made_by, now]
        with self._lock, self._path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerow(texts)
            file.flush()
            os.fsync(file.fileno())
            # Keep it as it will be read back: a page must not depend on values held only in memory.
            self._keep(dict(zip(COLUMNS, texts, strict=True)))

    def _read(self, content: bytes) -> None:
        whole = content[: content.rfind(b"\n") + 1]
        rows = csv.DictReader(whole.decode("utf-8", "replace").splitlines())
        if tuple(rows.fieldnames or ()) != COLUMNS:
            msg = f"{self._path} has other columns than this version writes; move it away"
            raise FileFormatError(msg)
        for line, row in enumerate(rows, start=2):
            try:
                self._keep(row)
            except (ValueError, TypeError):
                msg = f"{self._path}, line {line}: not a line of results"
                raise FileFormatError(msg) from None
        if len(whole) < len(content):  # the writer was killed within a line
            with self._path.open("r+b") as file:
                file.truncate(len(whole))

    def _keep(self, row: Mapping[str, str]) -> None:
        self.outcomes[tuple(row[name] for name in CELL_FIELDS)] = _outcome(row)
        for name, seen in self.made_by.items():
            seen.add(row[name])


def machine() -> str:
    """Describe the machine in a line: processor, cores, system, Python."""
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = " ".join(line.partition(":")[2].split())
                break
    except OSError:  # no such file outside Linux
        model = platform.processor() or model
    cores = os.cpu_count() or 1
    return f"{model}, {cores} cores, {platform.system()}, Python {platform.python_version()}"


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return " ".join(f"{seconds:.4g}:{score!r}" for seconds, score in value)
    return repr(value) if isinstance(value, float) else str(value)


def _outcome(row: Mapping[str, str]) -> Outcome:
    whole = {"n_iterations", "n_entries"}
    values: dict[str, object] = {"status": row["status"], "note": row["note"]}
    for name in OUTCOME_FIELDS:
        if name == "trace":
            points = [point.partition(":") for point in row["trace"].split()]
            values[name] = tuple((float(t), float(score)) for t, _, score in points)
        elif name not in values and row[name]:
            values[name] = int(row[name]) if name in whole else float(row[name])
    return Outcome(**values)  # type: ignore[arg-type]
