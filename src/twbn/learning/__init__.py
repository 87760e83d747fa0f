"""From rows to a network: `learn`, incomplete data, and estimators for scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twbn.learning.bootstrap import confidence
from twbn.learning.em import fit_incomplete
from twbn.learning.incomplete import learn_incomplete
from twbn.learning.learn import learn
from twbn.learning.parameters import fit
from twbn.learning.rules_file import read_rules

if TYPE_CHECKING:
    from twbn.learning.classifier import TreewidthClassifier
    from twbn.learning.estimator import TreewidthBN

__all__ = [
    "TreewidthBN",
    "TreewidthClassifier",
    "confidence",
    "fit",
    "fit_incomplete",
    "learn",
    "learn_incomplete",
    "read_rules",
]


def __getattr__(name: str) -> Any:
    """Load the estimators, and scikit-learn with them, when they are asked for."""
    if name in {"TreewidthBN", "TreewidthClassifier"}:
        try:
            from twbn.learning import classifier, estimator
        except ModuleNotFoundError as error:
            from twbn.errors import MissingDependencyError

            msg = f"{name} needs scikit-learn: pip install scikit-learn"
            raise MissingDependencyError(msg) from error
        return getattr(classifier if name == "TreewidthClassifier" else estimator, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
