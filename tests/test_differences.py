"""What differs between two structures, against every pair of small ones, and the page of it."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from browser import chromium, opened
from oracle import all_dags
from twbn.cli import run
from twbn.errors import GraphError, OptionError, TwbnError
from twbn.graphs.differences import differences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAMES = ("sky", "lamp", "door & <b>", "cat", "dog")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def marks(dag: twbn.Dag, members: dict[Any, list[twbn.Dag]]) -> dict[tuple[int, int], str]:
    """Return how an equivalence class joins each pair, from all of its members."""
    own = members[dag.skeleton().edges, dag.v_structures()]
    found = {}
    for u, v in dag.skeleton().edges:
        ways = {(u, v) in other.arcs for other in own}
        found[u, v] = "free" if len(ways) == 2 else str(ways.pop())
    return found


def test_arcs_and_distance_of_every_pair_of_structures_on_three() -> None:
    dags = [twbn.Dag(parents) for parents in all_dags(3)]
    members: dict[Any, list[twbn.Dag]] = {}
    for dag in dags:
        members.setdefault((dag.skeleton().edges, dag.v_structures()), []).append(dag)
    for a, b in itertools.product(dags, repeat=2):
        found = differences(a, b)
        assert set(found.shared) == set(a.arcs) & set(b.arcs)
        assert set(found.reversed) == {(u, v) for u, v in a.arcs if (v, u) in b.arcs}
        edges = [{frozenset(arc) for arc in dag.arcs} for dag in (a, b)]
        assert {frozenset(arc) for arc in found.only_first} == edges[0] - edges[1]
        assert {frozenset(arc) for arc in found.only_second} == edges[1] - edges[0]
        ours, theirs = marks(a, members), marks(b, members)
        pairs = ours.keys() | theirs.keys()
        assert found.distance == sum(ours.get(pair) != theirs.get(pair) for pair in pairs)
        assert found.equivalent == (found.distance == 0) == a.is_equivalent(b)


def test_structures_of_two_sizes_are_refused() -> None:
    with pytest.raises(GraphError, match="3, 4"):
        differences(twbn.Dag.empty(3), twbn.Dag.empty(4))


def test_a_graph_shows_the_names_it_was_given_and_equals_one_without() -> None:
    dag = twbn.Dag(((), (0,)))
    named = dag.named(["sun", "moon"])
    assert named == dag
    assert hash(named) == hash(dag)
    html = named._repr_html_()
    assert html is not None
    assert "moon" in html
    assert "moon" not in str(dag._repr_html_())
    with pytest.raises(GraphError, match="two vertices are called 'a'"):
        dag.named(["a", "a"])
    with pytest.raises(GraphError, match="3 names do not fit a graph of 2 vertices"):
        dag.named(["a", "b", "c"])


def a_network(arcs: list[tuple[int, int]], seed: int) -> twbn.Network:
    rng = np.random.default_rng(seed)
    dag = twbn.Dag.from_arcs(5, arcs)
    return twbn.Network.from_tables(
        {name: ["no", "yes"] for name in NAMES},
        {name: [NAMES[p] for p in dag.parents[v]] for v, name in enumerate(NAMES)},
        {name: rng.dirichlet([1, 1], [2] * len(dag.parents[v])) for v, name in enumerate(NAMES)},
    )


FIRST = a_network([(0, 1), (1, 2), (0, 3), (3, 4)], 0)
SECOND = a_network([(0, 1), (2, 1), (1, 3), (3, 4), (0, 4)], 1)


def test_the_page_marks_every_arc_that_differs(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    twbn.write_comparison(FIRST, SECOND, path, titles=("<i>old</i>", "new"))
    kinds = {
        0: {(0, 1): "", (1, 2): "turned", (0, 3): "own", (3, 4): ""},
        1: {(0, 1): "", (2, 1): "turned", (1, 3): "own", (3, 4): "", (0, 4): "own"},
    }
    with opened(browser, path) as watched:
        page = watched.page
        places = []
        for side, expected in kinds.items():
            drawn = page.locator(f"#side-{side} path[data-tail]").all()
            found = {
                (int(arc.get_attribute("data-tail")), int(arc.get_attribute("data-head"))): (
                    arc.get_attribute("class") or ""
                )
                for arc in drawn
            }
            assert found == expected
            boxes = page.locator(f"#side-{side} .node .box").all()
            places.append([(b.get_attribute("x"), b.get_attribute("y")) for b in boxes])
        assert places[0] == places[1]
        page.locator('#side-0 .node[data-v="1"]').click()
        assert page.locator("#side-1 .node.chosen").get_attribute("data-v") == "1"
        assert page.locator("#side-1 path.near").count() == 3
        page.get_by_role("button", name="Zoom in").click()
        views = [page.locator(f"#side-{i} svg").get_attribute("viewBox") for i in (0, 1)]
        assert views[0] == views[1]
        rows = page.locator("tbody tr").all()
        assert [row.locator("th").inner_text() for row in rows] == list(NAMES)
        apart = [float(row.locator("td.number").inner_text()) for row in rows]
        ours, theirs = (twbn.Inference(n).marginals() for n in (FIRST, SECOND))
        wanted = [abs(ours[n]["yes"] - theirs[n]["yes"]) for n in NAMES]
        assert apart == pytest.approx(wanted, abs=6e-5)


def test_equal_structures_and_results_have_a_page(tmp_path: Path) -> None:
    rows = FIRST.sample(200, seed=1)
    result = twbn.learn(rows, treewidth=2, max_iterations=500)
    path = tmp_path / "page.html"
    twbn.write_comparison(result, twbn.fit(result, rows), path)
    assert "None: both have the same arcs." in path.read_text(encoding="utf-8")
    with pytest.raises(OptionError, match="fit the results first"):
        twbn.write_comparison(result, FIRST, path, data=rows)
    other = twbn.fit(twbn.Dag.empty(2), {"sky": [0, 1], "sea": [0, 1]})
    with pytest.raises(TwbnError, match="only one of the networks has the variable"):
        twbn.write_comparison(FIRST, other, path)
    with pytest.raises(OptionError, match="networks and results can be compared, got Dag"):
        twbn.write_comparison(result.dag, FIRST, path)  # type: ignore[arg-type]


def test_the_command_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.xmlbif"]
    for network, file in zip((FIRST, SECOND), files, strict=True):
        twbn.write_network(network, file)
    rows = tmp_path / "rows.csv"
    table = FIRST.sample(50, seed=2)
    table.to_frame().to_csv(rows, index=False)
    page = tmp_path / "page.html"
    command = ["compare", *map(str, files), "--data", str(rows), "-o", str(page)]
    assert run(command) == 0
    told = capsys.readouterr().out
    assert "not equivalent: structural Hamming distance of the classes" in told
    content = page.read_text(encoding="utf-8")
    mean = float(twbn.Inference(FIRST).score_samples(table).mean())
    assert f"{mean:.6f}" in content
    assert "a.json" in content
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["distance"] > 0
    result = tmp_path / "r.json"
    twbn.write_result(twbn.learn(table, treewidth=2, max_iterations=100), result)
    assert run(["compare", str(result), str(files[0])]) == 0
    assert run(["compare", str(result), str(files[0]), "--data", str(rows)]) == 2
    assert "run twbn fit on the results first" in capsys.readouterr().err
    before = files[0].read_bytes()
    for target in (files[0], tmp_path / "page.txt"):
        assert run(["compare", *map(str, files), "-o", str(target)]) == 2
        assert "pages are written as HTML" in " ".join(capsys.readouterr().err.split())
    assert files[0].read_bytes() == before
