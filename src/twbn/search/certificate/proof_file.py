"""Certificates as files: JSON, a line for each branch, with a checksum at the end."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from twbn.errors import FileFormatError
from twbn.files import read_text, write_text
from twbn.search.certificate.proof import Branch, Proof

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

__all__ = ["Certificate", "read_certificate", "write_certificate"]

FORMAT, VERSION = "twbn-certificate", 1


class Certificate(NamedTuple):
    """A proof, the names of its variables, and which parent sets it is about.

    `candidates` are the options of `compute_scores` that say which parent sets there are.
    """

    names: tuple[str, ...]
    proof: Proof
    candidates: Mapping[str, Any]


def write_certificate(certificate: Certificate, path: str | os.PathLike[str]) -> None:
    """Write a certificate; compressed if its name ends in ``.gz``."""
    proof = certificate.proof
    header = {
        "format": FORMAT,
        "version": VERSION,
        "names": list(certificate.names),
        "candidates": dict(certificate.candidates),
        "treewidth_limit": proof.treewidth_limit,
        "max_states": proof.max_states,
        "score": proof.score,
        "n_branches": len(proof.branches),
    }
    lines = [json.dumps(header, ensure_ascii=False)]
    lines += [json.dumps([b.number, *map(list, b.children)]) for b in proof.branches]
    lines.append(json.dumps({"sha256": _checksum(lines)}))
    write_text(path, "\n".join(lines) + "\n")


def read_certificate(path: str | os.PathLike[str]) -> Certificate:
    """Return the certificate in a file, or raise FileFormatError."""
    lines = read_text(path).splitlines()
    try:
        header = json.loads(lines[0])
        if header["format"] != FORMAT or header["version"] != VERSION:
            msg = f"{path}: not a certificate of version {VERSION}"
            raise FileFormatError(msg)
        if json.loads(lines[-1]) != {"sha256": _checksum(lines[:-1])}:
            msg = f"{path}: the checksum is wrong: the certificate was altered"
            raise FileFormatError(msg)
        branches = tuple(_branch(json.loads(line)) for line in lines[1:-1])
        if len(branches) != header["n_branches"]:
            msg = f"{path}: has {len(branches)} branches, the header says {header['n_branches']}"
            raise FileFormatError(msg)
        states = header.get("max_states")
        proof = Proof(
            int(header["treewidth_limit"]),
            float(header["score"]),
            branches,
            None if states is None else int(states),
        )
        names = tuple(str(name) for name in header["names"])
        return Certificate(names, proof, dict(header["candidates"]))
    except (KeyError, IndexError, TypeError, ValueError, RecursionError) as error:
        msg = f"{path}: not a certificate ({type(error).__name__}: {error})"
        raise FileFormatError(msg) from None


def _branch(values: Any) -> Branch:
    number, *children = values
    found = [(int(u), int(v), None if c is None else int(c)) for u, v, c in children]
    return Branch(int(number), tuple(found))


def _checksum(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
