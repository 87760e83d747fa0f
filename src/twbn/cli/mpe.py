"""The command that prints the most probable explanation."""

from __future__ import annotations

from twbn.cli.console import escape, out, print_json
from twbn.cli.files import engine_of, read_model
from twbn.cli.options import AsJson, Do, Evidence, Net, evidence_of

__all__ = ["mpe"]


def mpe(net: Net, evidence: Evidence = None, do: Do = None, as_json: AsJson = False) -> None:
    """Print the most probable states of all variables, given evidence and interventions."""
    engine = engine_of(read_model(net))
    known = evidence_of(evidence)
    if do:
        engine = engine.under(evidence_of(do, "--do"), known)
    best = engine.most_probable(known)
    log_probability = engine.log_evidence(best)
    if as_json:
        print_json({"log_probability": log_probability, "states": best})
        return
    for name, state in best.items():
        out.print(f"{escape(name)}={escape(str(state))}")
    out.print(f"log probability {log_probability:.6f}")
