"""The page of a network in a real browser: it answers as `twbn query` does, and nothing breaks."""

from __future__ import annotations

import csv
import itertools
import json
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from browser import chromium, opened
from conftest import shared_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTILE = (
    "<script>alert(1)</script>", "\"quotes\" 'and' &amp; `ticks`", "Ünïcödé 漢字 🎲 \u202eright",
    "x" * 200, "</script><img src=x onerror=alert(2)>", " a = b ", "{{ 7 * 7 }} ${8}", "end",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


def hostile_network() -> twbn.Network:
    rng = np.random.default_rng(4)
    states = ["<b>no</b>", 'y"es', "ß" * 150]
    return twbn.Network.from_tables(
        dict.fromkeys(HOSTILE, states),
        {name: list(HOSTILE[max(0, i - 2) : i]) for i, name in enumerate(HOSTILE)},
        {name: rng.dirichlet([1, 1, 1], [3] * min(i, 2)) for i, name in enumerate(HOSTILE)},
    )


def learned_network() -> twbn.Network:
    table = twbn.datasets.load("wdbc")
    return twbn.fit(twbn.learn(table, treewidth=4, max_iterations=100_000), table)


def repository_network(name: str) -> twbn.Network:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return twbn.read_network(shared_path(f"bif/{name}.bif"))


def network_named(name: str) -> twbn.Network:
    if name == "hostile":
        return hostile_network()
    return learned_network() if name == "learned" else repository_network(name)


def shown(page: Any, network: twbn.Network) -> list[list[float]]:
    """Return the probabilities that the page shows, to the last digit."""
    texts = page.eval_on_selector_all(".state", "buttons => buttons.map(b => b.dataset.p)")
    rest = iter(map(float, texts))
    return [[next(rest) for _ in states] for states in network.states]


def asked(path: Path, network: twbn.Network, evidence: dict[str, Any]) -> list[list[float]]:
    """Return the same from the command line."""
    arguments = [sys.executable, "-m", "twbn", "query", str(path), "--json"]
    arguments += itertools.chain.from_iterable(("-q", name) for name in network.names)
    arguments += itertools.chain.from_iterable(("-e", f"{n}={s}") for n, s in evidence.items())
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    return [list(answer.values()) for answer in json.loads(done.stdout).values()]


def click(page: Any, v: int, s: int) -> None:
    page.locator(f'.state[data-v="{v}"][data-s="{s}"]').click()


def hover(page: Any, v: int) -> None:
    """Rest the pointer on a variable until its table is shown."""
    page.locator(f'#network .node[data-v="{v}"]').hover()
    page.locator(f'#tip[data-v="{v}"]:not([hidden])').wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["learned", "alarm", "hailfinder"])
def test_posteriors_in_the_page_equal_those_of_the_query_command(
    name: str, browser: Any, tmp_path: Path
) -> None:
    network = network_named(name)
    path, model = tmp_path / "page.html", tmp_path / "net.json"
    twbn.write_network(network, model)
    twbn.write_report(network, path)
    rng = np.random.default_rng(7)
    with opened(browser, path) as watched:
        page = watched.page
        for n_known in (1, 3, 8):
            evidence: dict[str, Any] = {}
            for v in rng.permutation(network.n_variables)[:n_known].tolist():
                # A state that is possible, and not always the likeliest.
                posterior = np.array(shown(page, network)[v])
                s = int(rng.choice(np.flatnonzero(posterior > 1e-6)))
                click(page, v, s)
                evidence[network.names[v]] = network.states[v][s]
            expected = asked(model, network, evidence)
            for mine, theirs in zip(shown(page, network), expected, strict=True):
                assert mine == pytest.approx(theirs, abs=1e-9)
            engine = twbn.Inference(network)
            log = float(page.locator("#evidence").get_attribute("data-log"))
            assert log == pytest.approx(engine.log_evidence(evidence), abs=1e-9)
            page.get_by_role("button", name="Clear evidence").click()
        assert page.locator("#evidence").inner_text() == "No evidence yet."


@pytest.mark.parametrize("name", ["learned", "alarm", "hailfinder", "hostile"])
def test_the_most_probable_explanation_is_one_click_away(
    name: str, browser: Any, tmp_path: Path
) -> None:
    network = network_named(name)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    engine = twbn.Inference(network)
    with opened(browser, path) as watched:
        page = watched.page
        page.get_by_role("button", name="Most probable explanation").click()
        for evidence_of in ((), (0,), (0, network.n_variables - 1)):
            evidence = {}
            for v in evidence_of:
                s = int(np.argmax(shown(page, network)[v]))
                if page.locator(f'.state[data-v="{v}"][data-s="{s}"][aria-pressed="true"]').count():
                    continue
                click(page, v, s)
            for v in evidence_of:
                pressed = page.locator(f'.state[data-v="{v}"][aria-pressed="true"]')
                s = int(pressed.get_attribute("data-s"))
                evidence[network.names[v]] = network.states[v][s]
            best = page.eval_on_selector_all(".state.best", "found => found.map(b => +b.dataset.s)")
            states = {n: network.states[v][s] for v, (n, s) in enumerate(
                zip(network.names, best, strict=True))}  # fmt: skip
            assert evidence.items() <= states.items()
            wanted = engine.log_evidence(engine.most_probable(evidence))
            assert engine.log_evidence(states) == pytest.approx(wanted, abs=1e-9)
            told = float(page.locator("#explanation").get_attribute("data-log"))
            assert told == pytest.approx(wanted, abs=1e-9)


def test_hostile_names_neither_run_nor_break_anything(browser: Any, tmp_path: Path) -> None:
    network = hostile_network()
    path = tmp_path / "page.html"
    twbn.write_report(network, path, title="<script>alert(0)</script>")
    engine = twbn.Inference(network)
    with opened(browser, path) as watched:
        page = watched.page
        assert page.locator("h1").inner_text() == "<script>alert(0)</script>"
        assert page.title() == "<script>alert(0)</script>"
        headings = page.locator(".card h3").all_inner_texts()
        assert [" ".join(h.split()) for h in headings] == [" ".join(n.split()) for n in HOSTILE]
        assert page.locator("img, iframe").count() == 0
        for v in range(len(HOSTILE)):
            hover(page, v)
            assert page.locator("#tip h3").inner_text().split() == HOSTILE[v].split()
        click(page, 3, 2)
        click(page, 5, 0)
        evidence = {HOSTILE[3]: "ß" * 150, HOSTILE[5]: "<b>no</b>"}
        marginals = engine.marginals(evidence)
        for name, mine in zip(HOSTILE, shown(page, network), strict=True):
            assert mine == pytest.approx(list(marginals[name].to_dict().values()), abs=1e-9)
        page.fill("#search", "<SCRIPT>")
        assert page.locator(".card:visible").count() == 1


def overlapping_labels(page: Any, drawing: str) -> list[str]:
    """Return the labels of a drawing that leave their box, and the boxes that overlap."""
    found: list[str] = page.evaluate(
        """drawing => {
          const wrong = [];
          const boxes = [...document.querySelectorAll(`#${drawing} .node`)].map(node => {
            const box = node.querySelector("rect").getBBox();
            for (const text of node.querySelectorAll("text")) {
              if (!text.getClientRects().length) continue;  // hidden
              const at = text.getBBox();
              if (at.x < box.x || at.x + at.width > box.x + box.width ||
                  at.y < box.y || at.y + at.height > box.y + box.height + 1)
                wrong.push(`${text.textContent} leaves its box`);
            }
            return [node.getAttribute("aria-label"), box];
          });
          boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
            if (p.x < q.x + q.width && q.x < p.x + p.width &&
                p.y < q.y + q.height && q.y < p.y + p.height) wrong.push(`${a} over ${b}`);
          }));
          return wrong;
        }""",
        drawing,
    )
    return found


def random_network(n: int, seed: int = 0) -> twbn.Network:
    rng = np.random.default_rng(seed)
    names = [f"variable {i} {'with a long name' if i % 7 == 0 else ''}" for i in range(n)]
    parents = {
        name: [names[p] for p in sorted(rng.choice(range(max(0, i - 12), i), min(i, 2), False))]
        for i, name in enumerate(names)
    }
    return twbn.Network.from_tables(
        {name: ["no", "yes"] for name in names},
        parents,
        {name: rng.dirichlet([1, 1], [2] * len(parents[name])) for name in names},
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("n", [8, 37, 200])
def test_no_labels_overlap(n: int, scheme: str, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    twbn.write_report(random_network(n), path)
    with opened(browser, path, scheme=scheme) as watched:
        assert overlapping_labels(watched.page, "network") == []
        assert overlapping_labels(watched.page, "proof") == []
        assert watched.page.locator("#network .node").count() == n
        background = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (background == "rgb(255, 255, 255)") == (scheme == "light")


def test_hostile_labels_stay_in_their_boxes(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    twbn.write_report(hostile_network(), path)
    with opened(browser, path) as watched:
        assert overlapping_labels(watched.page, "network") == []


def test_evidence_of_probability_zero_is_said_and_taken_back(browser: Any, tmp_path: Path) -> None:
    network = twbn.Network.from_tables(
        {"rain": ["no", "yes"], "wet": ["no", "yes"]},
        {"rain": [], "wet": ["rain"]},
        {"rain": [0.5, 0.5], "wet": [[1.0, 0.0], [0.0, 1.0]]},
    )
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        click(page, 0, 0)
        click(page, 1, 1)
        assert "has probability zero" in page.locator("#evidence").inner_text()
        click(page, 1, 1)  # the same state again: no longer known
        assert shown(page, network) == [[1.0, 0.0], [1.0, 0.0]]


def test_everything_can_be_done_by_keyboard(browser: Any, tmp_path: Path) -> None:
    network = random_network(8)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        page.locator("#network").focus()
        view = page.locator("#network svg").get_attribute("viewBox")
        page.keyboard.press("ArrowRight")
        moved = page.locator("#network svg").get_attribute("viewBox")
        assert moved != view
        page.keyboard.press("+")
        assert page.locator("#network svg").get_attribute("viewBox") != moved
        page.keyboard.press("0")
        page.keyboard.press("Tab")  # the first variable
        assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith(
            network.names[0].strip()
        )
        assert page.locator("#tip").is_visible()
        page.keyboard.press("Escape")
        assert not page.locator("#tip").is_visible()
        page.keyboard.press("Enter")
        assert page.locator('.card[data-v="0"]').get_attribute("class") == "card chosen"
        page.locator('.state[data-v="0"][data-s="1"]').focus()
        page.keyboard.press("Space")
        button = page.locator('.state[data-v="0"][data-s="1"]')
        assert button.get_attribute("aria-pressed") == "true"
        assert button.get_attribute("aria-label").endswith("is yes: 100.00 %, known")


def test_what_is_focused_or_chosen_comes_into_view(browser: Any, tmp_path: Path) -> None:
    network = random_network(200)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page

        def is_in_view(v: int) -> bool:
            frame = page.locator("#network").bounding_box()
            box = page.locator(f'#network .node[data-v="{v}"]').bounding_box()
            inside = (
                frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]
            )
            return bool(inside and frame["x"] <= box["x"] <= frame["x"] + frame["width"])

        for _ in range(8):
            page.get_by_role("button", name="Zoom in").click()
        assert not is_in_view(199)
        page.locator('.card[data-v="199"] .find').click()
        assert is_in_view(199)
        assert not is_in_view(0)
        page.locator("#network").focus()
        page.keyboard.press("Tab")
        assert is_in_view(0)


def test_a_drawing_is_dragged_zoomed_and_searched(browser: Any, tmp_path: Path) -> None:
    network = random_network(37)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        drawing = page.locator("#network svg")
        box = page.locator("#network").bounding_box()
        page.get_by_role("button", name="All").click()
        before = [float(x) for x in drawing.get_attribute("viewBox").split()]
        page.mouse.move(box["x"] + 30, box["y"] + 30)
        page.mouse.down()
        page.mouse.move(box["x"] + 130, box["y"] + 60, steps=4)
        page.mouse.up()
        after = [float(x) for x in drawing.get_attribute("viewBox").split()]
        assert after[0] < before[0]
        assert after[2:] == before[2:]
        page.get_by_role("button", name="Zoom in").click()
        assert float(drawing.get_attribute("viewBox").split()[2]) < after[2]
        page.fill("#search", "LONG NAME")
        wanted = sum("long name" in name for name in network.names)
        assert page.locator("#found").inner_text() == f"{wanted} found"
        assert page.locator(".card:visible").count() == wanted
        page.fill("#search", "")
        assert page.locator(".card:visible").count() == 37


def test_zooming_out_of_a_narrow_drawing_makes_it_smaller(browser: Any, tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(40)]
    rng = np.random.default_rng(0)
    chain = twbn.Network.from_tables(
        {name: ["no", "yes"] for name in names},
        {name: names[max(0, i - 1) : i] for i, name in enumerate(names)},
        {name: rng.dirichlet([1, 1], [2] * min(i, 1)) for i, name in enumerate(names)},
    )
    path = tmp_path / "page.html"
    twbn.write_report(chain, path)
    with opened(browser, path) as watched:
        drawing = watched.page.locator("#network svg")
        widths = [float(drawing.get_attribute("viewBox").split()[2])]
        for name in ("Zoom out", "Zoom in"):
            watched.page.get_by_role("button", name=name).click()
            widths.append(float(drawing.get_attribute("viewBox").split()[2]))
        assert widths[1] > widths[0]
        assert widths[2] == pytest.approx(widths[0], rel=0.01)


def test_evidence_too_improbable_for_a_number_is_still_told(browser: Any, tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(60)]
    network = twbn.Network.from_tables(
        {name: ["rare", "common"] for name in names},
        {name: [] for name in names},
        {name: [1e-12, 1 - 1e-12] for name in names},
    )
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        watched.page.evaluate(
            "document.querySelectorAll('.state[data-s=\"0\"]').forEach(b => b.click())"
        )
        told = watched.page.locator("#evidence").inner_text()
        assert told.startswith("Probability of the evidence: about 10 to the power of -720.")


def test_hovering_shows_the_conditional_table(browser: Any, tmp_path: Path) -> None:
    network = random_network(8)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        for v in range(8):
            hover(page, v)
            cells = [float(t) for t in page.locator("#tip td").all_inner_texts()]
            assert cells == pytest.approx(network.tables[v].ravel().tolist(), abs=5e-5)


def test_it_prints_without_its_tools(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    twbn.write_report(random_network(8), path)
    with opened(browser, path) as watched:
        watched.page.emulate_media(media="print")
        assert not watched.page.locator("#search").is_visible()
        assert not watched.page.locator("#mpe").is_visible()
        assert watched.page.locator("#network svg").is_visible()
        assert overlapping_labels(watched.page, "network") == []
        n_pages = len(re.findall(rb"/Type\s*/Page\b", watched.page.pdf()))
        assert 1 <= n_pages <= 4


def test_it_is_readable_without_scripts(browser: Any, tmp_path: Path) -> None:
    network = random_network(8)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    assert page.locator("#network svg").is_visible()
    marginals = twbn.Inference(network).marginals()
    first = 100 * marginals[network.names[0]]["no"]
    assert page.locator(".p").first.inner_text() == f"{first:.2f} %"
    context.close()


def view_of(page: Any) -> list[float]:
    return [float(x) for x in page.locator("#network svg").get_attribute("viewBox").split()]


def set_mode(page: Any, mode: str) -> None:
    page.locator(f"#mode-{mode}").check()


@pytest.mark.parametrize("name", ["learned", "asia", "alarm", "hostile"])
def test_the_first_view_fits_the_frame(name: str, browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    twbn.write_report(network_named(name), path)
    with opened(browser, path) as watched:
        page = watched.page
        frame = page.locator("#network").bounding_box()
        boxes = [node.bounding_box() for node in page.locator("#network .node").all()]
        assert all(
            frame["x"] <= box["x"]
            and box["x"] + box["width"] <= frame["x"] + frame["width"]
            and frame["y"] <= box["y"]
            and box["y"] + box["height"] <= frame["y"] + frame["height"]
            for box in boxes
        )
        high = max(b["y"] + b["height"] for b in boxes) - min(b["y"] for b in boxes)
        assert high > 0.6 * frame["height"]


def test_a_click_in_the_drawing_is_a_click_on_the_state(browser: Any, tmp_path: Path) -> None:
    network = random_network(8)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    engine = twbn.Inference(network)
    with opened(browser, path) as watched:
        page = watched.page
        page.locator('#network .bar[data-v="7"][data-s="1"]').click()
        wanted = engine.marginals({network.names[7]: "yes"})
        for name, mine in zip(network.names, shown(page, network), strict=True):
            assert mine == pytest.approx(list(wanted[name].to_dict().values()), abs=1e-9)
        told = page.locator('#network .bar[data-v="0"] .number').all_text_contents()
        first = wanted[network.names[0]].to_dict().values()
        assert told == [f"{100 * p:.1f} %" for p in first]
        assert page.locator('#network .node.known[data-v="7"]').count() == 1
        assert page.locator(".node.chosen").count() == 0
        page.locator('#network .bar[data-v="7"][data-s="1"]').click()
        assert page.locator("#evidence").inner_text() == "No evidence yet."


@pytest.mark.parametrize("name", ["asia", "alarm", "learned", "hostile"])
def test_what_is_set_is_answered_as_an_intervention(
    name: str, browser: Any, tmp_path: Path
) -> None:
    network = network_named(name)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    engine = twbn.Inference(network)
    rng = np.random.default_rng(3)
    with opened(browser, path) as watched:
        page = watched.page
        for n_set, n_known in ((1, 0), (1, 1), (2, 2)):
            some = rng.permutation(network.n_variables)[: n_set + n_known].tolist()
            do, evidence = {}, {}
            set_mode(page, "set")
            for v in some[:n_set]:
                s = int(rng.integers(len(network.states[v])))
                click(page, v, s)
                do[network.names[v]] = network.states[v][s]
            set_mode(page, "observe")
            for v in some[n_set:]:
                s = int(np.argmax(shown(page, network)[v]))
                click(page, v, s)
                evidence[network.names[v]] = network.states[v][s]
            for other, mine in zip(network.names, shown(page, network), strict=True):
                if other in do or other in evidence:
                    continue
                wanted = engine.query([other], evidence, do=do).values
                assert mine == pytest.approx(wanted.tolist(), abs=1e-9)
            assert page.locator(".card.set").count() == n_set
            log = float(page.locator("#evidence").get_attribute("data-log"))
            under = engine.under(do).log_evidence(evidence) if evidence else 0.0
            assert log == pytest.approx(under, abs=1e-9)
            assert ("Set: " in page.locator("#evidence").inner_text()) == bool(do)
            page.get_by_role("button", name="Clear evidence").click()


def same(ours: list[list[float]], theirs: list[list[float]]) -> bool:
    """Say whether probabilities are the same but for rounding."""
    flat = itertools.chain.from_iterable
    return list(flat(ours)) == pytest.approx(list(flat(theirs)), abs=1e-12)


def test_steps_are_undone_one_by_one(browser: Any, tmp_path: Path) -> None:
    network = random_network(8)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        seen = [shown(page, network)]
        assert page.locator("#undo").is_disabled()
        click(page, 0, 1)
        seen.append(shown(page, network))
        set_mode(page, "set")
        click(page, 5, 0)
        seen.append(shown(page, network))
        page.get_by_role("button", name="Clear evidence").click()
        assert same(shown(page, network), seen[0])
        page.keyboard.press("Control+z")
        assert same(shown(page, network), seen[2])
        page.locator("#undo").click()
        assert same(shown(page, network), seen[1])
        page.locator("#undo").click()
        assert same(shown(page, network), seen[0])
        assert page.locator("#undo").is_disabled()


def test_the_address_holds_the_evidence(browser: Any, tmp_path: Path) -> None:
    network = hostile_network()
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        click(page, 1, 2)
        click(page, 6, 0)
        set_mode(page, "set")
        click(page, 3, 1)
        wanted, address = shown(page, network), page.url
        assert "#" in address
        click(page, 3, 1)
        page.get_by_role("button", name="Clear evidence").click()
        assert page.url.split("#")[-1] == ""
        page.evaluate("address => { location.hash = address; }", address.split("#")[1])
        page.wait_for_function("document.querySelectorAll('.card.known').length === 2")
        assert shown(page, network) == wanted
        assert page.locator(".card.set").count() == 1
        page.evaluate("location.hash = 'e:nobody=here&do:end'")
        page.wait_for_function("document.querySelectorAll('.card.known').length === 0")
        assert "nobody = here" in page.locator("#evidence").inner_text()


def test_tables_and_pictures_are_saved(browser: Any, tmp_path: Path) -> None:
    network = hostile_network()
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        click(page, 7, 1)
        posteriors = shown(page, network)
        with page.expect_download() as coming:
            page.get_by_role("button", name="Save as CSV").click()
        with coming.value.path().open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert rows[0] == ["variable", "state", "prior", "posterior", "role"]
        assert [row[0] for row in rows[1:]] == [n for n in HOSTILE for _ in range(3)]
        assert [float(row[3]) for row in rows[1:]] == [p for ps in posteriors for p in ps]
        assert [row[4] for row in rows[1:]].count("observed") == 1
        with page.expect_download() as coming:
            page.locator("#save-picture").click()
        picture = ET.parse(coming.value.path()).getroot()
        assert picture.tag.endswith("svg")
        assert len(picture.findall("{http://www.w3.org/2000/svg}g")) == len(HOSTILE)


@pytest.mark.slow
def test_many_clicks_at_one_spot_hit_one_state(browser: Any, tmp_path: Path) -> None:
    network = repository_network("alarm")
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        rng = np.random.default_rng(0)
        frame = page.locator("#cards").bounding_box()
        hit: dict[tuple[float, float], str] = {}
        spots = [
            (frame["x"] + 60 + 200 * rng.random(), frame["y"] + 20 + 400 * rng.random())
            for _ in range(20)
        ]
        find = """([x, y]) => {
          const at = document.elementFromPoint(x, y).closest(".state");
          return at ? `${at.dataset.v} ${at.dataset.s}` : "";
        }"""
        for i in range(300):
            spot = spots[int(rng.integers(len(spots)))]
            state = page.evaluate(find, list(spot))
            assert hit.setdefault(spot, state) == state
            page.mouse.click(*spot)
            if i % 40 == 39:
                page.locator("#mpe").evaluate("button => button.click()")
        assert len(set(hit.values())) > 5


def test_cards_are_ordered_when_asked_to(browser: Any, tmp_path: Path) -> None:
    network = random_network(12)
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    engine = twbn.Inference(network)
    with opened(browser, path) as watched:
        page = watched.page
        click(page, 6, 1)
        order = "cards => cards.map(card => +card.dataset.v)"
        assert page.eval_on_selector_all(".card", order) == list(range(12))
        page.get_by_role("button", name="by change").click()
        found = page.eval_on_selector_all(".card", order)
        before, after = engine.marginals(), engine.marginals({network.names[6]: "yes"})
        moved = [abs(before[n].values - after[n].values).sum() for n in network.names]
        assert [moved[v] for v in found] == pytest.approx(sorted(moved, reverse=True), abs=1e-9)
        page.get_by_role("button", name="by name").click()
        page.get_by_role("button", name="as given").click()
        assert page.eval_on_selector_all(".card", order) == list(range(12))
        changed = [v for v in range(12) if v != 6 and moved[v] / 2 > 0.01]
        marked = page.eval_on_selector_all(".card.changed", order)
        assert sorted(marked) == changed


def test_influence_colours_the_drawing(browser: Any, tmp_path: Path) -> None:
    network = repository_network("asia")
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    engine = twbn.Inference(network)
    with opened(browser, path) as watched:
        page = watched.page
        click(page, network.index("smoke"), 0)
        v = network.index("dysp")
        page.locator(f'#network .node[data-v="{v}"] .name').click()
        page.get_by_role("button", name="Colour by influence").click()
        wanted = engine.influence("dysp", {"smoke": "yes"}).information
        for name, nats in wanted.items():
            told = page.locator(f'#network .node[data-v="{network.index(name)}"]')
            assert told.get_attribute("data-nats") == f"tells {nats:.4f} nats about dysp"
        assert "about dysp" in page.locator("#legend").inner_text()
        page.get_by_role("button", name="Colour by influence", pressed=True).click()
        assert page.locator(".node.tinted").count() == 0


def test_bars_give_way_to_names_when_zoomed_out(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    twbn.write_report(random_network(8), path)
    with opened(browser, path) as watched:
        page = watched.page
        assert page.locator("#network .bar").first.is_visible()
        for _ in range(4):
            page.get_by_role("button", name="Zoom out").click()
        assert not page.locator("#network .bar").first.is_visible()
        assert overlapping_labels(page, "network") == []
        size = page.locator("#network .name").nth(1).evaluate("t => getComputedStyle(t).fontSize")
        assert float(size.removesuffix("px")) > 13
        page.get_by_role("button", name="All").click()
        assert page.locator("#network .bar").first.is_visible()


def test_arcs_show_what_is_compelled_and_what_is_certain(browser: Any, tmp_path: Path) -> None:
    network = repository_network("asia")
    rows = network.sample(400, seed=2)
    found = twbn.confidence(rows, treewidth=2, n=10, max_iterations=500)
    path = tmp_path / "page.html"
    twbn.write_report(network, path, confidence=found)
    free = network.dag.cpdag().undirected
    with opened(browser, path) as watched:
        drawn = watched.page.locator("#network path[data-tail]").all()
        assert len(drawn) == len(network.dag.arcs)
        for arc in drawn:
            u, v = int(arc.get_attribute("data-tail")), int(arc.get_attribute("data-head"))
            dashed = arc.get_attribute("class") == "reversible"
            assert dashed == ((min(u, v), max(u, v)) in free)
            share = found.of(network.names[u], network.names[v])
            assert float(arc.get_attribute("data-weight") or 1) == pytest.approx(share, abs=1e-3)
    with pytest.raises(twbn.TwbnError, match="other variables"):
        twbn.write_report(random_network(3), path, confidence=found)


def test_choosing_a_variable_does_not_move_the_page(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    twbn.write_report(repository_network("alarm"), path)
    with opened(browser, path) as watched:
        page = watched.page
        page.set_viewport_size({"width": 400, "height": 800})
        names = page.locator("#network .node").all()
        page.evaluate("window.scrollTo(0, document.getElementById('network').offsetTop - 20)")
        before = page.evaluate("scrollY")
        for node in (names[3], names[30]):
            node.locator(".name").first.dispatch_event("click")
            assert page.evaluate("scrollY") == before
        card = page.locator('.card[data-v="30"]').bounding_box()
        frame = page.locator("#cards").bounding_box()
        assert frame["y"] - 1 <= card["y"] <= frame["y"] + frame["height"]


def test_the_saved_picture_is_whole_wherever_the_view_is(browser: Any, tmp_path: Path) -> None:
    network = repository_network("alarm")  # whose bars are too small for the first view
    path = tmp_path / "page.html"
    twbn.write_report(network, path)
    with opened(browser, path) as watched:
        page = watched.page
        assert not page.locator("#network .bar").first.is_visible()
        before = page.locator("#network svg").first.evaluate("svg => svg.outerHTML")
        sizes = []
        for _ in range(2):
            with page.expect_download() as coming:
                page.locator("#save-picture").click()
            picture = ET.parse(coming.value.path()).getroot()
            assert "far" not in picture.get("class", "").split()
            sizes.append(picture.get("viewBox"))
            page.get_by_role("button", name="Zoom in").click()
        assert sizes[0] == sizes[1]
        page.get_by_role("button", name="All").click()
        assert page.locator("#network svg").first.evaluate("svg => svg.outerHTML") == before


@pytest.mark.slow
def test_every_frame_of_a_drag_shows_another_view(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    twbn.write_report(repository_network("andes"), path)
    with opened(browser, path) as watched:
        page = watched.page
        moved = page.evaluate(
            """async () => {
              const canvas = document.getElementById("network");
              const svg = canvas.querySelector("svg");
              const views = new Set();
              const at = canvas.getBoundingClientRect();
              const send = (kind, x) => canvas.dispatchEvent(new PointerEvent(kind,
                { clientX: x, clientY: at.top + 50, button: 0, isPrimary: true, bubbles: true }));
              send("pointerdown", at.left + 50);
              for (let i = 0; i < 30; i++) {
                send("pointermove", at.left + 60 + 4 * i);
                await new Promise(requestAnimationFrame);
                views.add(svg.getAttribute("viewBox"));
              }
              send("pointerup", at.left + 200);
              return views.size;
            }"""
        )
        assert moved >= 29
