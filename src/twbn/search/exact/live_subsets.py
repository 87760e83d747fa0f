"""Exact search by branching on moral edges over live subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from twbn import _core
from twbn.checks import checked_memory_limit
from twbn.errors import MemoryLimitError
from twbn.graphs.dag import Dag
from twbn.graphs.decomposition import TreeDecomposition
from twbn.scores.tabulate import tabulated
from twbn.search.certificate.proof import Branch, Proof
from twbn.search.exact.beside import AnnealingBeside
from twbn.search.heuristic.anneal import anneal
from twbn.search.method import register, search_method
from twbn.search.result import TOLERANCE, TracePoint

if TYPE_CHECKING:
    from twbn.scores.protocol import LocalScores
    from twbn.scores.score_table import ScoreTable
    from twbn.search.limit import WidthLimit
    from twbn.search.result import SearchResult, Status
    from twbn.search.run import Run

__all__ = ["fits", "live_subsets", "prove"]

#: Proposals of annealing for the structure to beat: for each variable of few, more the longer a
#: path through all subsets takes, and at most; and the share of the time for them.
START_PROPOSALS, FEW_VARIABLES, MAX_PROPOSALS, START_SHARE = 20_000, 17, 6_000_000, 0.2
#: How the kernel's outcomes are called.
STATUS: dict[str, Status] = {
    "interrupted": "interrupted",
    "out_of_memory": "memory_limit",
    "stopped": "time_limit",
}


@register
@search_method(
    "live-subsets",
    "branching on moral edges over live subsets, proved, for up to 25 variables",
    limits_states=True,
    memory_limit="GiB; by default half of the machine's memory",
    certify="keep the search tree, for a certificate",
)
def live_subsets(
    scores: LocalScores,
    run: Run,
    *,
    memory_limit: float | None = None,
    certify: bool = False,
) -> SearchResult:
    """Return the best structure of bounded treewidth, proved.

    Without a time limit it runs to its end; `max_iterations` has no effect.

    Notes
    -----
    A structure to beat comes from annealing. A set of variables is *live* if an order of the
    variables can pass through it and still beat that structure; only few are. A node of the search
    tree forbids some pairs of variables to share a family; its bound is the longest path through
    the live sets. If the moral graph of that path is too wide, it contains an obstruction, a set of
    pairs of treewidth above the limit, and each child forbids one of them
    (`core/exact/live_search.h`). Time and memory for tables over all subsets: O(n² 2^n) and
    O(n 2^n); then they follow the number of live sets and of nodes.
    """
    gib = checked_memory_limit(memory_limit)
    refuse_too_many(run.n, gib)
    table = tabulated(scores)
    known = anneal(table, _first_run(run, table))
    if known.status == "interrupted":
        return known.but(method=run.method, seconds=run.seconds)
    return prove(table, run, known, gib=gib, certify=certify)


def prove(
    table: ScoreTable, run: Run, known: SearchResult, *, gib: float, certify: bool = False
) -> SearchResult:
    """Return a known structure, or a better one, with a bound: its score if all goes well."""
    told = known.score
    with AnnealingBeside(table, run, known) as beside:

        def report(n_nodes: int) -> tuple[float, int]:
            nonlocal told
            best = beside.best
            run.tell(n_nodes, best.score)
            if run.on_improvement is not None and best.score > told:
                told = best.score
                run.on_improvement(best)
            return best.score, beside.workers_for_proof()

        outcome, families, bound, _root_bound, n_nodes, n_live, tree = _core.live_subsets(
            table.index,
            table.scores,
            run.limit.compiled,
            known.score,
            TOLERANCE * abs(known.score),
            [],
            [],
            int(gib * 2**30),
            certify,
            run.workers,
            run.time_left_if_limited,
            report,
        )
    dag, proof = beside.best.dag, beside.best.decomposition
    if families and float(table.scores[families].sum()) > beside.best.score:
        dag = Dag(tuple(table.parents_at(position) for position in families))
        proof = _decomposed(dag, run.limit)
    score = table.total(dag)
    solved = outcome == "solved"
    bound = score if solved else min(max(bound, score), known.bound)
    trace = (TracePoint(run.seconds, n_nodes, score, bound),)
    first = [
        TracePoint(point.seconds, 0, point.score, max(point.bound, bound)) for point in known.trace
    ]
    tree_proof = None
    if certify and solved:
        branches = tuple(_branches(tree, run.n))
        tree_proof = Proof(run.k, score, branches, run.max_states)
    return run.result(
        dag,
        proof,
        status="optimal" if solved else STATUS[outcome],
        bound=bound,
        n_iterations=n_nodes,
        trace=(*first, *trace),
        notes=(
            *run.notes,
            f"live subsets: {n_live:,} at the root, {n_nodes:,} node{'s' * (n_nodes != 1)}",
        ),
        proof=tree_proof,
    )


def fits(n: int, gib: float) -> bool:
    """Say whether the tables over all subsets of n variables fit into memory."""
    return n <= _core.max_table_variables and _core.live_table_bytes(n) <= gib * 2**30


def refuse_too_many(n: int, gib: float) -> None:
    """Raise MemoryLimitError unless the tables over all subsets fit."""
    if fits(n, gib):
        return
    most = max(m for m in range(1, _core.max_table_variables + 1) if fits(m, gib) or m == 1)
    msg = (
        f"live subsets of {n} variables need {_core.live_table_bytes(n) / 2**30:,.1f} GiB for "
        f"tables and at most {_core.max_table_variables} variables; {gib:.1f} GiB take {most}"
    )
    raise MemoryLimitError(msg)


def _first_run(run: Run, table: ScoreTable) -> Run:
    """Return the run that finds a structure to beat."""
    seconds = None if run.unlimited else START_SHARE * (run.time_left or 0.0)
    proposals = START_PROPOSALS * run.n * 2 ** max(run.n - FEW_VARIABLES, 0)
    return run.with_changes(
        scores=table,
        time_limit=seconds,
        max_iterations=min(proposals, MAX_PROPOSALS),
        on_progress=None,
        on_improvement=None,
    )


def _decomposed(dag: Dag, limit: WidthLimit) -> TreeDecomposition:
    """Return a decomposition within the limit of a structure that has one."""
    graph = dag.moral_graph()
    order = _core.small_elimination_order(list(graph.edges), limit.compiled)
    assert order is not None
    alone = sorted(set(range(dag.n_vertices)) - set(order))
    return TreeDecomposition.from_elimination_order(graph, [*order, *alone])


def _branches(tree: list[tuple[int, list[tuple[int, float, int]]]], n: int) -> list[Branch]:
    """Return the kernel's search tree by pairs; children that were not branched on are leaves."""
    pairs = [(u, v) for v in range(n) for u in range(v)]
    inner = {number for number, _ in tree}
    return [
        Branch(
            number,
            tuple(
                (*pairs[edge], child if child in inner else None)
                for edge, _bound, child in children
            ),
        )
        for number, children in tree
    ]
