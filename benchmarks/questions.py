"""Random questions to a network, put to twbn and to pyAgrum; for `bench_inference.py`."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import twbn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Findings of a single question, questions of each kind, and rows with gaps.
FINDINGS, N_QUESTIONS, N_ROWS, GAPS = (0, 3, 10), 50, 1000, 0.3
#: Rows that pyAgrum is timed on, and seconds after which no more questions are put to it.
N_AGRUM_ROWS, PATIENCE = 100, 30.0


class Question(NamedTuple):
    """A target and findings, by name; states as codes and as names."""

    target: str
    codes: dict[str, int]
    states: dict[str, Any]


class Times(NamedTuple):
    """Seconds for one question, or one row, of each kind."""

    cold: float
    warm: float
    marginals: float
    row: float


def random_questions(network: twbn.Network, n_findings: int, seed: int) -> list[Question]:
    """Return questions about one variable given others, as a sampled row shows them."""
    rng = np.random.default_rng([seed, n_findings])
    rows = network.sample(N_QUESTIONS, seed=seed).codes
    found = []
    for row in rows:
        chosen = rng.permutation(network.n_variables)[: n_findings + 1].tolist()
        codes = {network.names[v]: int(row[v]) for v in chosen[1:]}
        states = {network.names[v]: network.states[v][row[v]] for v in chosen[1:]}
        found.append(Question(network.names[chosen[0]], codes, states))
    return found


def mean_time(jobs: Iterator[Callable[[], object]]) -> float:
    """Return the mean time of some jobs; of the first few, if these take long."""
    begun = time.perf_counter()
    n = 0
    for job in jobs:
        job()
        n += 1
        if time.perf_counter() - begun > PATIENCE:
            break
    return (time.perf_counter() - begun) / n


def ask_twbn(network: twbn.Network, seed: int) -> tuple[Times, list[Any]]:
    """Return the times, and the answers to all single questions."""
    questions = [q for n in FINDINGS for q in random_questions(network, n, seed)]

    def ask_new(q: Question) -> twbn.inference.Posterior:
        return twbn.Inference(network).query([q.target], q.states)

    answers = [ask_new(q).values for q in questions]
    cold = mean_time(partial(ask_new, q) for q in questions)
    engine = twbn.Inference(network)
    engine.query([network.names[0]])
    warm = mean_time(partial(engine.query, [q.target], q.states) for q in questions)
    marginals = mean_time(partial(engine.marginals, q.states) for q in questions[::10])
    rows = rows_with_gaps(network, seed)
    target = network.names[network.n_variables // 2]
    engine.predict_proba(rows, target)
    row = mean_time(partial(engine.predict_proba, rows, target) for _ in range(3)) / N_ROWS
    return Times(cold, warm, marginals, row), answers


def rows_with_gaps(network: twbn.Network, seed: int) -> twbn.Table:
    """Return sampled rows in which some cells are missing."""
    rng = np.random.default_rng(seed)
    rows = network.sample(N_ROWS, seed=seed)
    codes = np.where(rng.random(rows.codes.shape) < GAPS, -1, rows.codes).astype(np.int32)
    return twbn.Table(rows.names, rows.codings, codes)


def agrum_net(network: twbn.Network) -> Any:
    """Return the same network in pyAgrum, its numbers to the last bit; states are numbers."""
    import pyagrum

    net = pyagrum.BayesNet()
    for v, name in enumerate(network.names):
        net.add(pyagrum.RangeVariable(name, name, 0, network.n_states[v] - 1))
    for parent, child in network.dag.arcs:
        net.addArc(network.names[parent], network.names[child])
    for v, name in enumerate(network.names):
        table = net.cpt(name)
        family = [*network.dag.parents[v], v]
        # The last axis of an array is the first variable of a table there.
        order = [family.index(network.index(axis)) for axis in reversed(table.names)]
        table[:] = np.ascontiguousarray(np.transpose(network.tables[v], order))
    return net


def ask_agrum(network: twbn.Network, seed: int, answers: list[Any]) -> tuple[Times, float]:
    """Return the times, and the largest difference to the answers given."""
    import pyagrum

    net = agrum_net(network)
    questions = [q for n in FINDINGS for q in random_questions(network, n, seed)]
    differences = []

    def ask(engine: Any, q: Question) -> Any:
        engine.setTargets({q.target})
        engine.setEvidence(q.codes)
        engine.makeInference()
        return engine.posterior(q.target).toarray()

    def ask_new(q: Question) -> Any:
        return ask(pyagrum.LazyPropagation(net), q)

    engine = pyagrum.LazyPropagation(net)

    def ask_and_compare(i: int) -> None:
        differences.append(float(np.abs(ask(engine, questions[i]) - answers[i]).max()))

    whole = pyagrum.LazyPropagation(net)

    def ask_all(q: Question) -> None:
        whole.setEvidence(q.codes)
        whole.makeInference()
        for name in network.names:
            whole.posterior(name)

    v = network.n_variables // 2
    one = pyagrum.LazyPropagation(net)
    one.setTargets({network.names[v]})

    def ask_row(row: Any) -> None:
        known = [u for u in np.flatnonzero(row >= 0).tolist() if u != v]
        one.setEvidence({network.names[u]: int(row[u]) for u in known})
        one.makeInference()
        one.posterior(network.names[v])

    rows = rows_with_gaps(network, seed).codes[:N_AGRUM_ROWS]
    times = Times(
        mean_time(partial(ask_new, q) for q in questions),
        mean_time(partial(ask_and_compare, i) for i in range(len(questions))),
        mean_time(partial(ask_all, q) for q in questions[::10]),
        mean_time(partial(ask_row, row) for row in rows),
    )
    return times, max(differences)
