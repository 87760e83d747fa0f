"""Exact inference: junction trees and the questions they answer."""

from twbn.inference.cost import QueryCost
from twbn.inference.influence import Influence
from twbn.inference.junction_tree import JunctionTree
from twbn.inference.map import MapCost, MapResult
from twbn.inference.mixture import MixtureInference
from twbn.inference.mixture_explanation import Explanation
from twbn.inference.posterior import Marginals, Posterior
from twbn.inference.query import Inference
from twbn.inference.sensitivity import Parameter, Sensitivity

__all__ = [
    "Explanation",
    "Inference",
    "Influence",
    "JunctionTree",
    "MapCost",
    "MapResult",
    "Marginals",
    "MixtureInference",
    "Parameter",
    "Posterior",
    "QueryCost",
    "Sensitivity",
]
