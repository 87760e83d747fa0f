"""Bayesian networks of bounded treewidth, learned from data, with proofs.

The names below are in the order of the pipeline: a table, its local scores, the graphs in which
results are proved, the searches, and networks that answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twbn.data import Discretize, Table, as_table, datasets, read_table
from twbn.errors import TwbnError
from twbn.graphs import (
    Dag,
    DandelionCode,
    Graph,
    KTree,
    TreeDecomposition,
    read_gr,
    read_td,
    treewidth,
    write_gr,
    write_td,
)
from twbn.inference import Inference
from twbn.network import Network, fit, read_network, write_network
from twbn.scores import (
    LazyScores,
    LocalScores,
    ScoreTable,
    compute_scores,
    read_jkl,
    write_jkl,
)
from twbn.search import (
    METHODS,
    SearchResult,
    learn,
    polish,
    read_result,
    upper_bound,
    write_result,
)

if TYPE_CHECKING:
    from twbn.learner import TreewidthBN, TreewidthClassifier, fit_incomplete, learn_incomplete

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "Dag",
    "DandelionCode",
    "Discretize",
    "Graph",
    "Inference",
    "KTree",
    "LazyScores",
    "LocalScores",
    "Network",
    "ScoreTable",
    "SearchResult",
    "Table",
    "TreeDecomposition",
    "TreewidthBN",
    "TreewidthClassifier",
    "TwbnError",
    "__version__",
    "as_table",
    "compute_scores",
    "datasets",
    "fit",
    "fit_incomplete",
    "learn",
    "learn_incomplete",
    "polish",
    "read_gr",
    "read_jkl",
    "read_network",
    "read_result",
    "read_table",
    "read_td",
    "treewidth",
    "upper_bound",
    "write_gr",
    "write_jkl",
    "write_network",
    "write_result",
    "write_td",
]


def __getattr__(name: str) -> Any:
    """Load the learner, which stands on everything else, when it is asked for."""
    if name in {"TreewidthBN", "TreewidthClassifier", "fit_incomplete", "learn_incomplete"}:
        from twbn import learner

        return getattr(learner, name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
