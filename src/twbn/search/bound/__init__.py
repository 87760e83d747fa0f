"""Bounds: scores that no structure of bounded treewidth exceeds."""

from twbn.search.bound.result import Bound
from twbn.search.bound.upper_bound import upper_bound

__all__ = ["Bound", "upper_bound"]
