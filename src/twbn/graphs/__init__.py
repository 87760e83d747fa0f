"""Graphs, and proofs of their treewidth."""

from twbn.graphs.dag import Cpdag, Dag
from twbn.graphs.dandelion import DandelionCode, count_ktrees, sample_ktree
from twbn.graphs.decomposition import TreeDecomposition, elimination_width
from twbn.graphs.graph import Graph
from twbn.graphs.ktree import KTree
from twbn.graphs.pace import read_gr, read_td, write_gr, write_td
from twbn.graphs.treewidth import (
    TreewidthResult,
    contraction_degeneracy,
    greedy_decomposition,
    treewidth,
)

__all__ = [
    "Cpdag",
    "Dag",
    "DandelionCode",
    "Graph",
    "KTree",
    "TreeDecomposition",
    "TreewidthResult",
    "contraction_degeneracy",
    "count_ktrees",
    "elimination_width",
    "greedy_decomposition",
    "read_gr",
    "read_td",
    "sample_ktree",
    "treewidth",
    "write_gr",
    "write_td",
]
