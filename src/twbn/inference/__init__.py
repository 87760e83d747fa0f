"""Exact inference: junction trees and the questions they answer."""

from twbn.inference.junction_tree import JunctionTree
from twbn.inference.query import Inference, Posterior

__all__ = ["Inference", "JunctionTree", "Posterior"]
