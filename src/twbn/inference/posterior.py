"""A distribution over the joint states of some variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.errors import DataError, OptionError
from twbn.frame_out import frame_of, unused
from twbn.views import Viewed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from twbn.data.coding import State

__all__ = ["Marginals", "Posterior"]


@dataclass(frozen=True)
class Posterior(Viewed):
    """A distribution over the joint states of some variables."""

    variables: tuple[str, ...]
    states: tuple[tuple[State, ...], ...]
    values: NDArray[np.float64]

    def __getitem__(self, state: Any) -> float:
        """Return the probability of a state, or of a tuple of states."""
        wanted = state if isinstance(state, tuple) else (state,)
        if len(wanted) != len(self.variables):
            msg = f"expected a state for each of {list(self.variables)}, got {state!r}"
            raise OptionError(msg)
        cell = []
        for name, states, one in zip(self.variables, self.states, wanted, strict=True):
            if one not in states:
                msg = f"unknown state {one!r} of variable {name!r}; expected one of {list(states)}"
                raise DataError(msg, variable=name)
            cell.append(states.index(one))
        return float(self.values[tuple(cell)])

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return joint states and their probabilities as a frame: a row for each joint state."""
        columns: dict[str, list[Any]] = {name: [] for name in self.variables}
        for cell in np.ndindex(*self.values.shape):
            for name, states, code in zip(self.variables, self.states, cell, strict=True):
                columns[name].append(states[code])
        title = unused("probability", columns)
        return frame_of({**columns, title: self.values.ravel().tolist()}, kind)

    def to_dict(self) -> dict[State, float]:
        """Return {state: probability} of a single variable."""
        if len(self.variables) != 1:
            msg = f"to_dict needs a single variable, got {len(self.variables)}; use values"
            raise OptionError(msg)
        return dict(zip(self.states[0], self.values.tolist(), strict=True))


class Marginals(dict[str, Posterior], Viewed):
    """The posterior of every variable, by name."""

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return variables, states and their probabilities as a frame: a row for each state."""
        rows = [
            (name, state, float(p))
            for name, posterior in self.items()
            for state, p in zip(posterior.states[0], posterior.values, strict=True)
        ]
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        titles = ("variable", "state", "probability")
        return frame_of(dict(zip(titles, columns, strict=True)), kind)
