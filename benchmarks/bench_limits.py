"""Time limits: what was asked for and what was taken, on wide, middling and long tables.

Run by `make bench-limits`. A line is late if it takes more than a tenth and half a second longer
than it was given; a search that had a second left must have found arcs.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import twbn
from wide_data import random_dag, sample_rows

if TYPE_CHECKING:
    from collections.abc import Callable

#: Variables, rows.
SHAPES = ((5000, 300), (1000, 2000), (30, 100_000), (100_000, 30))
TREEWIDTHS = (4, 1)
SLACK, SECONDS = 0.1, 0.5
#: More are not scored.
MAX_VARIABLES = 65_535
#: Variables up to which all sets are scored before bounds are timed: others have none but zero.
MAX_ALL_SETS = 100


def table_of(n: int, n_rows: int) -> twbn.Table:
    rng = np.random.default_rng(n)
    rows = sample_rows(random_dag(n, 4, 3, rng), n_rows, rng).astype(np.int32)
    rows[0] = 0  # so that no column is constant
    rows[1] = 1
    return twbn.Table.from_codes(rows)


def timed(what: str, limit: float, work: Callable[..., Any]) -> None:
    begun = time.perf_counter()
    try:
        found = work(time_limit=limit)
    except twbn.errors.TwbnError as error:
        seconds = time.perf_counter() - begun
        told = f"refused: {str(error).splitlines()[0][:70]}"
    else:
        seconds = time.perf_counter() - begun
        told = described(found)
    late = "LATE" if seconds > (1 + SLACK) * limit + SECONDS else ""
    print(f"{what:44} {limit:6.1f} {seconds:7.2f}  {late:5} {told}", flush=True)


def described(found: Any) -> str:
    if isinstance(found, twbn.SearchResult):
        return f"{len(found.dag.arcs):,} arcs, {found.score:.1f}, {found.status}"
    if isinstance(found, twbn.ScoreTable):
        return f"{found.n_sets:,} parent sets, {found.info.status}"
    if hasattr(found, "network"):  # of incomplete data
        return f"{len(found.network.dag.arcs):,} arcs, {found.status}"
    return f"{getattr(found, 'status', '')} {getattr(found, 'value', '')}"


def with_gaps(table: twbn.Table) -> twbn.Table:
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(table.codes.shape) < 0.1, -1, table.codes)
    return twbn.Table(table.names, table.codings, codes, table.weights)


def fitted(estimator: Any, table: twbn.Table, time_limit: float) -> Any:
    rows = table.codes.astype(float)
    return (
        estimator(random_state=0, time_limit=time_limit).fit(rows, rows[:, 0].astype(int)).result_
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limits", type=float, nargs="*", default=[2.0, 10.0])
    parser.add_argument("--methods", nargs="*", default=list(twbn.METHODS))
    parser.add_argument("--shapes", type=int, nargs="*", default=range(len(SHAPES)))
    options = parser.parse_args()
    print(f"{'':44} {'asked':>6} {'taken':>7}")
    for n, n_rows in (SHAPES[i] for i in options.shapes):
        table = table_of(n, n_rows)
        where = f"{n:,} variables, {n_rows:,} rows"
        gaps = with_gaps(table)
        for limit in options.limits:
            for method in options.methods:
                for k in TREEWIDTHS if method in {"auto", "anneal"} else TREEWIDTHS[:1]:
                    learn = partial(twbn.learn, table, treewidth=k, method=method)
                    timed(f"{where}: {method} {k}", limit, learn)
            timed(
                f"{where}: compute_scores", limit, partial(twbn.compute_scores, table, budget=1000)
            )
            timed(
                f"{where}: learn_incomplete",
                limit,
                partial(twbn.learn_incomplete, gaps, treewidth=3),
            )
            timed(f"{where}: learn, missing cells", limit, partial(twbn.learn, gaps, treewidth=3))
            for estimator in (twbn.TreewidthBN, twbn.TreewidthClassifier):
                timed(f"{where}: {estimator.__name__}", limit, partial(fitted, estimator, table))
        if n > MAX_VARIABLES:
            continue
        scores = twbn.compute_scores(table, budget=None if n <= MAX_ALL_SETS else 200, n_jobs=-1)
        result = twbn.learn(scores, treewidth=4, method="anneal", time_limit=5.0)
        engine = twbn.Inference(twbn.fit(result, table))
        half = engine.network.names[::2]
        ask = partial(engine.marginal_map, half, max_entries=1)
        for limit in options.limits:
            for k in TREEWIDTHS:
                bound = partial(twbn.upper_bound, scores, treewidth=k)
                timed(f"{where}: upper_bound {k}", limit, bound)
            timed(f"{where}: marginal_map", limit, ask)
            timed(f"{where}: fit, missing cells", limit, partial(twbn.fit, result, gaps))
            timed(f"{where}: polish", limit, partial(twbn.polish, result, scores))
            graph = result.dag.moral_graph()
            timed(f"{where}: treewidth", limit, partial(twbn.treewidth, graph))


if __name__ == "__main__":
    main()
