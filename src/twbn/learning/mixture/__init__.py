"""Mixtures of networks: learned by EM over components with structures of their own."""

from twbn.learning.mixture.learn import learn_mixture
from twbn.learning.mixture.result import MixturePoint, MixtureResult

__all__ = ["MixturePoint", "MixtureResult", "learn_mixture"]
