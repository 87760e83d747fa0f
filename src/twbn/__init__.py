"""Bayesian networks of bounded treewidth, learned from data, with proofs.

The names below are in the order of the pipeline: a table, its local scores, the graphs in which
results are proved, the searches, and networks that answer. Each is loaded when it is asked for, so
that ``import twbn`` and the start of the command line take no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
        write_gr,
        write_td,
    )
    from twbn.graphs.treewidth import treewidth
    from twbn.inference import Inference
    from twbn.learner import TreewidthBN, TreewidthClassifier, fit_incomplete, learn_incomplete
    from twbn.network import Network, fit, read_network, write_network
    from twbn.report import plot_trace, plot_treewidth, write_report
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

#: The package that has each name.
_FROM = {
    "data": ("Discretize", "Table", "as_table", "datasets", "read_table"),
    "errors": ("TwbnError",),
    "graphs": (
        "Dag", "DandelionCode", "Graph", "KTree", "TreeDecomposition", "read_gr", "read_td",
        "treewidth", "write_gr", "write_td",
    ),
    "scores": (
        "LazyScores", "LocalScores", "ScoreTable", "compute_scores", "read_jkl", "write_jkl",
    ),
    "search": (
        "METHODS", "SearchResult", "learn", "polish", "read_result", "upper_bound", "write_result",
    ),
    "network": ("Network", "fit", "read_network", "write_network"),
    "inference": ("Inference",),
    "learner": ("TreewidthBN", "TreewidthClassifier", "fit_incomplete", "learn_incomplete"),
    "report": ("plot_trace", "plot_treewidth", "write_report"),
}  # fmt: skip
_WHERE = {name: package for package, names in _FROM.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load what is asked for."""
    if name in _WHERE:
        value = getattr(import_module(f"twbn.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    if name in _FROM or name in {"cluster", "interrupts", "files"}:
        return import_module(f"twbn.{name}")
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
