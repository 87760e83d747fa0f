"""The command that prints posteriors."""

from __future__ import annotations

import twbn
from twbn.cli.console import escape, out, print_json
from twbn.cli.options import AsJson, Evidence, Net, Query, evidence_of

__all__ = ["query"]


def query(
    net: Net,
    variables: Query,
    evidence: Evidence = None,
    as_json: AsJson = False,
) -> None:
    """Print the posterior of each queried variable, given evidence."""
    engine = twbn.Inference(twbn.read_network(net))
    known = evidence_of(evidence)
    answers = {name: engine.query([name], known).to_dict() for name in variables}
    if as_json:
        print_json({name: {str(s): p for s, p in a.items()} for name, a in answers.items()})
        return
    for name, answer in answers.items():
        out.print(f"{escape(name)}")
        for state, probability in answer.items():
            out.print(f"  {probability:.6f}  {escape(str(state))}")
