"""Exact treewidth of moral graphs: width, seconds, and min-fill of networkx beside ours.

Run by `make bench`. Graphs: TWBN_SHARED/bif/moral, by default in ../shared beside the project.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import networkx as nx
from networkx.algorithms.approximation import treewidth_min_fill_in

import twbn

SHARED = Path(os.environ.get("TWBN_SHARED", Path(__file__).parents[2] / "shared"))
TIME_LIMIT = 120.0


def main() -> None:
    graphs = sorted((SHARED / "bif" / "moral").glob("*.gr"))
    if not graphs:
        sys.exit(f"no graphs in {SHARED / 'bif' / 'moral'}; set TWBN_SHARED")
    print(f"\nexact treewidth of moral graphs (limit {TIME_LIMIT:.0f} s), and networkx's min-fill")
    titles = ("vertices", "edges", "width", "seconds", "min-fill", "seconds")
    print(f"{'graph':12}" + "".join(f"{title:>10}" for title in titles))
    for path in graphs:
        graph = twbn.read_gr(path)
        result = twbn.treewidth(graph, time_limit=TIME_LIMIT)
        width = str(result.upper) if result.is_exact else f"{result.lower}..{result.upper}"
        peer = nx.Graph(list(graph.edges))
        peer.add_nodes_from(range(graph.n_vertices))
        start = time.perf_counter()
        theirs, _ = treewidth_min_fill_in(peer)
        seconds = time.perf_counter() - start
        print(
            f"{path.stem:12}{graph.n_vertices:10}{len(graph.edges):10}{width:>10}"
            f"{result.seconds:10.2f}{theirs:10}{seconds:10.2f}"
        )


if __name__ == "__main__":
    main()
