"""Exact inference: junction trees and the questions they answer."""

from twbn.inference.junction_tree import JunctionTree
from twbn.inference.map import MapCost, MapResult, map_cost, map_query
from twbn.inference.query import Inference, Posterior

__all__ = [
    "Inference",
    "JunctionTree",
    "MapCost",
    "MapResult",
    "Posterior",
    "map_cost",
    "map_query",
]
