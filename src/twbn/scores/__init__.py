"""Local scores of parent sets."""

from twbn.scores.compute import compute_scores
from twbn.scores.estimate import Estimate, estimate
from twbn.scores.jkl import read_jkl, write_jkl
from twbn.scores.kinds import SCORES
from twbn.scores.lazy import LazyScores
from twbn.scores.protocol import LocalScores, ScoringInfo
from twbn.scores.score_table import ScoreTable

__all__ = [
    "SCORES",
    "Estimate",
    "LazyScores",
    "LocalScores",
    "ScoreTable",
    "ScoringInfo",
    "compute_scores",
    "estimate",
    "read_jkl",
    "write_jkl",
]
