"""Built-in scores, and validation of the `score` option."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from twbn import _core
from twbn.errors import DataError, Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from twbn.data.table import Table

__all__ = [
    "MAX_TOTAL",
    "SCORES",
    "ScoreOption",
    "checked_score",
    "checked_value",
    "score_name",
    "scored_data",
]

#: Descriptions of the score functions, by name.
SCORES = {
    "bdeu": "Bayesian Dirichlet equivalent uniform, with an equivalent sample size",
    "bic": "Bayesian information criterion (equal to MDL)",
    "aic": "Akaike information criterion",
    "k2": "Bayesian Dirichlet with all parameters one (Cooper and Herskovits)",
    "loglik": "log-likelihood, without penalty",
}
ALIASES = {"mdl": "bic", "ll": "loglik"}

#: A name, or a function (table, child, parents) -> score with columns by position.
ScoreOption: TypeAlias = "str | Callable[[Table, int, tuple[int, ...]], float]"

#: Largest magnitude of a structure's score, so that sums and differences stay finite.
MAX_TOTAL = 1e300
MAX_STATES = 4096
MAX_VARIABLES = 65_535


def checked_score(score: ScoreOption, ess: float) -> None:
    """Raise OptionError unless the score is known and its equivalent sample size positive."""
    if not callable(score) and ALIASES.get(score, score) not in SCORES:
        known = ", ".join([*SCORES, *ALIASES])
        msg = f"unknown score {score!r}; expected one of {known}, or a function"
        raise OptionError(msg)
    if not (isinstance(ess, int | float | np.number) and ess > 0 and math.isfinite(ess)):
        problem = f" (equivalent sample size) must be a positive number, got {ess!r}"
        raise OptionError(Option("ess"), problem)


def checked_value(value: object, table: Table, child: int, parents: Sequence[int]) -> float:
    """Return a score function's value, or raise OptionError naming the family if it is invalid.

    Minus infinity excludes a family. Values so large that the sum over a structure might not be
    finite are refused.
    """
    number = float(value) if isinstance(value, int | float | np.floating | np.integer) else math.nan
    if abs(number) <= MAX_TOTAL / table.n_variables or number == -math.inf:
        return number
    names = [table.names[p] for p in parents]
    msg = (
        f"the score function gave {value} for {table.names[child]!r} given {names}; scores must be "
        f"numbers that do not add up to more than {MAX_TOTAL:g} over {table.n_variables} variables"
    )
    raise OptionError(msg)


def score_name(score: ScoreOption) -> str:
    """Return the name of a score, ``mdl`` as ``bic``."""
    if callable(score):
        return getattr(score, "__name__", "function")
    return ALIASES.get(score, score)


def scored_data(table: Table, score: str, ess: float) -> _core.ScoredData:
    """Return the table in the form the compiled core takes, with the terms of one score."""
    table.require_complete("scoring")
    table.require_usable("scoring")
    if table.n_variables > MAX_VARIABLES:
        msg = f"scoring takes at most {MAX_VARIABLES:,} variables, got {table.n_variables:,}"
        raise DataError(msg)
    most = int(table.n_states.max())
    if most > MAX_STATES:
        name = table.names[int(table.n_states.argmax())]
        msg = (
            f"column {name!r} has {most} states; scoring takes at most {MAX_STATES}, so group them"
        )
        raise DataError(msg)
    codes = np.ascontiguousarray(table.codes.T)
    return _core.ScoredData(codes, table.n_states, table.weights, score_name(score), float(ess))
