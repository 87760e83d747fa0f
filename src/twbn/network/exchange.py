"""Conversion to and from other libraries, each imported only when it is used."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from twbn.errors import MissingDependencyError
from twbn.network.network import Network

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "to_dot",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
]


def to_networkx(network: Network) -> Any:
    """Return a `networkx.DiGraph` with states and tables as attributes of its nodes."""
    graph = _load("networkx").DiGraph()
    for v, name in enumerate(network.names):
        graph.add_node(
            name,
            states=list(network.states[v]),
            parents=network.parents[name],
            table=network.tables[v].copy(),
        )
    graph.add_edges_from((network.names[a], network.names[b]) for a, b in network.dag.arcs)
    return graph


def from_networkx(graph: Any) -> Network:
    """Return the network stored in a graph made by `to_networkx`."""
    nodes = dict(graph.nodes(data=True))
    return Network.from_tables(
        {name: data["states"] for name, data in nodes.items()},
        {name: data["parents"] for name, data in nodes.items()},
        {name: data["table"] for name, data in nodes.items()},
    )


def to_pgmpy(network: Network) -> Any:
    """Return a `pgmpy` network with the same tables."""
    models, factors = _load("pgmpy.models"), _load("pgmpy.factors.discrete")
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.names)
    model.add_edges_from((network.names[a], network.names[b]) for a, b in network.dag.arcs)
    for v, name in enumerate(network.names):
        parents = network.dag.parents[v]
        table = network.tables[v].reshape(-1, network.n_states[v]).T  # the child is the slowest
        model.add_cpds(
            factors.TabularCPD(
                name,
                network.n_states[v],
                table,
                evidence=[network.names[p] for p in parents] or None,
                evidence_card=[network.n_states[p] for p in parents] or None,
                state_names={network.names[u]: list(network.states[u]) for u in (v, *parents)},
            )
        )
    return model


def from_pgmpy(model: Any) -> Network:
    """Return the network of a `pgmpy` model."""
    states, parents, tables = {}, {}, {}
    for name in model.nodes():
        cpd = model.get_cpds(name)
        states[str(name)] = list(cpd.state_names[name])
        parents[str(name)] = [str(parent) for parent in cpd.variables[1:]]
        tables[str(name)] = np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1)
    return Network.from_tables(states, parents, tables)


def to_pyagrum(network: Network) -> Any:
    """Return a `pyagrum.BayesNet` with the same tables; states become strings."""
    gum = _load("pyagrum")
    model = gum.BayesNet()
    for v, name in enumerate(network.names):
        model.add(gum.LabelizedVariable(name, name, [str(state) for state in network.states[v]]))
    for parent, child in network.dag.arcs:
        model.addArc(network.names[parent], network.names[child])
    for v, name in enumerate(network.names):
        parents = network.dag.parents[v]
        if not parents:
            model.cpt(name).fillWith(network.tables[v].tolist())
            continue
        for cell in itertools.product(*(range(network.n_states[p]) for p in parents)):
            given = {network.names[p]: code for p, code in zip(parents, cell, strict=True)}
            model.cpt(name)[given] = network.tables[v][cell].tolist()
    return model


def from_pyagrum(model: Any) -> Network:
    """Return the network of a `pyagrum.BayesNet`."""
    names = [model.variable(node).name() for node in sorted(model.nodes())]
    states = {name: list(model.variable(name).labels()) for name in names}
    parents = {
        name: sorted(model.variable(parent).name() for parent in model.parents(name))
        for name in names
    }
    tables = {}
    for name in names:
        shape = [len(states[u]) for u in (*parents[name], name)]
        table = np.empty(shape)
        for cell in itertools.product(*(range(size) for size in shape)):
            where = dict(zip((*parents[name], name), cell, strict=True))
            table[cell] = model.cpt(name)[where]
        tables[name] = table / table.sum(axis=-1, keepdims=True)
    return Network.from_tables(states, parents, tables)


def to_dot(network: Network) -> str:
    """Return the graph in Graphviz's DOT language."""
    quoted = ['"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"' for name in network.names]
    lines = ["digraph network {", *(f"  {name};" for name in quoted)]
    lines += [f"  {quoted[a]} -> {quoted[b]};" for a, b in network.dag.arcs]
    return "\n".join([*lines, "}"]) + "\n"


def _load(name: str) -> ModuleType:
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError:
        package = name.partition(".")[0]
        msg = f"{package} is not installed: pip install {package}"
        raise MissingDependencyError(msg) from None
