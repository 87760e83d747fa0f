"""Typed signatures of the compiled kernels; arguments are checked by their callers."""

from collections.abc import Callable, Sequence
from typing import TypedDict

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

class ScoreIndex:
    def __init__(
        self,
        variable_offsets: NDArray[np.int64],
        scores: NDArray[np.float64],
        set_offsets: NDArray[np.int64],
        parents: NDArray[np.int32],
    ) -> None: ...
    def score(self, child: int, parents: Sequence[int]) -> float: ...
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
def decide_treewidth(
    n: int, edges: NDArray[np.int32], k: int, max_bytes: int, time_limit: float | None
) -> tuple[str, list[list[int]], list[int]]: ...
