"""What notebooks show: a live panel where scripts run, the drawing alone where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from browser import chromium

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def a_network(n: int) -> twbn.Network:
    rng = np.random.default_rng(3)
    names = [f"n{i} </script>" for i in range(n)]
    return twbn.Network.from_tables(
        {name: ["no", "<i>yes</i>"] for name in names},
        {name: names[max(0, i - 1) : i] for i, name in enumerate(names)},
        {name: rng.dirichlet([1, 1], [2] * min(i, 1)) for i, name in enumerate(names)},
    )


def cell(value: Any) -> str:
    html = value._repr_html_()
    assert isinstance(html, str)
    return html


def as_page(path: Path, *cells: str) -> str:
    path.write_text("<!doctype html><meta charset=utf-8>" + "".join(cells), encoding="utf-8")
    return path.as_uri()


def test_a_network_is_a_live_panel(browser: Any, tmp_path: Path) -> None:
    network = a_network(5)
    # Twice the same: elements of one must not be taken for those of the other.
    address = as_page(tmp_path / "cells.html", cell(network), cell(twbn.Inference(network)))
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    assert page.locator("iframe").count() == 2
    for i in (0, 1):
        panel = page.frame_locator("iframe").nth(i)
        panel.locator('.state[data-v="4"][data-s="1"]').click()
        wanted = twbn.Inference(network).marginals({network.names[4]: "<i>yes</i>"})
        found = [float(b.get_attribute("data-p")) for b in panel.locator(".state").all()]
        flat = [p for one in wanted.values() for p in one.values.tolist()]
        assert found == pytest.approx(flat, abs=1e-9)
        assert panel.locator("h1").count() == 0
    assert page.locator("figure > div > svg").count() == 0
    assert complaints == []
    page.close()


def test_without_scripts_the_drawing_is_there(browser: Any, tmp_path: Path) -> None:
    address = as_page(tmp_path / "cells.html", cell(a_network(4)))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator("figure svg .node").count() == 4
    assert page.locator("iframe").count() == 0
    assert "n0" in page.locator("figure svg").inner_html()
    context.close()


def test_large_networks_have_no_panel() -> None:
    assert "<iframe" not in cell(a_network(151))
    assert "srcdoc" not in cell(a_network(151))


def test_posteriors_are_bars() -> None:
    engine = twbn.Inference(a_network(6))
    names = engine.network.names
    html = cell(engine.query([names[0]]))
    p = engine.query([names[0]])["no"]
    assert f"{100 * p:.2f} %" in html
    assert "&lt;i&gt;yes&lt;/i&gt;" in html
    joint = cell(engine.query(list(names)))
    assert joint.count("<tr") == 13  # twelve, and how many more
    assert "52 further states" in joint
    every = cell(twbn.Inference(a_network(30)).marginals())
    assert every.count("<table") == 24
    assert "6 further variables" in every


def test_certain_arcs_are_drawn_wider() -> None:
    rows = a_network(5).sample(300, seed=1)
    found = twbn.confidence(rows, treewidth=1, n=10, max_iterations=300)
    html = cell(found)
    arcs = found.majority().arcs
    assert html.count("data-tail=") == len(arcs) > 0
    assert "n0 &lt;/script&gt;" in html
    assert all(found.of(found.names[u], found.names[v]) > 0.5 for u, v in arcs)
    uncertain = [arc for arc in arcs if found.of(*(found.names[v] for v in arc)) < 1]
    assert html.count("data-weight=") == len(uncertain)
