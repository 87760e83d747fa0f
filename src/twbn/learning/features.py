"""The rows that scikit-learn hands to an estimator, as raw columns, and how they are coded."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from twbn.data.build import build_table
from twbn.data.coding import Categories
from twbn.data.coding_options import CodingOptions
from twbn.data.discretize import as_discretize
from twbn.data.frames import columns_of
from twbn.data.interpret import Parsing
from twbn.data.table import Table
from twbn.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from twbn.data.columns import Column
    from twbn.network import Network

__all__ = ["Features", "checked_features", "coded_features", "weighed"]

#: Weights that are whole numbers repeat their rows, up to this many rows in total.
MAX_REPEATED = 10_000_000


@dataclass(frozen=True)
class Features:
    """What an estimator was given: the array or frame, and its columns."""

    source: Any
    columns: Sequence[Column]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def take(self, rows: NDArray[np.int64] | None) -> Features:
        """Return some of the rows, or all if None."""
        if rows is None:
            return self
        return replace(self, columns=[column.take(rows) for column in self.columns])

    def coding(self, network: Network, unknown: str) -> CodingOptions:
        """Return how rows are coded like those that a network was learned from."""
        like = Table.blank(network.names, network.codings)
        return _options(like=like, unknown=unknown, absent_ok=True)

    def coded_like(self, network: Network, unknown: str) -> Table:
        """Return the rows coded like those that a network was learned from."""
        return build_table(self.columns, self.coding(network, unknown), source="X")


def checked_features(estimator: Any, X: Any, *, reset: bool) -> Features:
    """Return the columns of X, after the checks that scikit-learn asks for.

    Frames are taken over column by column; everything else becomes an array first.
    """
    if _is_frame(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        columns = columns_of(X)
        least = 2 if reset else 1
        if not columns or columns[0].n_rows < least:
            n_rows = columns[0].n_rows if columns else 0
            msg = f"Found array with {n_rows} sample(s) while a minimum of {least} is required."
            raise DataError(msg)
        return Features(X, columns)
    rows = np.asarray(
        validate_data(
            estimator,
            X,
            reset=reset,
            dtype=None,
            ensure_all_finite="allow-nan",
            ensure_min_samples=2 if reset else 1,
        )
    )
    if rows.dtype.kind == "c":
        msg = "Complex data not supported"
        raise DataError(msg)
    names = (
        [str(name) for name in estimator.feature_names_in_]
        if hasattr(estimator, "feature_names_in_")
        else [f"x{v}" for v in range(estimator.n_features_in_)]
    )
    return Features(rows, columns_of(rows, names))


def coded_features(
    estimator: Any,
    features: Features,
    weights: NDArray[np.float64] | None,
    classes: NDArray[np.int32] | None = None,
) -> Table:
    """Return rows as a table; numbers with fractions are cut, even if they have few values.

    Columns that nothing can be learned from have a single state that stands for every value.
    """
    method = "quantile" if classes is None else "mdlp"
    given = method if estimator.discretize is None else estimator.discretize
    if given == "mdlp" and classes is None:
        msg = "discretize='mdlp' needs a class: it is for TreewidthClassifier"
        raise DataError(msg)
    rule = as_discretize(given, estimator.bins)
    options = replace(
        _options(weights=weights, max_categories=estimator.max_categories),
        discretize=rule,
        classes=classes,
        cut_fractions=True,
        least_columns=1,
    )
    table = build_table(features.columns, options, source="X")
    useless = {
        name: finding for name, finding in table.unusable.items() if finding.kind != "row numbers"
    }
    if not useless:
        return replace(table, findings=())
    name, finding = next(iter(useless.items()))
    more = ["", ", and another column"][len(useless) > 1]
    if len(useless) > 2:
        more = f", and {len(useless) - 1} more columns"
    warnings.warn(f"column {name!r} {finding.message}: not used{more}", stacklevel=3)
    codings, codes = list(table.codings), np.array(table.codes)
    for name in useless:
        codings[table.index(name)] = Categories(("any",), others=True)
        codes[:, table.index(name)] = 0
    return Table(table.names, tuple(codings), codes, table.weights)


def weighed(
    weights: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64] | None, NDArray[np.int64] | None]:
    """Return weights and rows to take: none of weight zero; whole-number weights repeat rows.

    Counting repeated rows is faster than adding up weights, and exact.
    """
    if weights is None:
        return None, None
    if np.any(weights < 0):
        msg = f"sample_weight must not be negative, got {weights.min()}"
        raise DataError(msg)
    counts = np.round(weights)
    if np.array_equal(counts, weights) and counts.sum() <= MAX_REPEATED:
        return None, np.repeat(np.arange(len(weights)), counts.astype(int))
    return weights[weights > 0], np.flatnonzero(weights > 0)


def _options(**given: Any) -> CodingOptions:
    return CodingOptions.of(
        **{
            "discretize": "quantile",
            "bins": None,
            "drop": (),
            "parsing": Parsing(),
            "unknown": "error",
            "max_categories": None,
            **given,
        }
    )


def _is_frame(X: Any) -> bool:
    import narwhals as nw

    return isinstance(nw.from_native(X, eager_only=True, pass_through=True), nw.DataFrame)
