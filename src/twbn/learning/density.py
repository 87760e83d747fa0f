"""What density estimators have in common: likelihoods, rows drawn, and gaps filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from twbn.data.coding import Bins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from twbn.data.table import Table
    from twbn.inference.fill import Fill
    from twbn.learning.features import Features

__all__ = ["DensityQuestions", "filled_rows"]


class DensityQuestions:
    """Methods of estimators that have an engine, `_inference`, and code rows, `_encoded`."""

    _inference: Callable[[], Any]
    _encoded: Callable[[Any], Table]

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log-likelihood of each row; missing cells are summed out."""
        engine = self._inference()
        return np.asarray(engine.score_samples(self._encoded(X)))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the mean log-likelihood of the rows, in natural logarithms; higher is better."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> NDArray[Any]:
        """Return rows drawn from the model; an interval is represented by its mean."""
        model = self._inference().network
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        codes = model.sample(n_samples, seed=seed).codes
        columns = [
            np.asarray(coding.representatives if isinstance(coding, Bins) else coding.states)
            for coding in model.codings
        ]
        cells = [values[codes[:, v]] for v, values in enumerate(columns)]
        if all(values.dtype.kind in "fiub" for values in columns):
            return np.column_stack(cells).astype(np.float64)
        return np.column_stack([values.astype(object) for values in cells])


def filled_rows(features: Features, found: Mapping[str, Fill], filled: Any) -> Any:
    """Return rows whose gaps are filled; integers that got numbers with fractions as such."""
    if isinstance(filled, np.ndarray) and features.source.dtype.kind in "iub":
        new = (value for _, values in found.values() for value in values)
        if all(isinstance(value, int | float) for value in new):
            return filled.astype(np.float64)
    return filled
