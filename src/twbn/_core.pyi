"""Typed signatures of the compiled kernels; arguments are checked by their callers."""

from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

max_decision_vertices: int

class ScoredSets(TypedDict):
    variable_offsets: NDArray[np.int64]
    scores: NDArray[np.float64]
    set_offsets: NDArray[np.int64]
    parents: NDArray[np.int32]
    complete_size: int
    n_scored: int
    n_skipped: int
    timed_out: bool
    out_of_memory: bool
    interrupted: bool

class ScoredData:
    def __init__(
        self,
        codes: NDArray[np.int32],
        arities: NDArray[np.int32],
        weights: NDArray[np.float64] | None,
        score: str,
        ess: float,
    ) -> None: ...

def score_parent_sets(
    data: ScoredData,
    max_parents: NDArray[np.int32],
    allowed: NDArray[np.uint8],
    required: Sequence[Sequence[int]],
    prune: bool,
    budget: int | None,
    n_jobs: int,
    max_result_bytes: int,
    time_limit: float | None,
    on_progress: Callable[[int], None] | None,
) -> ScoredSets: ...
def best_single_parents(
    data: ScoredData,
    max_parents: NDArray[np.int32],
    allowed: NDArray[np.uint8],
    most: int,
    n_jobs: int,
    time_limit: float | None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], bool]: ...

class ScoreIndex:
    def __init__(
        self,
        variable_offsets: NDArray[np.int64],
        scores: NDArray[np.float64],
        set_offsets: NDArray[np.int64],
        parents: NDArray[np.int32],
    ) -> None: ...
    def score(self, child: int, parents: Sequence[int]) -> float: ...
    def find(self, child: int, parents: Sequence[int]) -> int: ...
    def duplicate(self) -> int: ...

class LazyScoreCache:
    def __init__(self, data: ScoredData, max_sets: int) -> None: ...
    def score(self, child: int, parents: Sequence[int]) -> float: ...
    def n_remembered(self) -> int: ...
    def n_computed(self) -> int: ...

def greedy_elimination(
    n: int,
    edges: NDArray[np.int32],
    fill: bool,
    seed: int,
    give_up_above: int,
    time_limit: float | None,
) -> tuple[int, NDArray[np.int32]]: ...

class WidthLimit:
    def __init__(self, k: int, max_states: float, n_states: Sequence[int]) -> None: ...

def small_elimination_order(
    edges: list[tuple[int, int]], limit: WidthLimit
) -> list[int] | None: ...
def decide_treewidth(
    n: int, edges: NDArray[np.int32], k: int, max_bytes: int, time_limit: float | None
) -> tuple[Literal["yes", "no", "interrupted", "stopped"], list[list[int]], list[int]]: ...

class ScoreLookup:
    def n_variables(self) -> int: ...
    def max_parents(self) -> int: ...

class IndexLookup(ScoreLookup):
    def __init__(self, index: ScoreIndex) -> None: ...

class LazyLookup(ScoreLookup):
    def __init__(
        self,
        cache: LazyScoreCache,
        max_parents: NDArray[np.int32],
        allowed: NDArray[np.uint8],
        required: Sequence[Sequence[int]],
        max_states: float,
        n_states: Sequence[float],
    ) -> None: ...

class CallableLookup(ScoreLookup):
    def __init__(
        self, function: Callable[[int, list[int]], float], n_variables: int, max_parents: int
    ) -> None: ...

Steps = tuple[list[int], list[int], list[int], list[int]]

class SampledKTrees(TypedDict):
    found: bool
    score: float
    parents: list[list[int]]
    steps: Steps
    trace: list[tuple[float, int, float]]
    n_iterations: int
    interrupted: bool

def dandelion_sample(
    n: int, k: int, seed: int, stream: int
) -> tuple[list[int], list[int], list[int]]: ...
def dandelion_decode(
    n: int, k: int, q: Sequence[int], node: Sequence[int], label: Sequence[int]
) -> Steps: ...
def ktree_dp_bytes(n: int, k: int) -> float: ...
def optimize_ktree(
    scores: ScoreLookup, n: int, k: int, steps: Steps, time_limit: float | None
) -> tuple[float, list[list[int]], bool, bool]: ...
def sample_ktrees(
    scores: ScoreLookup,
    n: int,
    k: int,
    exact: bool,
    seed: int,
    max_iterations: int,
    good_enough: float,
    known: float,
    n_jobs: int,
    time_limit: float | None,
    on_progress: Callable[[float, int, float], None] | None,
) -> SampledKTrees: ...

class Relations:
    def __init__(
        self,
        adjacent: Sequence[tuple[int, int]],
        ancestors: Sequence[tuple[int, int]],
        non_ancestors: Sequence[tuple[int, int]],
    ) -> None: ...

class CandidateArcs:
    def __init__(self, scores: ScoreLookup) -> None: ...

def ranked_arcs(offsets: NDArray[np.int64], vertices: NDArray[np.int32]) -> CandidateArcs: ...
def merged(
    scores: ScoreLookup,
    arcs: CandidateArcs,
    limit: WidthLimit,
    relations: Relations,
    chains: Sequence[tuple[float, Sequence[Sequence[int]], Sequence[int]]],
    before: Sequence[Sequence[int]],
    temperature: float,
    seed: int,
    stream: int,
) -> tuple[float, list[list[int]], list[int]]: ...
def anneal(
    scores: ScoreLookup,
    arcs: CandidateArcs,
    limit: WidthLimit,
    relations: Relations,
    parents: Sequence[Sequence[int]],
    order: Sequence[int],
    streams: Sequence[int],
    hottest: float,
    coldest: float,
    seed: int,
    n_proposals: int,
    seconds: float,
    max_parents: int,
    n_jobs: int,
    on_progress: Callable[[int], bool] | None,
    on_best: Callable[[float, list[list[int]], list[int]], None] | None,
) -> tuple[list[tuple[float, list[list[int]], list[int], int]], int, bool]: ...

class Factors:
    def __init__(
        self,
        n_states: list[int],
        parents: list[list[int]],
        tables: list[NDArray[np.float64]],
    ) -> None: ...
    def has_zero(self, variable: int) -> bool: ...

class EliminationPlan:
    def __init__(
        self,
        factors: Factors,
        targets: list[int],
        known: list[int],
        soft: list[int],
        fixed: list[int],
        whole: bool,
        seconds: float,
    ) -> None: ...
    @property
    def relevant(self) -> list[int]: ...
    @property
    def wide_variables(self) -> list[int]: ...
    @property
    def width(self) -> int: ...
    @property
    def n_entries(self) -> float: ...
    @property
    def largest(self) -> float: ...
    @property
    def peak(self) -> float: ...
    def run(
        self,
        codes: NDArray[np.int32],
        likelihoods: list[tuple[int, NDArray[np.float64]]],
        maximise: bool,
        watched: bool,
        time_limit: float | None,
    ) -> tuple[NDArray[np.float64], float]: ...

def is_possible(
    factors: Factors,
    codes: NDArray[np.int32],
    likelihoods: list[tuple[int, NDArray[np.float64]]],
    answered: list[int],
    max_trials: int,
) -> bool | None: ...
def implied_codes(
    factors: Factors,
    codes: NDArray[np.int32],
    likelihoods: list[tuple[int, NDArray[np.float64]]],
) -> NDArray[np.int32]: ...
def best_order(
    n: int, edges: NDArray[np.int32], n_states: list[float], seed: int, seconds: float
) -> list[int]: ...

class BagTree:
    def __init__(
        self, factors: Factors, bags: list[list[int]], home: NDArray[np.int32]
    ) -> None: ...

class Calibration:
    def __init__(
        self, tree: BagTree, order: NDArray[np.int32], parent: NDArray[np.int32]
    ) -> None: ...
    def marginals(
        self,
        codes: NDArray[np.int32],
        likelihoods: list[tuple[int, NDArray[np.float64]]],
        n_posteriors: int,
    ) -> tuple[NDArray[np.float64], float]: ...
    def cost(self, codes: NDArray[np.int32]) -> float: ...

class TreeShape:
    @property
    def n_entries(self) -> float: ...

def tree_shape(factors: Factors, codes: NDArray[np.int32], seconds: float) -> TreeShape: ...
def adapted_marginals(
    factors: Factors,
    shape: TreeShape,
    codes: NDArray[np.int32],
    likelihoods: list[tuple[int, NDArray[np.float64]]],
    n_posteriors: int,
) -> tuple[NDArray[np.float64], float]: ...

class RowMessages:
    def __init__(
        self,
        tree: BagTree,
        order: NDArray[np.int32],
        parent: NDArray[np.int32],
        target: int,
    ) -> None: ...
    def collect(
        self, rows: NDArray[np.int32], n_states: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def cost(self, rows: NDArray[np.int32]) -> float: ...

def eliminate_rows(
    factors: Factors, target: int, rows: NDArray[np.int32], n_states: int, max_entries: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def elimination_cost(factors: Factors, target: int, rows: NDArray[np.int32]) -> float: ...
def find_clusters(
    n: int,
    child: NDArray[np.int32],
    weight: NDArray[np.float64],
    offsets: NDArray[np.int64],
    parents: NDArray[np.int32],
    n_steps: int,
    tenure: int,
    least: float,
    max_cuts: int,
    seed: int,
    time_limit: float | None,
) -> list[tuple[float, list[int]]]: ...
def find_dense_sets(
    n: int,
    edges: NDArray[np.float64],
    k: int,
    n_steps: int,
    least: float,
    max_cuts: int,
    seed: int,
    time_limit: float | None,
) -> list[tuple[float, list[int]]]: ...

class DualAscent:
    def __init__(self, index: ScoreIndex, seed: int) -> None: ...
    def climb(self, time_limit: float | None) -> bool: ...
    def improve(self, max_idle: int, time_limit: float | None) -> None: ...
    def bound(self) -> float: ...
    def clusters(self) -> list[list[int]]: ...
    def prices(self) -> list[float]: ...

class FamilyPricer:
    def __init__(self, index: ScoreIndex) -> None: ...
    def values(
        self,
        clusters: Sequence[Sequence[int]],
        cluster_weights: Sequence[float],
        arc_charges: NDArray[np.float64],
        pair_children: NDArray[np.int32],
        pair_first: NDArray[np.int32],
        pair_second: NDArray[np.int32],
        pair_charges: NDArray[np.float64],
        n_jobs: int,
        time_limit: float | None,
    ) -> NDArray[np.float64]: ...

max_subset_variables: int
max_dp_variables: int
max_live_variables: int
max_table_variables: int

def subset_dp_bytes(n: int) -> float: ...

class SubsetTables:
    def complete(self) -> bool: ...
    def optimum(self) -> float: ...
    def optimal_parents(self) -> list[list[int]]: ...

def subset_tables(
    index: ScoreIndex, scores: NDArray[np.float64], n_jobs: int, time_limit: float | None
) -> SubsetTables: ...
def live_table_bytes(n: int) -> float: ...
def live_subsets(
    index: ScoreIndex,
    scores: NDArray[np.float64],
    limit: WidthLimit,
    known: float,
    tolerance: float,
    clusters: list[int],
    prices: list[float],
    max_bytes: int,
    record: bool,
    n_jobs: int,
    time_limit: float | None,
    on_progress: Callable[[int], tuple[float, int] | None] | None,
) -> tuple[
    str, list[int], float, float, int, int, list[tuple[int, list[tuple[int, float, int]]]]
]: ...
def bounded_dp(
    tables: SubsetTables,
    k: int,
    lower_bound: float,
    max_bytes: int,
    n_jobs: int,
    time_limit: float | None,
    on_progress: Callable[[int], None] | None,
) -> tuple[str, float, list[int], list[int], int]: ...
