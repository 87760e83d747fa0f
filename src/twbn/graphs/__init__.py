"""Graphs, and proofs of their treewidth."""

from twbn.graphs.dag import Cpdag, Dag
from twbn.graphs.decomposition import TreeDecomposition, elimination_width
from twbn.graphs.formats import read_gr, read_td, write_gr, write_td
from twbn.graphs.graph import Graph
from twbn.graphs.treewidth import TreewidthResult, lower_bound, treewidth, upper_bound

__all__ = [
    "Cpdag",
    "Dag",
    "Graph",
    "TreeDecomposition",
    "TreewidthResult",
    "elimination_width",
    "lower_bound",
    "read_gr",
    "read_td",
    "treewidth",
    "upper_bound",
    "write_gr",
    "write_td",
]
