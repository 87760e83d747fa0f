"""Bayesian networks of bounded treewidth, learned from data, with proofs.

The names below follow the order of the pipeline: tables, local scores, the graphs used to prove
results, searches, and networks that answer queries. Each name is imported on first use, so that
``import twbn`` and starting the command line are fast.
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
    from twbn.graphs.treewidth.exact import treewidth
    from twbn.inference import Inference, MixtureInference
    from twbn.learning import (
        TreewidthBN,
        TreewidthClassifier,
        TreewidthMixture,
        confidence,
        fit,
        fit_incomplete,
        learn_incomplete,
        learn_mixture,
        read_rules,
    )
    from twbn.learning.learn import learn
    from twbn.network import (
        Mixture,
        Network,
        read_mixture,
        read_network,
        write_mixture,
        write_network,
    )
    from twbn.report import (
        plot_sensitivity,
        plot_trace,
        plot_treewidth,
        write_comparison,
        write_report,
    )
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
        Method,
        Run,
        SearchResult,
        polish,
        read_result,
        register,
        search_method,
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
    "Method",
    "Mixture",
    "MixtureInference",
    "Network",
    "Run",
    "ScoreTable",
    "SearchResult",
    "Table",
    "TreeDecomposition",
    "TreewidthBN",
    "TreewidthClassifier",
    "TreewidthMixture",
    "TwbnError",
    "__version__",
    "as_table",
    "compute_scores",
    "confidence",
    "datasets",
    "fit",
    "fit_incomplete",
    "learn",
    "learn_incomplete",
    "learn_mixture",
    "plot_sensitivity",
    "plot_trace",
    "plot_treewidth",
    "polish",
    "read_gr",
    "read_jkl",
    "read_mixture",
    "read_network",
    "read_result",
    "read_rules",
    "read_table",
    "read_td",
    "register",
    "search_method",
    "treewidth",
    "upper_bound",
    "write_comparison",
    "write_gr",
    "write_jkl",
    "write_mixture",
    "write_network",
    "write_report",
    "write_result",
    "write_td",
]

#: Public names by the subpackage that defines them.
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
        "METHODS", "Method", "Run", "SearchResult", "polish", "read_result", "register",
        "search_method", "upper_bound", "write_result",
    ),
    "network": (
        "Mixture", "Network", "read_mixture", "read_network", "write_mixture", "write_network",
    ),
    "inference": ("Inference", "MixtureInference"),
    "learning": (
        "TreewidthBN", "TreewidthClassifier", "TreewidthMixture", "confidence", "fit",
        "fit_incomplete", "learn", "learn_incomplete", "learn_mixture", "read_rules",
    ),
    "report": (
        "plot_sensitivity", "plot_trace", "plot_treewidth", "write_comparison", "write_report",
    ),
}  # fmt: skip
_WHERE = {name: package for package, names in _FROM.items() for name in names}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
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
