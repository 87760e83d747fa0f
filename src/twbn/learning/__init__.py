"""From rows to a network: `learn`, incomplete data, and estimators for scikit-learn."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from twbn.learning.bootstrap import confidence
from twbn.learning.em import fit_incomplete
from twbn.learning.incomplete import learn_incomplete
from twbn.learning.learn import learn
from twbn.learning.mixture import learn_mixture
from twbn.learning.parameters import fit
from twbn.learning.rules_file import read_rules

if TYPE_CHECKING:
    from twbn.learning.classifier import TreewidthClassifier
    from twbn.learning.estimator import TreewidthBN
    from twbn.learning.mixture.estimator import TreewidthMixture

__all__ = [
    "TreewidthBN",
    "TreewidthClassifier",
    "TreewidthMixture",
    "confidence",
    "fit",
    "fit_incomplete",
    "learn",
    "learn_incomplete",
    "learn_mixture",
    "read_rules",
]


#: Estimators, by the module that defines them.
_ESTIMATORS = {
    "TreewidthBN": "twbn.learning.estimator",
    "TreewidthClassifier": "twbn.learning.classifier",
    "TreewidthMixture": "twbn.learning.mixture.estimator",
}


def __getattr__(name: str) -> Any:
    """Load the estimators, and scikit-learn with them, when they are asked for."""
    if name not in _ESTIMATORS:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    try:
        module = import_module(_ESTIMATORS[name])
    except ModuleNotFoundError as error:
        from twbn.errors import MissingDependencyError

        msg = f"{name} needs scikit-learn: pip install scikit-learn"
        raise MissingDependencyError(msg) from error
    return getattr(module, name)
