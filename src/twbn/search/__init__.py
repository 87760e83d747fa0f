"""Searches for networks of bounded treewidth."""

from twbn.search.bound import Bound, upper_bound
from twbn.search.dynamic import best_unbounded
from twbn.search.formats import ResultFile, read_result, result_document, write_result
from twbn.search.ktree_dp import best_dag_inside, polish
from twbn.search.methods import METHODS, learn
from twbn.search.result import SearchResult, TracePoint, VerificationError

__all__ = [
    "METHODS",
    "Bound",
    "ResultFile",
    "SearchResult",
    "TracePoint",
    "VerificationError",
    "best_dag_inside",
    "best_unbounded",
    "learn",
    "polish",
    "read_result",
    "result_document",
    "upper_bound",
    "write_result",
]
