"""How raw columns are coded, checked once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from twbn.checks import checked_whole
from twbn.data.discretize import as_discretize
from twbn.data.interpret import Parsing
from twbn.errors import Option, OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from twbn.data.discretize import Discretize
    from twbn.data.table import Table

__all__ = ["UNKNOWN", "UNUSABLE", "CodingOptions", "Unknown"]

#: Given as a column to drop: all columns that cannot be learned from.
UNUSABLE = "unusable"
#: What to do with a state that a coding does not contain.
Unknown: TypeAlias = Literal["error", "missing"]
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)


@dataclass(frozen=True)
class CodingOptions:
    """How to code raw columns; see `twbn.as_table`."""

    discretize: Discretize
    parsing: Parsing = field(default_factory=Parsing)
    drop: tuple[str, ...] = ()
    weights: str | ArrayLike | None = None
    max_categories: int | None = None
    like: Table | None = None
    unknown: Unknown = "error"
    absent_ok: bool = False  # an absent column of `like` is all missing
    target: str | None = None  # the column that is expected to be absent
    classes: NDArray[np.int32] | None = None  # of the rows, for cuts that need them
    cut_fractions: bool = False  # cut numbers with fractions, even if they have few values
    least_columns: int = 2
    quiet: bool = False  # no warning about states that the coding does not contain

    @classmethod
    def of(
        cls,
        *,
        discretize: str | Discretize,
        bins: int | None,
        parsing: Parsing,
        drop: Sequence[str] | str,
        unknown: str,
        max_categories: int | None,
        **others: object,
    ) -> CodingOptions:
        """Return the options of `twbn.as_table` and `twbn.read_table`, checked."""
        if unknown not in UNKNOWN:
            problem = f" must be one of {list(UNKNOWN)}, got {unknown!r}"
            raise OptionError(Option("unknown"), problem)
        if max_categories is not None:
            checked_whole("max_categories", max_categories, least=2)
        return cls(
            as_discretize(discretize, bins),
            parsing,
            (drop,) if isinstance(drop, str) else tuple(str(name) for name in drop),
            unknown=unknown,
            max_categories=max_categories,
            **others,  # type: ignore[arg-type]
        )

    @property
    def weight_name(self) -> str | None:
        """The column that holds row weights."""
        return self.weights if isinstance(self.weights, str) else None
