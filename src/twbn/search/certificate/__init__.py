"""Certificates: proofs of optimality that somebody else can check."""

from twbn.search.certificate.proof import Branch, Proof
from twbn.search.certificate.proof_file import read_certificate, write_certificate

__all__ = ["Branch", "Proof", "read_certificate", "write_certificate"]
