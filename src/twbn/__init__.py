"""Bayesian networks of bounded treewidth, learned from data, with proofs.

The names below are in the order of the pipeline: a table, its local scores, the graphs in which
results are proved, the searches, and networks that answer.
"""

from __future__ import annotations

from importlib import import_module
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
    from twbn.report import plot_trace, plot_treewidth, write_report

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
    "plot_trace",
    "plot_treewidth",
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
    "write_report",
    "write_result",
    "write_td",
]


#: Names that are loaded when they are asked for, by the package that has them.
_LATER = {
    "TreewidthBN": "learner",
    "TreewidthClassifier": "learner",
    "fit_incomplete": "learner",
    "learn_incomplete": "learner",
    "plot_trace": "report",
    "plot_treewidth": "report",
    "write_report": "report",
}


def __getattr__(name: str) -> Any:
    """Load what stands on everything else when it is asked for."""
    if name in _LATER:
        return getattr(import_module(f"twbn.{_LATER[name]}"), name)
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def _view(value: Any) -> str | None:
    """Return what a notebook shows of a value; None, and so its text, without the packages."""
    from twbn.report.notebook import view

    return view(value)


# HTML is the affair of `report`, which the layers below may not know: so it is attached here.
for _kind in (Table, Dag, KTree, TreeDecomposition, SearchResult, Network):
    _kind._repr_html_ = _view  # type: ignore[union-attr]
