"""Imputed numbers, finer than intervals: a linear correction by the row's other numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import RidgeCV

from twbn.data.build import build_table
from twbn.data.coding import Bins
from twbn.data.columns import NumberColumn, RawColumn
from twbn.data.interpret import Parsing, interpret
from twbn.inference.rows import predict_proba

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.coding_options import CodingOptions
    from twbn.data.columns import Column
    from twbn.deadline import Deadline
    from twbn.inference import Inference

__all__ = ["Refinement", "fit_refinement"]

#: Most rows that a correction is fitted to, and the fewest for each number that takes part.
MAX_ROWS, LEAST_ROWS = 2000, 5
#: Most steps, one for each number, row and variable, that the predictions may take.
MAX_STEPS = 20_000_000
#: Penalties that cross-validation chooses from; the numbers are standardised.
PENALTIES = tuple(10.0**power for power in range(-2, 5))
#: Rounds in which cells filled in one round serve the others in the next.
ROUNDS = 3


@dataclass(frozen=True)
class Refinement:
    """For each number, how it follows from its posterior mean and the row's other numbers.

    An interval says where a number is; within it, the other numbers of the row say more. `models`
    maps the names of columns to ridge regressions on the posterior mean and the other numbers, all
    standardised by `middle` and `scale`.
    """

    names: tuple[str, ...]
    middle: NDArray[np.float64]
    scale: NDArray[np.float64]
    models: dict[str, Any]

    def filled(
        self, engine: Inference, columns: Sequence[Column], options: CodingOptions
    ) -> dict[str, tuple[NDArray[np.int64], list[Any]]]:
        """Return the rows in which each number is missing, and their numbers."""
        rows = _Rows(engine, columns, options, self.names)
        numbers = rows.standardised(self)
        empty = np.isnan(numbers)
        means = {
            name: (rows.means(name, np.flatnonzero(empty[:, v])) - self.middle[v]) / self.scale[v]
            for v, name in enumerate(self.names)
            if empty[:, v].any()
        }
        for v, name in enumerate(self.names):
            if name in means:
                numbers[empty[:, v], v] = means[name]
        for _ in range(ROUNDS):
            for v, name in enumerate(self.names):
                if name in means and name in self.models:
                    others = np.delete(numbers[empty[:, v]], v, axis=1)
                    known = np.column_stack([means[name], others])
                    numbers[empty[:, v], v] = self.models[name].predict(known)
        return {
            name: (
                np.flatnonzero(empty[:, v]),
                (numbers[empty[:, v], v] * self.scale[v] + self.middle[v]).tolist(),
            )
            for v, name in enumerate(self.names)
            if name in means
        }


def fit_refinement(
    engine: Inference, columns: Sequence[Column], options: CodingOptions, deadline: Deadline
) -> Refinement | None:
    """Return the correction that suits rows, or None if there are too few of them or of numbers.

    Cost: one prediction for each number and at most 2,000 rows, and as many small regressions. With
    many variables there are fewer rows, or no correction; nor is there one after the deadline.
    """
    network = engine.network
    names = tuple(
        name
        for name, coding in zip(network.names, network.codings, strict=True)
        if isinstance(coding, Bins) and not coding.unit
    )
    n_rows = min(MAX_ROWS, MAX_STEPS // max(len(names) * network.n_variables, 1))
    if len(names) < 2 or min(n_rows, columns[0].n_rows) < LEAST_ROWS * len(names):
        return None
    step = -(-columns[0].n_rows // n_rows)
    some = [column.take(np.arange(0, column.n_rows, step)) for column in columns]
    rows = _Rows(engine, some, options, names)
    if np.isnan(rows.numbers).all(axis=0).any():
        return None
    middle = np.nanmean(rows.numbers, axis=0)
    scale = np.nanstd(rows.numbers, axis=0)
    plain = Refinement(names, middle, np.where(scale > 0, scale, 1.0), {})
    numbers = rows.standardised(plain)
    every = np.arange(len(numbers))
    means = np.empty_like(numbers)
    for v, name in enumerate(names):
        if deadline.over:
            return None
        means[:, v] = (rows.means(name, every) - plain.middle[v]) / plain.scale[v]
    filled = np.where(np.isnan(numbers), means, numbers)
    models = {}
    for v, name in enumerate(names):
        known = ~np.isnan(numbers[:, v])
        inputs = np.column_stack([means[:, v], np.delete(filled, v, axis=1)])[known]
        if known.sum() > LEAST_ROWS:
            models[name] = RidgeCV(PENALTIES).fit(inputs, numbers[known, v])
    return Refinement(names, plain.middle, plain.scale, models)


class _Rows:
    """Rows with their numbers, and the posterior means of these given the rest of the row."""

    def __init__(
        self,
        engine: Inference,
        columns: Sequence[Column],
        options: CodingOptions,
        names: Sequence[str],
    ) -> None:
        self.engine = engine
        self.table = build_table(columns, options, source="X")
        by_name = {column.name: column for column in columns}
        self.numbers = np.column_stack([_numbers(by_name[name]) for name in names])

    def standardised(self, by: Refinement) -> NDArray[np.float64]:
        """Return the numbers with mean 0 and variance 1 in the rows that were fitted."""
        return np.asarray((self.numbers - by.middle) / by.scale)

    def means(self, name: str, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the posterior mean of a number in some rows, its own cell left out."""
        coding = self.engine.network.codings[self.engine.network.index(name)]
        assert isinstance(coding, Bins)
        posterior = predict_proba(self.engine, self.table.take(rows), name)
        return np.asarray(posterior @ np.asarray(coding.representatives))


def _numbers(column: Column) -> NDArray[np.float64]:
    if isinstance(column, RawColumn):
        column = interpret(column, Parsing())[0]
    if not isinstance(column, NumberColumn):
        return np.full(column.n_rows, np.nan)
    numbers = column.numbers.astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)
