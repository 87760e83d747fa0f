"""Searches: scores in, a structure with its proof out. A search never sees rows."""

# Importing a module registers its methods.
from twbn.search.auto import auto
from twbn.search.bound import Bound, upper_bound
from twbn.search.exact.bags import best_unbounded, dp
from twbn.search.exact.live_subsets import live_subsets
from twbn.search.exact.maxsat import maxsat
from twbn.search.exact.milp import milp, milp_paper
from twbn.search.exact.portfolio import exact
from twbn.search.heuristic.anneal import anneal
from twbn.search.heuristic.first import first_structure
from twbn.search.heuristic.polish import best_dag_inside, polish
from twbn.search.heuristic.sample import sample, sample_exact
from twbn.search.heuristic.tree import tree
from twbn.search.method import METHODS, Method, register, search_method
from twbn.search.result import SearchResult
from twbn.search.result_file import read_result, result_document, write_result
from twbn.search.run import Run

__all__ = [
    "METHODS",
    "Bound",
    "Method",
    "Run",
    "SearchResult",
    "anneal",
    "auto",
    "best_dag_inside",
    "best_unbounded",
    "dp",
    "exact",
    "first_structure",
    "live_subsets",
    "maxsat",
    "milp",
    "milp_paper",
    "polish",
    "read_result",
    "register",
    "result_document",
    "sample",
    "sample_exact",
    "search_method",
    "tree",
    "upper_bound",
    "write_result",
]
