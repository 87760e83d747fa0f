"""Graphs, and proofs of their treewidth."""

from twbn.graphs.dag import Cpdag, Dag
from twbn.graphs.dandelion import DandelionCode, count_ktrees, sample_ktree
from twbn.graphs.decomposition import TreeDecomposition, elimination_width
from twbn.graphs.formats import read_gr, read_td, write_gr, write_td
from twbn.graphs.graph import Graph
from twbn.graphs.ktree import KTree
from twbn.graphs.treewidth import TreewidthResult, lower_bound, treewidth, upper_bound

__all__ = [
    "Cpdag",
    "Dag",
    "DandelionCode",
    "Graph",
    "KTree",
    "TreeDecomposition",
    "TreewidthResult",
    "count_ktrees",
    "elimination_width",
    "lower_bound",
    "read_gr",
    "read_td",
    "sample_ktree",
    "treewidth",
    "upper_bound",
    "write_gr",
    "write_td",
]
