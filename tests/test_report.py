"""Pages, drawings, plots and what notebooks show, without a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from twbn.errors import DataError, OptionError, VerificationError
from twbn.report import network_page, plot_trace, plot_treewidth
from twbn.report.drawing import draw_decomposition, draw_network, shortened, svg
from twbn.report.layout import layered

if TYPE_CHECKING:
    from pathlib import Path

TABLE = twbn.Table.from_codes(
    np.random.default_rng(0).integers(0, 2, (60, 6)), names=["a", "b", "c", "d", "e", "<f>"]
)


def a_result(**options: Any) -> twbn.SearchResult:
    return twbn.learn(TABLE, treewidth=2, max_iterations=2000, method="anneal", **options)


def random_arcs(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    order = rng.permutation(n).tolist()
    arcs = [
        (order[i], order[j]) for j in range(n) for i in range(j) if rng.random() < 3 / max(n, 4)
    ]
    return sorted(arcs)


def shown(value: Any) -> str:
    """Return what a notebook shows of a value."""
    html = value._repr_html_()
    assert isinstance(html, str)
    return html


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
def test_boxes_do_not_overlap_and_arcs_go_down(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(3):
        arcs = random_arcs(rng, n)
        widths = rng.uniform(20, 150, n).tolist()
        drawing = layered(arcs, widths, [20.0] * len(widths), layer_gap=30.0)
        for v in range(n):
            assert drawing.x[v] - widths[v] / 2 >= -1e-6
            assert drawing.x[v] + widths[v] / 2 <= drawing.width + 1e-6
            for u in range(v):
                if drawing.y[u] == drawing.y[v]:
                    assert abs(drawing.x[u] - drawing.x[v]) >= (widths[u] + widths[v]) / 2 + 1
        for (tail, head), bends in zip(arcs, drawing.lanes, strict=True):
            heights = [drawing.y[tail], *(y for _, y, _ in bends), drawing.y[head]]
            assert heights == sorted(heights)
            assert len(set(heights)) == len(heights)


def test_an_arc_that_passes_a_layer_does_not_cross_its_boxes() -> None:
    arcs = [(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)]
    widths = [100.0] * 4
    drawing = layered(arcs, widths, [20.0] * len(widths), layer_gap=30.0)
    for bends in drawing.lanes:
        for x, y, _ in bends:
            for v in range(4):
                if drawing.y[v] == y:
                    assert abs(drawing.x[v] - x) > widths[v] / 2


def test_long_and_blank_names_are_shortened() -> None:
    assert shortened("short") == "short"
    assert shortened("x" * 200).endswith("x…")
    assert len(shortened("漢" * 200)) < len(shortened("i" * 200))
    assert shortened(" \n ") == "(blank)"


def test_a_drawing_is_well_formed_and_has_every_box_and_arc() -> None:
    result = a_result()
    for picture, n_paths in (
        (draw_network(result.dag, result.names), len(result.dag.arcs)),
        (draw_decomposition(result.decomposition, result.names), len(result.decomposition.edges)),
    ):
        root = ET.fromstring(svg(picture, label='a "label" & more'))
        space = "{http://www.w3.org/2000/svg}"
        assert len(root.findall(f"{space}g")) == len(picture.boxes)
        assert len(root.findall(f"{space}path")) == n_paths
        assert root.get("aria-label") == 'a "label" & more'


def test_a_page_of_a_result_has_its_proof_scores_and_model() -> None:
    result = a_result()
    page = network_page(result, data=TABLE, title="T")
    found = re.search(r'<script type="application/json" id="model">(.*?)</script>', page)
    assert found is not None
    model = json.loads(found.group(1))
    network = twbn.fit(result, TABLE)
    assert model["names"] == list(result.names)
    for flat, table in zip(model["tables"], network.tables, strict=True):
        assert flat == table.ravel().tolist()
    assert f"{result.score:.4f}" in page
    scores = twbn.compute_scores(TABLE)
    assert f"{scores.local(0, result.dag.parents[0]):.4f}" in page
    assert "&lt;f&gt;" in page
    assert "<f>" not in page
    assert "http:" not in re.sub(r'"http://www\.w3\.org/[^"]*"', "", page)
    assert "https:" not in page


def test_a_page_without_parameters_says_what_is_missing() -> None:
    page = network_page(a_result(), title="T")
    assert "give the data (--data) to get them" in page
    assert 'id="model"' not in page
    ready = twbn.compute_scores(TABLE)
    assert "Local scores" in network_page(a_result(), scores=ready, title="T")


def test_data_of_another_network_are_refused() -> None:
    with pytest.raises(DataError, match="not those that the network was learned from"):
        network_page(a_result(), data=TABLE.take(range(10)), title="T")
    with pytest.raises(DataError, match=r"other columns .*: '<f>' is only in one"):
        network_page(a_result(), data=TABLE.select(["a", "b"]), title="T")
    with pytest.raises(OptionError, match="a report is made of a result or a network, not of str"):
        network_page("result.json", title="T")  # type: ignore[arg-type]


def test_more_than_500_variables_are_summarised() -> None:
    codes = np.random.default_rng(1).integers(0, 2, (30, 501))
    table = twbn.Table.from_codes(codes)
    result = twbn.learn(table, treewidth=2, method="tree", max_parents=1)
    page = network_page(result, data=table, title="T")
    assert "501 variables are too many for a drawing" in page
    assert "up to 500 variables" in page
    assert page.count("<svg") <= 1  # the plot of the trace
    assert ">x501<" in page


def test_a_junction_tree_too_large_for_a_page_is_left_out() -> None:
    rng = np.random.default_rng(0)
    n = 120
    arcs = [(int(i), j) for j in range(3, n) for i in rng.choice(j, 3, replace=False)]
    rows = twbn.Table.from_codes(rng.integers(0, 2, (50, n)), names=[f"v{i}" for i in range(n)])
    network = twbn.fit(twbn.Dag.from_arcs(n, arcs), rows)
    page = network_page(network, title="T")
    assert "Too large for a page" in page
    assert re.search(r"its junction tree has [\d,]{9,} numbers, more than 2,097,152", page)


def test_a_result_file_that_is_not_true_gets_no_page(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    twbn.write_result(a_result(), path)
    honest = twbn.read_result(path)
    assert "as the file says" in network_page(honest, title="T")
    assert "as the file says" not in network_page(honest, data=TABLE, title="T")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["score"] = document["trace"][-1]["score"] = document["score"] + 1
    document["bound"] = document["score"]
    document["gap"] = document["gap_percent"] = 0.0
    document["status"] = "optimal"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(VerificationError, match="the result is inconsistent with the data"):
        network_page(twbn.read_result(path), data=TABLE, title="T")
    document["treewidth_limit"] = 1
    document["treewidth"] = 2
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(VerificationError, match="the result file is inconsistent"):
        network_page(twbn.read_result(path), title="T")


def test_empty_bags_and_graphs_are_shown() -> None:
    dag = twbn.Dag.from_arcs(2, [(0, 1)])
    bags = twbn.TreeDecomposition((frozenset({0, 1}), frozenset()), ((0, 1),))
    table = twbn.Table.from_codes([[0, 1], [1, 0], [1, 1]], names=["a", "b"])
    page = network_page(twbn.fit(dag, table, decomposition=bags), title="T")
    assert "∅" in page
    assert "(empty)" in page
    for value in (bags, twbn.Dag.empty(0), twbn.Dag.empty(1), twbn.TreeDecomposition((), ())):
        assert repr(value).split("(")[0] in shown(value)


def test_one_variable_makes_a_page() -> None:
    network = twbn.Network.from_tables({"a": ["x", "y"]}, {"a": []}, {"a": [0.25, 0.75]})
    page = network_page(network, title="T")
    assert "75.00 %" in page


def test_notebooks_show_tables_graphs_results_and_networks() -> None:
    result = a_result()
    ktree = twbn.DandelionCode.sample(7, 2).decode()
    for value in (result, result.dag, result.decomposition, ktree, twbn.fit(result, TABLE)):
        html = shown(value)
        ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])
        assert repr(value).split("(")[0] in html
    html = shown(TABLE)
    assert "60 rows, 6 variables, 0 cells missing" in html
    assert "&lt;f&gt;" in html
    assert "55 more rows" in html


def test_what_is_too_large_for_a_notebook_is_described() -> None:
    html = shown(twbn.Dag.empty(151))
    assert "<svg" not in html
    assert "Dag(151 vertices" in html


def test_plots_show_score_bound_and_treewidth() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    results = [twbn.learn(TABLE, treewidth=k, time_limit=0.5) for k in (1, 2, 3)]
    axes = plot_treewidth(reversed(results))
    assert axes.lines[0].get_xdata().tolist() == [1, 2, 3]
    assert axes.lines[0].get_ydata().tolist() == [r.score for r in results]
    axes = plot_trace(*results)
    assert axes.lines[0].get_ydata()[-1] == results[0].score
    with pytest.raises(OptionError, match="at least one result"):
        plot_trace()
    with pytest.raises(OptionError, match="at least one result"):
        plot_treewidth([])


def test_a_bound_at_a_larger_limit_holds_at_a_smaller_one() -> None:
    pytest.importorskip("matplotlib")
    scores = twbn.compute_scores(np.random.default_rng(0).integers(0, 2, (80, 6)))
    options: dict[str, Any] = {"max_iterations": 50, "method": "anneal"}
    narrow, wide = (twbn.learn(scores, treewidth=k, **options) for k in (1, 3))
    best = max(narrow.score, wide.score)
    loose = [narrow.but(bound=best + 9.0), wide.but(bound=best + 2.0)]
    line = plot_treewidth(loose).lines[1]
    assert line.get_ydata().tolist() == [best + 2.0, best + 2.0]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "twbn", *map(str, arguments)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, a result and its network."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 2, (40, 4))
    lines = ["a,b,c,d", *(",".join(map(str, row)) for row in rows.tolist())]
    (folder / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run(
        "learn", folder / "data.csv", "-k", "2", "--max-iterations", "500", "-o",
        folder / "result.json", "--report", folder / "learned.html",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "learned.html" in done.stdout
    done = run("fit", folder / "result.json", "--data", folder / "data.csv", "-o", folder / "n.bif")
    assert done.returncode == 0, done.stderr
    return folder


def test_the_command_line_makes_pages_of_results_and_networks(files: Path) -> None:
    assert 'id="model"' in (files / "learned.html").read_text(encoding="utf-8")
    page = files / "page.html"
    done = run("report", files / "result.json", "-o", page)
    assert done.returncode == 0, done.stderr
    assert "--data DATA gives it some" in done.stdout
    assert 'id="model"' not in page.read_text(encoding="utf-8")
    done = run("report", files / "result.json", "--data", files / "data.csv", "-o", page)
    assert done.returncode == 0, done.stderr
    assert 'id="model"' in page.read_text(encoding="utf-8")
    done = run("report", files / "n.bif", "-o", page, "--title", "My network")
    assert done.returncode == 0, done.stderr
    assert "<title>My network</title>" in page.read_text(encoding="utf-8")


def test_the_command_line_says_what_is_wrong(files: Path) -> None:
    done = run("query", files / "result.json", "-q", "a")
    assert (done.returncode, "a result has no parameters" in done.stderr) == (1, True)
    done = run("report", files / "n.bif", "--data", files / "data.csv", "-o", files / "p.html")
    assert (done.returncode, "is a network and has its own" in done.stderr) == (2, True)
    done = run("report", files / "nothing.json", "-o", files / "p.html")
    assert (done.returncode, "nothing.json" in done.stderr) == (1, True)
    done = run("report", files / "n.bif", "-o", files / "no" / "p.html")
    assert (done.returncode, "is not a folder" in done.stderr) == (2, True)
    other = files / "other.csv"
    other.write_text("a,b,c,d\n0,0,0,1\n1,1,1,0\n", encoding="utf-8")
    done = run("report", files / "result.json", "--data", other, "-o", files / "p.html")
    assert (done.returncode, "not those that the network" in done.stderr) == (1, True)


def test_pages_need_no_package_until_they_are_made() -> None:
    code = (
        "import sys, twbn; heavy = {'jinja2', 'igraph', 'matplotlib'} & set(sys.modules); "
        "sys.exit(f'{heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
