"""twbn's own model files: lossless, and with the proof of the treewidth."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.checks import checked_data_options
from twbn.data.coding import coding_document, coding_of
from twbn.errors import FileFormatError
from twbn.files import read_text, write_text
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.network.counts import FamilyCounts
from twbn.network.fit import checked_ess
from twbn.network.network import Network

if TYPE_CHECKING:
    import os

__all__ = ["json_document", "network_document", "network_from_document", "read_json", "write_json"]

FORMAT, VERSION = "twbn-model", 1


def write_json(network: Network, path: str | os.PathLike[str]) -> None:
    """Write a network as JSON: states with their types, bins, tables, decomposition."""
    text = json.dumps(network_document(network), ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: str | os.PathLike[str]) -> Network:
    """Return the network in a model file; other versions of the format are rejected."""
    return network_from_document(json_document(path), str(path))


def json_document(path: str | os.PathLike[str]) -> Any:
    """Return the content of a JSON file; FileFormatError says where it is not one."""
    text = read_text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        msg = f"{path}, line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        raise FileFormatError(msg) from None
    except (ValueError, RecursionError) as error:
        msg = f"{path}: not readable as JSON ({error})"
        raise FileFormatError(msg) from None


def network_document(network: Network) -> dict[str, Any]:
    """Return a network as plain values."""
    names = network.names
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "variables": [
            {"name": name, **coding_document(coding)}
            for name, coding in zip(names, network.codings, strict=True)
        ],
        "parents": network.parents,
        "cpts": {
            name: {
                "shape": list(table.shape),
                "order": [*network.parents[name], name],
                "values": table.ravel().tolist(),
            }
            for name, table in zip(names, network.tables, strict=True)
        },
        "tree_decomposition": None,
    }
    if network.counts is not None:
        document["counts"] = {
            "ess": network.counts.ess,
            "families": {
                name: counts.ravel().tolist()
                for name, counts in zip(names, network.counts.tables, strict=True)
            },
        }
    if network.data_options:
        document["data_options"] = dict(network.data_options)
    if network.decomposition is not None:
        document["tree_decomposition"] = {
            "width": network.decomposition.width,
            "bags": [[names[v] for v in sorted(bag)] for bag in network.decomposition.bags],
            "edges": [list(edge) for edge in network.decomposition.edges],
        }
    return document


def network_from_document(document: Any, source: str = "document") -> Network:
    """Return the network described by plain values, as returned by `network_document`."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        msg = f"{source}: not a model file of twbn (its format is not {FORMAT!r})"
        if isinstance(document, dict) and document.get("format") == "twbn-result":
            msg = f"{source}: a result has no parameters; twbn fit gives it some"
        if isinstance(document, dict) and document.get("format") == "twbn-mixture":
            msg = f"{source}: a mixture, and only single networks are taken here"
        raise FileFormatError(msg)
    if document.get("version") != VERSION:
        msg = (
            f"{source}: version {document.get('version')!r} of the model format is not known, "
            f"this twbn reads {VERSION}"
        )
        raise FileFormatError(msg)
    try:
        names = tuple(str(variable["name"]) for variable in document["variables"])
        codings = tuple(
            coding_of(variable, name)
            for variable, name in zip(document["variables"], names, strict=True)
        )
        position = {name: v for v, name in enumerate(names)}
        dag = Dag(tuple(tuple(position[p] for p in document["parents"][name]) for name in names))
        tables = []
        for v, name in enumerate(names):
            cpt = document["cpts"][name]
            order = [position[u] for u in cpt["order"]]
            if sorted(order[:-1]) != list(dag.parents[v]) or order[-1] != v:
                msg = f"the table of {name!r} has axes {cpt['order']}, not its parents and itself"
                raise ValueError(msg)
            table = np.array(cpt["values"], dtype=np.float64).reshape(cpt["shape"])
            axes = np.argsort(order[:-1], kind="stable").tolist()
            tables.append(np.transpose(table, (*axes, len(axes))))
        proof = document["tree_decomposition"]
        decomposition = None
        if proof is not None:
            bags = tuple(frozenset(position[v] for v in bag) for bag in proof["bags"])
            decomposition = TreeDecomposition(bags, tuple((a, b) for a, b in proof["edges"]))
        options = checked_data_options(document.get("data_options", {}))
        network = Network(dag, names, codings, tuple(tables), decomposition, options)
        counts = _counts(document.get("counts"), network)
        return network if counts is None else replace(network, counts=counts)
    except KeyError as error:
        msg = f"{source}: the entry {error.args[0]!r} is missing"
        raise FileFormatError(msg) from None
    except (TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        msg = f"{source}: {error}"
        raise FileFormatError(msg) from None


def _counts(document: Any, network: Network) -> FamilyCounts | None:
    """Return the counts of a model file, whose tables they must explain."""
    if document is None:
        return None
    families = document["families"]
    tables = tuple(
        np.array(families[name], dtype=np.float64).reshape(table.shape)
        for name, table in zip(network.names, network.tables, strict=True)
    )
    checked_ess(document["ess"])
    counts = FamilyCounts(tables, float(document["ess"]))
    for name, table, from_counts in zip(
        network.names, network.tables, counts.probabilities(), strict=True
    ):
        if not np.allclose(table, from_counts, rtol=0, atol=1e-9):
            msg = f"the counts of {name!r} do not lead to its table"
            raise ValueError(msg)
    return counts
