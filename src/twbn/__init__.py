"""Bayesian networks of bounded treewidth, learned from data, with proofs.

The names below are in the order of the pipeline: a table, its local scores, the graphs in which
results are proved, the searches, and networks that answer.
"""

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
    "TwbnError",
    "__version__",
    "as_table",
    "compute_scores",
    "datasets",
    "fit",
    "learn",
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
