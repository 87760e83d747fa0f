"""Treewidth: quick bounds, and exact computation by search or by the paper's integer program."""

from twbn.graphs.treewidth.bounds import contraction_degeneracy, greedy_decomposition
from twbn.graphs.treewidth.exact import TreewidthResult, treewidth

__all__ = ["TreewidthResult", "contraction_degeneracy", "greedy_decomposition", "treewidth"]
