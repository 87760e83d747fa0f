"""Certificates of learned structures: written after a search, checked against the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.errors import OptionError
from twbn.scores.kinds import SCORES
from twbn.scores.rules import RuleOptions, make_rules
from twbn.scores.score_table import ScoreTable
from twbn.search.certificate.checker import Checked, check_proof
from twbn.search.certificate.families import families_of_rows
from twbn.search.certificate.proof_file import Certificate, write_certificate
from twbn.search.limit import width_limit

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from twbn.data.table import Table
    from twbn.search import SearchResult
    from twbn.search.certificate.checker import Families
    from twbn.search.result_file import ResultClaims

__all__ = ["certified", "check_certificate"]

#: Most variables whose certificates are checked: tables over all their subsets are filled often.
MAX_VARIABLES = 25


def certified(
    result: SearchResult, candidates: Mapping[str, Any] | None, path: str | os.PathLike[str]
) -> SearchResult:
    """Write the certificate of an optimal result; return the result, with a note if it has none."""
    if result.proof is None or result.status != "optimal":  # some sets may not have been scored
        return result.noted("no certificate was written, as optimality is not proved")
    write_certificate(Certificate(result.names, result.proof, candidates or {}), path)
    return result.noted(f"certificate: {len(result.proof.branches):,} branches")


def check_certificate(
    certificate: Certificate,
    claims: ResultClaims,
    source: Table | ScoreTable,
    on_progress: Callable[[int, int], None] | None = None,
) -> Checked:
    """Return what is wrong with a certificate of a result, judged by the data or scores alone.

    The scores of data are computed anew from their definitions, in NumPy. O(n 2^n) for every leaf.
    """
    proof = certificate.proof
    limit = claims.about["treewidth_limit"]
    if len(certificate.names) > MAX_VARIABLES:
        msg = f"certificates are for at most {MAX_VARIABLES} variables"
        raise OptionError(msg)
    problems = []
    if certificate.names != claims.names:
        problems.append("the certificate is about other variables")
    if proof.treewidth_limit != _effective(claims, source):
        problems.append(f"the certificate is for treewidth {proof.treewidth_limit}, not {limit}")
    if proof.max_states != claims.about["max_states"]:
        problems.append(f"the certificate is for {proof.max_states} joint states of a bag")
    if not math.isclose(proof.score, claims.score, rel_tol=1e-9, abs_tol=1e-6):
        problems.append(f"the certificate is for the score {proof.score:.6f}")
    if problems:
        return Checked(0, 0, problems)
    families = _families(certificate, claims, source)
    known = source.info.n_states if isinstance(source, ScoreTable) else source.n_states.tolist()
    n_states = known or claims.about["n_states"] or ()
    return check_proof(proof, families, on_progress, n_states=n_states)


def _effective(claims: ResultClaims, source: Table | ScoreTable) -> int:
    """Return the treewidth limit of a result, as far as its variables can use it up."""
    known = source.info.n_states if isinstance(source, ScoreTable) else source.n_states.tolist()
    limit, states = claims.about["treewidth_limit"], claims.about["max_states"]
    n_states = known or claims.about["n_states"]
    return width_limit(limit, states, claims.names, n_states).effective(len(claims.names)).treewidth


def _families(
    certificate: Certificate, claims: ResultClaims, source: Table | ScoreTable
) -> Families:
    """Return all parent sets that the certificate is about, with their scores."""
    if isinstance(source, ScoreTable):
        if certificate.candidates:
            msg = "the certificate is about rows; give them instead of scores"
            raise OptionError(msg)
        found = []
        for child in range(source.n_variables):
            sets = [(sum(1 << p for p in parents), score) for score, parents in source.sets(child)]
            masks, scores = zip(*sets, strict=True)
            found.append((np.array(masks, dtype=np.int64), np.array(scores)))
        return found
    if claims.score_name not in SCORES:
        msg = f"the checker has no definition of the score {claims.score_name!r}"
        raise OptionError(msg)
    options = {name: certificate.candidates[name] for name in RuleOptions._fields}
    rules = make_rules(source.names, RuleOptions(**options))
    allowed = [
        {
            "parents": np.flatnonzero(rules.allowed[child]).tolist(),
            "required": rules.required[child],
            "most": int(rules.max_parents[child]),
        }
        for child in range(source.n_variables)
    ]
    n_states = [int(n) for n in source.n_states]
    ess = claims.ess or 1.0
    return families_of_rows(source.codes, n_states, source.weights, claims.score_name, ess, allowed)
