"""The registry of searches: a method is one file, and its options reach it from everywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import twbn
from twbn.cli import run as run_command
from twbn.errors import OptionError
from twbn.graphs import Dag, TreeDecomposition
from twbn.search import method as registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROWS = {"a": [0, 0, 1, 1] * 9, "b": [0, 1, 0, 1] * 9, "c": [0, 0, 1, 1] * 9}


@twbn.search_method("toy", "a chain of the first variables", length="arcs of the chain")
def toy(scores: twbn.LocalScores, run: twbn.Run, *, length: int = 1) -> twbn.SearchResult:
    """Return a chain of the first variables, whatever it scores."""
    dag = Dag.from_arcs(run.n, [(v, v + 1) for v in range(length)])
    order = dag.topological_order[::-1]
    proof = TreeDecomposition.from_elimination_order(dag.moral_graph(), order)
    bound = scores.trivial_bound()
    return run.result(dag, proof, status="iteration_limit", bound=bound, n_iterations=length)


@pytest.fixture
def registered() -> Iterator[twbn.Method]:
    yield twbn.register(toy)
    registry._methods.pop("toy")


def all_sets() -> twbn.ScoreTable:
    return twbn.compute_scores(ROWS, prune=False)


def test_a_method_of_ones_own_runs_through_learn() -> None:
    result = twbn.learn(all_sets(), treewidth=1, method=toy, length=2)
    assert result.dag.arcs == ((0, 1), (1, 2))
    assert (result.method, result.n_iterations, result.treewidth) == ("toy", 2, 1)


def test_a_method_of_ones_own_is_held_to_the_limits() -> None:
    with pytest.raises(OptionError, match="treewidth must be a whole number"):
        twbn.learn(ROWS, treewidth=0, method=toy)
    with pytest.raises(OptionError, match="unknown option 'lenght'; did you mean 'length'"):
        twbn.learn(ROWS, treewidth=1, method=toy, lenght=2)


def named_like_a_run_option(_scores: Any, _run: Any, *, seed: int = 1) -> Any:
    return seed


def without_a_default(_scores: Any, _run: Any, *, depth: int) -> Any:
    return depth


def without_a_type(_scores: Any, _run: Any, *, depth=1) -> Any:  # type: ignore[no-untyped-def]
    return depth


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (named_like_a_run_option, {"seed": "x"}, "'seed' is an option of every search"),
        (without_a_default, {"depth": "x"}, "'depth' needs a default"),
        (without_a_type, {"depth": "x"}, "'depth' needs one of the types str, int"),
        (without_a_type, {}, "needs a description, as 'depth'"),
    ],
)
def test_options_that_cannot_work_are_refused_when_they_are_declared(
    function: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        twbn.search_method("mine", "a method", **options)(function)


def test_values_of_another_type_are_refused() -> None:
    with pytest.raises(OptionError, match="length must be of type int, got 'two'"):
        twbn.learn(all_sets(), treewidth=1, method=toy, length="two")


def test_a_registered_method_is_known_by_name(registered: twbn.Method) -> None:
    assert twbn.METHODS["toy"] is registered
    assert twbn.learn(all_sets(), treewidth=1, method="toy", length=2).dag.arcs[-1] == (1, 2)
    with pytest.raises(OptionError, match="length is an option of toy, not of method 'tree'"):
        twbn.learn(all_sets(), treewidth=1, method="tree", length=2)


@pytest.mark.usefixtures("registered")
def test_a_registered_method_has_its_options_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = tmp_path / "scores.jkl"
    twbn.write_jkl(all_sets(), scores, names=True)
    command = ["learn", str(scores), "-k", "1", "--method", "toy", "--length", "2", "--json"]
    assert run_command(command) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["parents"] == {"a": [], "b": ["a"], "c": ["b"]}
    assert run_command(["learn", "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--length" in shown
    assert "For toy: arcs of" in shown


def test_methods_cannot_be_assigned_into() -> None:
    with pytest.raises(TypeError):
        twbn.METHODS["mine"] = toy  # type: ignore[index]


def test_a_name_is_registered_once(registered: twbn.Method) -> None:
    assert twbn.register(registered) is registered
    other = twbn.search_method("toy", "another")(lambda _scores, _run: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(OptionError, match="there is a method 'toy' already"):
        twbn.register(other)


@pytest.mark.parametrize("name", twbn.METHODS)
def test_every_method_says_what_it_does_and_what_its_options_are(name: str) -> None:
    method = twbn.METHODS[name]
    assert method.name == name
    assert method.about
    for option in method.options.values():
        assert option.about
        assert option.kind in {str, int, float, bool}
