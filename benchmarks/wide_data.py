"""Make a wide table by sampling a network of known structure: python benchmarks/wide_data.py."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import twbn

if TYPE_CHECKING:
    from numpy.typing import NDArray


def random_dag(n: int, k: int, max_parents: int, rng: np.random.Generator) -> twbn.Dag:
    """Return a network of treewidth at most k: parents are drawn from the cliques of a k-tree."""
    cliques = [list(range(k))]
    parents: list[tuple[int, ...]] = [tuple(range(v))[-max_parents:] for v in range(k)]
    for v in range(k, n):
        clique = cliques[rng.integers(max(0, len(cliques) - 200), len(cliques))]
        size = int(rng.integers(1, max_parents + 1))
        parents.append(tuple(sorted(rng.choice(clique, size, replace=False).tolist())))
        cliques += [[*clique[:out], *clique[out + 1 :], v] for out in rng.permutation(k)[:2]]
    label = rng.permutation(n)
    renamed: list[tuple[int, ...]] = [()] * n
    for v, p in enumerate(parents):
        renamed[label[v]] = tuple(sorted(label[list(p)].tolist())) if p else ()
    return twbn.Dag(tuple(renamed))


def sample_rows(dag: twbn.Dag, n_rows: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """Return rows of a network with two to four states and random, mostly sharp tables."""
    n = dag.n_vertices
    n_states = rng.integers(2, 5, n)
    rows = np.zeros((n_rows, n), dtype=np.int8)
    for v in dag.topological_order:
        cell = np.zeros(n_rows, dtype=np.int64)
        for u in dag.parents[v]:
            cell = cell * n_states[u] + rows[:, u]
        n_cells = int(np.prod(n_states[list(dag.parents[v])])) if dag.parents[v] else 1
        table = rng.dirichlet(np.full(n_states[v], 0.5), size=n_cells)
        edges = table.cumsum(axis=1)[cell]
        rows[:, v] = (rng.random(n_rows)[:, None] > edges[:, :-1]).sum(axis=1)
    return rows


def write_wide(path: Path, n: int, n_rows: int, k: int = 4, seed: int = 0) -> twbn.Dag:
    """Write a CSV file of `n_rows` samples of a random network; return the network."""
    rng = np.random.default_rng(seed)
    dag = random_dag(n, k, min(3, k), rng)
    rows = sample_rows(dag, n_rows, rng)
    with path.open("w") as file:
        file.write(",".join(f"x{v}" for v in range(n)) + "\n")
        np.savetxt(file, rows, fmt="%d", delimiter=",")
    return dag


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--variables", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--treewidth", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    wanted = parser.parse_args()
    write_wide(wanted.file, wanted.variables, wanted.rows, wanted.treewidth, wanted.seed)


if __name__ == "__main__":
    main()
