"""Everything in one object: estimators with scikit-learn's interface, and incomplete data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twbn.learner.incomplete import fit_incomplete, learn_incomplete

if TYPE_CHECKING:
    from twbn.learner.estimator import TreewidthBN, TreewidthClassifier

__all__ = ["TreewidthBN", "TreewidthClassifier", "fit_incomplete", "learn_incomplete"]


def __getattr__(name: str) -> Any:
    """Load the estimators, and scikit-learn with them, when they are asked for."""
    if name in {"TreewidthBN", "TreewidthClassifier"}:
        try:
            from twbn.learner import estimator
        except ModuleNotFoundError as error:
            from twbn.errors import MissingDependencyError

            msg = f"{name} needs scikit-learn: pip install scikit-learn"
            raise MissingDependencyError(msg) from error
        return getattr(estimator, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
