"""Code shared by the readers of network files."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from twbn.errors import DataError, FileFormatError, GraphError, MemoryLimitError
from twbn.network.invariants import EXACT
from twbn.network.network import Network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.coding import State

__all__ = ["Parts", "state_kind", "typed_states"]

#: The largest table of one variable, in entries and in axes.
MAX_ENTRIES, MAX_AXES = 2**27, 60
#: Entries that all tables together may have beyond those written out in the file.
MAX_UNWRITTEN = 2**22
#: In a file, the sum of a row may differ from one by this much; the row is then normalised.
TOLERANCE = 1e-2


@dataclass
class Parts:
    """The parts of a network, in the order in which a file gives them."""

    source: str
    states: dict[str, list[State]] = field(default_factory=dict)
    parents: dict[str, list[str]] = field(default_factory=dict)
    tables: dict[str, NDArray[np.float64]] = field(default_factory=dict)

    def shape(self, child: str) -> tuple[int, ...]:
        """Return the shape of a variable's table: parents as the file orders them, then itself."""
        for name in (*self.parents[child], child):
            if name not in self.states:
                msg = f"{self.source}: {name!r} is not declared as a variable"
                raise FileFormatError(msg)
        shape = tuple(len(self.states[name]) for name in (*self.parents[child], child))
        if len(shape) > MAX_AXES or math.prod(shape) > MAX_ENTRIES:
            msg = (
                f"{self.source}: the table of {child!r} has {math.prod(shape):,} entries, more "
                f"than {MAX_ENTRIES:,}, or more than {MAX_AXES - 1} parents"
            )
            raise MemoryLimitError(msg)
        return shape

    def reshaped(self, child: str, values: Sequence[float]) -> NDArray[np.float64]:
        """Return values in axis order as a table; a wrong number of them is a FileFormatError."""
        shape = self.shape(child)
        if len(values) != int(np.prod(shape)):
            msg = (
                f"{self.source}: the table of {child!r} has {len(values)} values, "
                f"expected {int(np.prod(shape))}"
            )
            raise FileFormatError(msg)
        return np.array(values, dtype=np.float64).reshape(shape)

    def network(self) -> Network:
        """Return the network; rows that sum to one only roughly are normalised, with a warning."""
        worst = 0.0
        for name in self.states:
            if name not in self.tables:
                msg = f"{self.source}: variable {name!r} has no probabilities"
                raise FileFormatError(msg)
            table = self.tables[name]
            sums = table.sum(axis=-1, keepdims=True)
            off = float(np.abs(sums - 1).max())
            if not off <= TOLERANCE or table.min() < 0:
                where = np.unravel_index(int(np.abs(sums - 1).argmax()), sums.shape[:-1])
                given = ", ".join(
                    f"{p}={self.states[p][i]}"
                    for p, i in zip(self.parents[name], where, strict=True)
                )
                total = float(sums[where][0])
                msg = (
                    f"{self.source}: the probabilities of {name!r}"
                    f"{' given ' + given if given else ''} sum to {total:.6g}, not 1"
                )
                raise FileFormatError(msg)
            if off > EXACT:  # smaller errors are normalised silently by `Network`
                worst = max(worst, off)
                self.tables[name] = table / sums
        if worst:
            msg = f"{self.source}: rows off by up to {worst:.2g} were made to sum to one"
            warnings.warn(msg, stacklevel=4)
        try:
            return Network.from_tables(self.states, self.parents, self.tables)
        except (DataError, GraphError) as error:
            msg = f"{self.source}: {error}"
            raise FileFormatError(msg) from None


def state_kind(states: Sequence[State]) -> str:
    """Return the name of the states' common type (int, float, bool), or str if they have none."""
    kinds = {type(state) for state in states}
    return next(iter(kinds)).__name__ if len(kinds) == 1 else "str"


def typed_states(texts: Sequence[str], kind: str) -> list[State]:
    """Return states in the type they had when the file was written."""
    truth = {"True": True, "False": False}
    try:
        if kind == "int":
            return [int(text) for text in texts]
        if kind == "float":
            return [float(text) for text in texts]
        if kind == "bool":
            return [truth[text] for text in texts]
    except (ValueError, KeyError):
        pass  # the declared type does not fit the names: keep them as texts
    return list(texts)
