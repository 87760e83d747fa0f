"""Rules from a file, and on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from oracle import random_table
from twbn import TwbnError, learn, read_rules
from twbn.cli import run
from twbn.cli.files import cells_of, write_csv
from twbn.search.relations import is_ancestor

if TYPE_CHECKING:
    from pathlib import Path

RULES = """
required = [["x1", "x2"]]
forbidden = ["x3 -> x1"]
ancestors = [["x2", "x4"]]
tiers = [["x1"], ["x2", "x3"], ["x4"]]
max_parents = {x4 = 2}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    table = random_table(np.random.default_rng(5), 5, 80)
    path = tmp_path / "data.csv"
    with path.open("w") as file:
        write_csv(file, table.names, cells_of(table))
    return path


def test_a_file_gives_options_of_learn(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(RULES)
    rules = read_rules(path)
    assert rules["required"] == [("x1", "x2")]
    assert rules["forbidden"] == [("x3", "x1")]
    assert rules["max_parents"] == {"x4": 2}
    table = random_table(np.random.default_rng(5), 5, 80)
    found = learn(table, treewidth=2, max_iterations=3000, **rules)
    assert 0 in found.dag.parents[1]
    assert is_ancestor(found.dag.parents, 1, 3)


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text('requird = [["a", "b"]]\nancestors = ["a"]\nroots = "a"\nmax_parents = "two"')
    with pytest.raises(TwbnError) as caught:
        read_rules(path)
    for words in (
        "unknown rule 'requird'",
        "did you mean 'required'",
        "ancestors takes pairs",
        "roots must be a list of variables, got 'a'",
        "max_parents must be a whole number",
    ):
        assert words in str(caught.value)
    path.write_text("required = [[")
    with pytest.raises(TwbnError, match="not a TOML file"):
        read_rules(path)


def test_rules_on_the_command_line(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "rules.toml", tmp_path / "result.json"
    path.write_text('required = [["x1", "x2"]]\nnon_ancestors = [["x5", "x3"]]')
    options = ["--max-iterations", "2000", "-o", str(out), "--ancestor", "x2->x4"]
    more = ["--tier", "x1,x2", "--tier", "x4", "--adjacent", "x3->x5", "--root", "x1"]
    assert run(["learn", str(data), "--rules", str(path), *options, *more]) == 0
    content = json.loads(out.read_text())
    names = content["names"]
    parents = [[names.index(p) for p in content["parents"][name]] for name in names]
    assert 0 in parents[1]
    assert is_ancestor(parents, 1, 3)
    assert not is_ancestor(parents, 4, 2)
    assert 2 in parents[4]  # x5 -> x3 would make x5 an ancestor
    capsys.readouterr()
    assert run(["learn", str(data), "--rules", str(path), "--non-ancestor", "x1->x2"]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "'x1' -> 'x2' is required; 'x1' must not be an ancestor of 'x2'" in message
