"""Rules on pairs of variables, and rules that contradict each other, against every DAG of five."""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from oracle import all_dags, random_table
from twbn import Dag, LazyScores, Table, learn
from twbn.deadline import Deadline
from twbn.errors import OptionError
from twbn.graphs.treewidth import treewidth as exact_treewidth
from twbn.learning.rule_conflicts import conflicting_rules
from twbn.scores.rules import RuleOptions
from twbn.search import METHODS
from twbn.search.limit import WidthLimit
from twbn.search.relations import make_relations

if TYPE_CHECKING:
    from numpy.typing import NDArray

N = 5
NAMES = tuple("abcde")
#: Options that hold rules, in the order in which they are drawn.
ARCS = ("required", "forbidden", "adjacent", "ancestors", "non_ancestors")


class Every(NamedTuple):
    """Every DAG on five vertices: its families, arcs, ancestors, sizes and treewidth."""

    parents: tuple[tuple[tuple[int, ...], ...], ...]
    arcs: NDArray[np.bool_]  # [dag, parent, child]
    above: NDArray[np.bool_]  # [dag, ancestor, descendant]
    treewidth: NDArray[np.int64]


@cache
def every_dag() -> Every:
    dags = all_dags(N)
    arcs = np.zeros((len(dags), N, N), dtype=bool)
    for i, parents in enumerate(dags):
        for child, members in enumerate(parents):
            arcs[i, list(members), child] = True
    above = arcs.copy()
    for _ in range(3):
        above |= np.einsum("dij,djk->dik", above, above)
    width: dict[frozenset[tuple[int, int]], int] = {}
    found = []
    for parents in dags:
        moral = Dag(parents).moral_graph()
        if moral.edges not in width:
            width[moral.edges] = exact_treewidth(moral).upper
        found.append(width[moral.edges])
    return Every(dags, arcs, above, np.array(found))


def keeping(rules: dict[str, Any], treewidth: int) -> NDArray[np.bool_]:
    """Return which DAGs keep some rules, from their definitions."""
    every, at = every_dag(), NAMES.index
    kept = every.treewidth <= treewidth
    for a, b in rules.get("required", ()):
        kept = kept & every.arcs[:, at(a), at(b)]
    for a, b in rules.get("forbidden", ()):
        kept = kept & ~every.arcs[:, at(a), at(b)]
    for a, b in rules.get("adjacent", ()):
        kept = kept & (every.arcs[:, at(a), at(b)] | every.arcs[:, at(b), at(a)])
    for a, b in rules.get("ancestors", ()):
        kept = kept & every.above[:, at(a), at(b)]
    for a, b in rules.get("non_ancestors", ()):
        kept = kept & ~every.above[:, at(a), at(b)]
    for v in rules.get("roots", ()):
        kept = kept & ~every.arcs[:, :, at(v)].any(axis=1)
    for v in rules.get("leaves", ()):
        kept = kept & ~every.arcs[:, at(v), :].any(axis=1)
    for earlier, later in itertools.combinations(rules.get("tiers") or (), 2):
        for a, b in itertools.product(later, earlier):
            kept = kept & ~every.arcs[:, at(a), at(b)]
    if rules.get("max_parents") is not None:
        kept = kept & (every.arcs.sum(axis=1).max(axis=1) <= rules["max_parents"])
    return kept


def totals(table: Table) -> NDArray[np.float64]:
    """Return the score of every DAG."""
    scores = LazyScores(table, max_parents=None)
    local = cache(scores.local)
    return np.array([sum(map(local, range(N), parents)) for parents in every_dag().parents])


def random_rules(rng: np.random.Generator) -> dict[str, Any]:
    pairs = list(itertools.permutations(NAMES, 2))
    rules: dict[str, Any] = {}
    for kind in ARCS:
        n = int(rng.choice([0, 0, 1, 2]))
        chosen = rng.choice(len(pairs), n, replace=False)
        if n:
            rules[kind] = [pairs[i] for i in chosen]
    for kind in ("roots", "leaves"):
        if rng.random() < 0.2:
            rules[kind] = [NAMES[rng.integers(N)]]
    if rng.random() < 0.2:
        order = rng.permutation(list(NAMES)).tolist()
        rules["tiers"] = [order[:2], order[2:4]]
    if rng.random() < 0.3:
        rules["max_parents"] = int(rng.integers(1, 4))
    return rules


def options_of(rules: dict[str, Any]) -> tuple[RuleOptions, Any]:
    pairs = {
        name: rules[name] for name in ("adjacent", "ancestors", "non_ancestors") if name in rules
    }
    rest = {name: value for name, value in rules.items() if name not in pairs}
    return RuleOptions(**{"max_parents": None, **rest}), make_relations(NAMES, **pairs)


def check_rules(first: int, last: int, methods: tuple[str, ...]) -> tuple[int, int]:
    """Compare results of random rule sets with the best DAG; return how many had one, or none."""
    n_best = n_none = 0
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        table = Table.from_codes(random_table(rng, N, 60).codes, names=NAMES)
        rules, treewidth = random_rules(rng), int(rng.integers(1, 5))
        kept = keeping(rules, treewidth)
        if not kept.any():
            n_none += 1
            check_conflict(table, rules, treewidth)
            continue
        n_best += 1
        assert (
            conflicting_rules(NAMES, *options_of(rules), WidthLimit(treewidth), Deadline(60)) == []
        )
        best = totals(table)[kept].max()
        for method in methods:
            budget = ("max_iterations", 4000) if method == "anneal" else ("time_limit", 60)
            options = dict([budget], treewidth=treewidth, method=method, seed=seed, **rules)
            found = learn(table, **options)
            place = every_dag().parents.index(found.dag.parents)
            assert kept[place], (seed, method)
            assert found.score <= best + 1e-9 * abs(best), (seed, method)
            if method != "anneal":
                assert found.status == "optimal", (seed, method)
                assert found.score == pytest.approx(best, rel=1e-7), (seed, method)
    return n_best, n_none


def check_conflict(table: Table, rules: dict[str, Any], treewidth: int) -> None:
    """Check that rules without a structure are refused, and that the conflict named is one."""
    with pytest.raises(OptionError):
        learn(table, treewidth=treewidth, max_iterations=100, method="anneal", **rules)
    named = conflicting_rules(NAMES, *options_of(rules), WidthLimit(treewidth), Deadline(60))
    assert named
    with pytest.raises(OptionError, match="these rules contradict each other") as caught:
        learn(table, treewidth=treewidth, max_iterations=100, method="anneal", **rules)
    assert all(rule in str(caught.value) for rule in named)
    units = dict(units_of(rules, treewidth))
    assert set(named) <= units.keys()
    assert not holds_somewhere([units[rule] for rule in named])
    for rule in named:
        assert holds_somewhere([units[other] for other in named if other != rule])


def units_of(rules: dict[str, Any], treewidth: int) -> list[tuple[str, dict[str, Any]]]:
    """Return every rule as its sentence and alone."""
    units: list[tuple[str, dict[str, Any]]] = [
        (f"the treewidth limit is {treewidth}", {"treewidth": treewidth})
    ]
    sentences = {
        "required": "{!r} -> {!r} is required",
        "forbidden": "{!r} -> {!r} is forbidden",
        "adjacent": "an arc must join {!r} and {!r}",
        "ancestors": "{!r} must be an ancestor of {!r}",
        "non_ancestors": "{!r} must not be an ancestor of {!r}",
    }
    for kind, sentence in sentences.items():
        units += [(sentence.format(*pair), {kind: [pair]}) for pair in rules.get(kind, ())]
    units += [(f"{v!r} is a root", {"roots": [v]}) for v in rules.get("roots", ())]
    units += [(f"{v!r} is a leaf", {"leaves": [v]}) for v in rules.get("leaves", ())]
    if "tiers" in rules:
        units.append(("no arc leads to an earlier tier", {"tiers": rules["tiers"]}))
    if "max_parents" in rules:
        most = rules["max_parents"]
        units.append((f"a variable has at most {most} parents", {"max_parents": most}))
    return units


def holds_somewhere(units: list[dict[str, Any]]) -> bool:
    kept = np.ones(len(every_dag().parents), dtype=bool)
    for unit in units:
        rest = {name: value for name, value in unit.items() if name != "treewidth"}
        kept &= keeping(rest, unit.get("treewidth", N))
    return bool(kept.any())


def test_random_rules_against_every_dag() -> None:
    n_best, n_none = check_rules(0, 25, ("anneal", "exact"))
    assert n_best > 8
    assert n_none > 3


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_five_hundred_rule_sets_against_every_dag(part: int) -> None:
    methods = ("anneal", "milp", "exact", "auto")
    n_best, n_none = check_rules(1000 + 50 * part, 1050 + 50 * part, methods)
    assert n_best + n_none == 50


def test_annealing_finds_the_best_within_rules() -> None:
    n_optimal = n_all = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = Table.from_codes(random_table(rng, N, 60).codes, names=NAMES)
        rules, treewidth = random_rules(rng), int(rng.integers(1, 5))
        kept = keeping(rules, treewidth)
        if not kept.any():
            continue
        best = totals(table)[kept].max()
        found = learn(
            table, treewidth=treewidth, method="anneal", max_iterations=40_000, seed=seed, **rules
        )
        n_optimal += found.score >= best - 1e-9 * abs(best)
        n_all += 1
    assert n_optimal >= 0.9 * n_all > 0


def test_methods_that_do_not_keep_relations_refuse_them() -> None:
    table = random_table(np.random.default_rng(0), 4, 50)
    a, b = table.names[:2]
    for name, method in METHODS.items():
        if not method.keeps_relations:
            with pytest.raises(OptionError, match="does not support ancestors; use anneal"):
                learn(table, method=name, ancestors=[(a, b)], time_limit=1)
    with pytest.raises(OptionError, match="polish does not keep"):
        learn(table, ancestors=[(a, b)], polish=True, time_limit=1)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"ancestors": [("x1", "x9")]}, r"ancestors \('x1', 'x9'\): .*'x9'"),
        ({"adjacent": [("x1", "x1")]}, "names one variable twice"),
        ({"non_ancestors": ["x1"]}, "non_ancestors takes pairs .*got 'x1'"),
        (
            {"ancestors": [("x1", "x2")], "non_ancestors": [("x1", "x2")]},
            "'x1' must be an ancestor of 'x2'; 'x1' must not be an ancestor of 'x2'",
        ),
        (
            {"ancestors": [("x1", "x2"), ("x2", "x3"), ("x3", "x1")]},
            "'x3' must be an ancestor of 'x1'",
        ),
    ],
)
def test_rules_that_make_no_sense_are_named(rules: dict[str, Any], words: str) -> None:
    table = random_table(np.random.default_rng(0), 4, 50)
    with pytest.raises(OptionError, match=words):
        learn(table, max_iterations=100, **rules)


def test_many_variables_keep_rules_too() -> None:
    table = random_table(np.random.default_rng(1), 40, 200)
    names = table.names
    ancestors = [(names[0], names[39]), (names[39], names[20])]
    found = learn(
        table,
        treewidth=3,
        max_iterations=20_000,
        ancestors=ancestors,
        non_ancestors=[(names[20], names[5])],
        adjacent=[(names[7], names[8])],
    )
    relations = make_relations(names, [(names[7], names[8])], ancestors, [(names[20], names[5])])
    assert list(relations.broken(found.dag.parents)) == []
    assert found.treewidth <= 3
    with pytest.raises(OptionError, match="start breaks a rule: 'x1' must be an ancestor of 'x40'"):
        learn(table, start=Dag.empty(40), ancestors=ancestors, max_iterations=100)


def test_contradictions_that_need_no_search_are_named_at_once() -> None:
    names = [f"v{i}" for i in range(25)]
    rng = np.random.default_rng(0)
    table = random_table(rng, 25, 40, max_states=2)
    table = Table(tuple(names), table.codings, table.codes)
    ring = [(names[i], names[(i + 1) % 25]) for i in range(25)]
    clique = list(itertools.combinations(names[:4], 2))
    cases: list[tuple[dict[str, Any], int]] = [
        ({"ancestors": [("v7", "v4"), ("v4", "v1")], "non_ancestors": [("v7", "v1")]}, 3),
        ({"ancestors": ring}, 25),
        ({"adjacent": clique, "treewidth": 2}, 7),
        ({"required": clique, "treewidth": 2}, 4),
        ({"adjacent": [("v1", "v2")], "roots": ["v1", "v2"]}, 3),
        ({"ancestors": [("v1", "v2")], "leaves": "v1"}, 2),
    ]
    for rules, n_named in cases:
        with pytest.raises(OptionError, match="these rules contradict each other: ") as caught:
            learn(table, **{"treewidth": 3, "time_limit": 2, **rules})
        assert str(caught.value).count(";") + 1 == n_named


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"required": [("a", "a")]}, r"required: \('a', 'a'\) leads from a variable to itself"),
        ({"required": ("a", "b")}, "required takes pairs such as .*got 'a'"),
        ({"required": [("a", "b", "c")]}, "required takes pairs"),
        ({"forbidden": [1]}, "forbidden takes pairs such as .*got 1"),
        ({"ancestors": [5]}, "ancestors takes pairs"),
        ({"adjacent": 5}, "adjacent takes a list of pairs"),
        ({"ancestors": None}, "ancestors takes a list of pairs"),
        ({"ancestors": [(["a"], "b")]}, "ancestors takes pairs"),
        ({"roots": None}, "roots takes names of variables, got None"),
        ({"leaves": 5}, "leaves takes names of variables, got 5"),
        ({"tiers": 5}, "tiers takes lists of variables, got 5"),
        ({"tiers": [None]}, "tiers takes names of variables, got None"),
        ({"max_parents": -1}, "max_parents must be"),
        ({"ancestors": [("a", "x")]}, "unknown variable 'x'"),
    ],
)
def test_what_is_no_rule_is_named(rules: dict[str, Any], words: str) -> None:
    table = Table.from_codes(random_table(np.random.default_rng(1), N, 40).codes, names=NAMES)
    with pytest.raises(OptionError, match=words):
        learn(table, treewidth=2, max_iterations=10, **rules)


def test_a_name_alone_is_one_root() -> None:
    rows = {"ab": [0, 1, 0, 1] * 9, "b": [0, 1, 0, 1] * 9, "a": [0, 0, 1, 1] * 9}
    rules: dict[str, Any] = {"roots": "ab", "required": ["ab -> a"]}
    found = learn(rows, treewidth=1, max_iterations=100, **rules)
    assert found.parents["ab"] == []
    assert found.parents["a"] == ["ab"]


def test_rules_are_kept_within_a_limit_on_states() -> None:
    rng = np.random.default_rng(0)
    p, q, y = (rng.integers(0, 2, 90).tolist() for _ in range(3))
    rows = {"p": p, "q": q, "y": y, "x": rng.integers(0, 3, 90).tolist()}
    # Not both can be parents of x.
    rules: dict[str, Any] = {"required": [("p", "x")], "adjacent": [("q", "x")]}
    found = learn(rows, max_states=9, time_limit=2, **rules)
    assert found.parents["q"] == ["x"]
