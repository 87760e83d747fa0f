"""The runs to make: one cell for each number that takes time to compute."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from twbn.data import datasets
from twbn.errors import OptionError
from twbn.reproduce.published import PROOF_BOUNDS, PROOF_TIMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "BAGS",
    "CHOICE_SHARE",
    "MIXTURES",
    "PARTS",
    "SIZES",
    "TUNED",
    "TUNED_PRIORS",
    "Cell",
    "Size",
    "plan",
    "score_cell",
]


@dataclass(frozen=True)
class Cell:
    """One run: a method on a data set with a budget. Its fields are its key in the results."""

    study: str  # "proof" (Table 1), "score" (Tables 2 and 3), "network", "density", "tuned",
    # "mixture"
    data: str
    treewidth: int
    method: str  # of METHODS; "bound" for an upper bound, "empty" for the graph without arcs
    score: str = "bdeu"
    seed: int = 0
    seconds: float | None = None
    iterations: int | None = None

    def key(self) -> tuple[str, ...]:
        """Return the fields as the texts that a CSV file holds."""
        return tuple("" if value is None else str(value) for value in asdict(self).values())


@dataclass(frozen=True)
class Size:
    """How much to run. Budgets are seconds or, for reproducible answers, iterations."""

    name: str
    sets: tuple[str, ...]
    proof_sets: tuple[str, ...]
    proof_seconds: float
    seeds: int
    seconds: float | None  # of a run of sampling or annealing
    iterations: tuple[tuple[str, int], ...]  # by method, in place of seconds
    solver_seconds: tuple[float, float]  # the paper's 10 minutes and 3 hours
    bound_seconds: float
    networks: tuple[str, ...]
    network_bounds: tuple[int, ...]
    densities: tuple[str, ...]
    density_bounds: tuple[int, ...]
    learn_seconds: float | None  # of a network or density run, scoring included
    learn_iterations: int | None
    tuned_seconds: float | None  # of each run whose options are chosen on validation rows
    mixture_seconds: float | None  # of each mixture, all of its options together; None: no mixtures

    def scaled(self, budget: float) -> Size:
        """Return this size with `budget` seconds for every run."""
        if not 0 < budget < math.inf:
            msg = f"--budget must be a positive number of seconds, got {budget:g}"
            raise OptionError(msg)
        early = self.solver_seconds[0] / self.solver_seconds[1] * budget
        return replace(
            self,
            proof_seconds=budget,
            seconds=budget,
            iterations=(),
            bound_seconds=budget,
            solver_seconds=(early, budget),
            learn_seconds=budget,
            learn_iterations=None,
            tuned_seconds=budget,
            mixture_seconds=budget,
        )


#: Treewidth limits and equivalent sample sizes among which validation rows choose.
TUNED = ((6, 5.0), (8, 1.0), (8, 10.0), (8, 30.0))
#: The same for the prior of the parameters.
TUNED_PRIORS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)

#: Treewidth limits and equivalent sample sizes of the mixtures among which validation rows choose,
#: the share of the time for that, and the bags that the best is then learned in.
MIXTURES, CHOICE_SHARE, BAGS = ((3, 60.0), (4, 10.0), (8, 30.0)), 0.4, 6

_NETWORKS = ("alarm", "hailfinder", "win95pts", "hepar2", "andes", "munin1", "pigs")
_DENSITIES = ("nltcs", "plants", "jester", "accidents", "dna")

SIZES = {
    "quick": Size(
        "quick", ("nursery", "breast", "wdbc"), ("nursery", "breast"), 4.0, 5, None,
        (("sample", 60_000), ("sample-exact", 600), ("anneal", 200_000)), (1.0, 4.0), 4.0,
        ("alarm",), (2, 5, 8), ("nltcs",), (1, 2, 4, 8), None, 200_000, None, None,
    ),
    "standard": Size(
        "standard", datasets.NAMES, tuple(PROOF_TIMES["dp"]), 60.0, 10, 4.0, (), (10.0, 60.0), 30.0,
        _NETWORKS, (2, 5, 8), _DENSITIES, (1, 2, 3, 4, 6, 8, 10), 15.0, None, 60.0,
        600.0,
    ),
    "paper": Size(
        "paper", datasets.NAMES, tuple(PROOF_TIMES["dp"]), 10_800.0, 10, 600.0, (),
        (600.0, 10_800.0), 600.0, _NETWORKS, (2, 5, 8), _DENSITIES, (1, 2, 3, 4, 6, 8, 10), 600.0,
        None, 600.0, 1200.0,
    ),
}  # fmt: skip

#: The parts that can be requested, with their descriptions.
PARTS = {
    "table1": "time to prove optimality",
    "table2": "scores at treewidth limit 4",
    "table3": "scores at treewidth limit 10",
    "figures": "the paper's two figures (they need Tables 2 and 3)",
    "networks": "data sampled from known networks",
    "density": "held-out likelihood beside a Chow-Liu tree",
    "tuned": "held-out likelihood without a cap on parents, options chosen on validation rows",
    "mixtures": "held-out likelihood of mixtures, beside the best published tractable models",
    "study": "local search against sampling; what the treewidth limit costs and buys",
}


def plan(parts: Iterable[str], size: Size) -> list[Cell]:
    """Return the cells that the parts need, each once, in the order of the page.

    Raises
    ------
    OptionError
        If a part is not in `PARTS`.
    """
    cells: dict[Cell, None] = {}
    for part in parts:
        if part not in PARTS:
            msg = f"unknown part {part!r}; expected one of {', '.join(PARTS)}"
            raise OptionError(msg)
        if part == "table1":
            cells |= dict.fromkeys(_proofs(size))
        if part in {"table2", "figures", "study"}:
            cells |= dict.fromkeys(_scores(size, 4))
        if part in {"table3", "figures"}:
            cells |= dict.fromkeys(_scores(size, 10))
        if part == "networks":
            cells |= dict.fromkeys(_networks(size))
        if part == "tuned":
            cells |= dict.fromkeys(_tuned(size))
        if part == "mixtures":
            cells |= dict.fromkeys(_mixtures(size))
        if part in {"density", "study"}:
            cells |= dict.fromkeys(_densities(size))
    return list(cells)


def score_cell(size: Size, data: str, k: int, method: str, seed: int) -> Cell:
    """Return the cell of one run of sampling or annealing."""
    iterations = dict(size.iterations).get(method)
    seconds = size.seconds if iterations is None else None
    return Cell("score", data, k, method, seed=seed, seconds=seconds, iterations=iterations)


def _proofs(size: Size) -> Iterator[Cell]:
    for data in size.proof_sets:
        for k in PROOF_BOUNDS:
            for method in ("milp-paper", "dp", "exact"):
                yield Cell("proof", data, k, method, seconds=size.proof_seconds)


def _scores(size: Size, k: int) -> Iterator[Cell]:
    # Version 1 is exponential in the treewidth limit: the paper, too, runs it only at 4.
    methods = ("sample-exact", "sample", "anneal") if k == 4 else ("sample", "anneal")
    for data in size.sets:
        for method in methods:
            for seed in range(size.seeds):
                yield score_cell(size, data, k, method, seed)
        yield Cell("score", data, k, "milp-paper", seconds=size.solver_seconds[1])
        yield Cell("score", data, k, "bound", seconds=size.bound_seconds)
        yield Cell("score", data, k, "empty")


def _networks(size: Size) -> Iterator[Cell]:
    for data in size.networks:
        for score in ("bdeu", "bic"):
            for k in size.network_bounds:
                yield Cell(
                    "network",
                    data,
                    k,
                    "anneal",
                    score,
                    seconds=size.learn_seconds,
                    iterations=size.learn_iterations,
                )


def _tuned(size: Size) -> Iterator[Cell]:
    for data in size.densities:
        yield Cell(
            "tuned",
            data,
            max(TUNED)[0],
            "auto",
            seconds=size.tuned_seconds,
            iterations=None if size.tuned_seconds is not None else size.learn_iterations,
        )


def _mixtures(size: Size) -> Iterator[Cell]:
    if size.mixture_seconds is None:
        return
    for data in size.densities:
        yield Cell("mixture", data, max(MIXTURES)[0], "mixture", seconds=size.mixture_seconds)


def _densities(size: Size) -> Iterator[Cell]:
    for data in size.densities:
        for k in size.density_bounds:
            # The tree of maximum likelihood is the Chow-Liu tree.
            yield Cell(
                "density",
                data,
                k,
                "tree" if k == 1 else "anneal",
                "loglik" if k == 1 else "bdeu",
                seconds=size.learn_seconds,
                iterations=size.learn_iterations,
            )
