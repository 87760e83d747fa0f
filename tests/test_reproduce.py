"""The paper rerun: what is run, what is kept, and what the page says."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import twbn
from conftest import shared_path
from twbn.data import datasets
from twbn.errors import FileFormatError, MemoryLimitError, OptionError
from twbn.report.document import Grid, Image, Measured, Section, to_html, to_markdown
from twbn.reproduce import PARTS, SIZES, Cell, plan, reproduce
from twbn.reproduce.published import EMPTY_GRAPH, OTHER_CODING, SAMPLED, SOLVER
from twbn.reproduce.reproduction import write_page
from twbn.reproduce.run import Data, run_cells
from twbn.reproduce.store import Outcome, Store
from twbn.reproduce.tables import NO_DATA, behind_the_paper, duration, score_table


def a_store(folder: Path) -> Store:
    return Store(folder / "results.csv", version="1", command="twbn reproduce")


def test_the_paper_size_has_the_budgets_of_the_paper() -> None:
    cells = plan(["table2", "table3"], SIZES["paper"])
    sampled = [c for c in cells if c.method in {"sample", "sample-exact", "anneal"}]
    assert {c.data for c in cells} == set(datasets.NAMES)
    assert {c.seconds for c in sampled} == {600.0}
    assert {c.seconds for c in cells if c.method == "milp-paper"} == {10_800.0}
    assert {c.seed for c in sampled} == set(range(10))
    assert not [c for c in cells if c.method == "sample-exact" and c.treewidth == 10]


@pytest.mark.parametrize("size", SIZES.values(), ids=lambda s: s.name)
def test_no_cell_is_run_twice(size: object) -> None:
    cells = plan(PARTS, size)  # type: ignore[arg-type]
    assert len({cell.key() for cell in cells}) == len(cells)


def test_a_budget_takes_the_place_of_every_other() -> None:
    cells = plan(PARTS, SIZES["quick"].scaled(2.0))
    assert {c.seconds for c in cells if c.method != "empty"} == {2.0}
    assert {c.iterations for c in cells} == {None}
    with pytest.raises(OptionError, match="positive number of seconds, got 0"):
        SIZES["quick"].scaled(0.0)


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(OptionError, match="unknown part 'table4'; expected one of table1, table2"):
        plan(["table4"], SIZES["quick"])


def test_every_printed_table_has_all_sets() -> None:
    for spreads in SAMPLED.values():
        assert set(spreads) == set(datasets.NAMES)
        assert all(s.worst <= s.median <= s.best for s in spreads.values())
    for solved in SOLVER.values():
        assert set(solved) == set(datasets.NAMES)
    for k, data, when in EMPTY_GRAPH:
        assert SOLVER[k][data][0 if when == "10 min" else 1] is not None


def test_outcomes_come_back_as_they_were(tmp_path: Path) -> None:
    cell = Cell("score", "wdbc", 4, "sample", seed=3, seconds=1.5)
    outcome = Outcome(
        "time_limit", -1.0 / 3, 0.0, 1.25, 17, -0.25, n_entries=12,
        trace=((0.5, -2.0), (1.0, -1.5)), note="commas, \"quotes\"",
    )  # fmt: skip
    a_store(tmp_path).add(cell, outcome)
    again = a_store(tmp_path)
    assert again.get(cell) == outcome
    assert again.get(replace(cell, seed=4)) is None
    assert outcome.at(0.7) == -2.0
    assert outcome.at(0.1) is None


def test_a_line_that_was_cut_off_is_run_again(tmp_path: Path) -> None:
    cells = [Cell("score", "wdbc", 4, "sample", seed=seed) for seed in range(3)]
    store = a_store(tmp_path)
    for cell in cells:
        store.add(cell, Outcome("optimal", -1.0))
    path = tmp_path / "results.csv"
    whole = path.read_bytes()
    for length in range(len(whole) - 1, whole[:-1].rfind(b"\n"), -7):
        path.write_bytes(whole[:length])
        torn = a_store(tmp_path)
        assert [cell in torn for cell in cells] == [True, True, False]
        torn.add(cells[2], Outcome("optimal", -1.0))
        assert cells[2] in a_store(tmp_path)


def test_a_foreign_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("a,b\n1,2\n3,4", encoding="utf-8")
    with pytest.raises(FileFormatError, match="other columns than this version writes"):
        a_store(tmp_path)
    assert path.read_text(encoding="utf-8") == "a,b\n1,2\n3,4"


def test_a_file_killed_within_its_header_is_begun_anew(tmp_path: Path) -> None:
    a_store(tmp_path)
    path = tmp_path / "results.csv"
    header = path.read_bytes()
    for length in (0, 5, len(header) - 1):
        path.write_bytes(header[:length])
        a_store(tmp_path)
        assert path.read_bytes() == header


def test_a_page_is_the_same_from_memory_and_from_the_file(tmp_path: Path) -> None:
    cell = Cell("score", "wdbc", 4, "anneal", iterations=5)
    store = a_store(tmp_path)
    store.add(cell, Outcome("optimal", -1.0, trace=((0.134964321, -1.0),)))
    assert store.get(cell) == a_store(tmp_path).get(cell)


def test_what_does_not_fit_into_memory_is_an_outcome_and_a_mistake_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [Cell("score", "wdbc", 4, "sample", seed=s, iterations=3) for s in range(6)]
    run_cells(cells[:1], store := a_store(tmp_path), Data(tmp_path), n_jobs=2)
    assert store.outcomes[cells[0].key()].status == "iteration_limit"

    def refuse(*_: object, **__: object) -> None:
        msg = "a, b: too large"
        raise MemoryLimitError(msg)

    monkeypatch.setattr("twbn.reproduce.run.learn", refuse)
    run_cells(cells[:2], store, Data(tmp_path), n_jobs=2)
    assert store.outcomes[cells[1].key()] == Outcome("refused", note="a, b: too large")

    def fail(*_: object, **__: object) -> None:
        msg = "no such option"
        raise OptionError(msg)

    monkeypatch.setattr("twbn.reproduce.run.learn", fail)
    with pytest.raises(OptionError, match="no such option"):
        run_cells(cells, store, Data(tmp_path), n_jobs=1)
    assert [cell in store for cell in cells] == [True, True, False, False, False, False]


def test_values_below_the_printed_ones_are_marked_unless_the_coding_differs(tmp_path: Path) -> None:
    size = replace(SIZES["quick"], sets=("wdbc", "adult", "nursery"), seeds=1)
    store = a_store(tmp_path)
    budget = dict(size.iterations)["sample"]
    for data, value in (("wdbc", -7300.0), ("adult", -300_000.0), ("nursery", -72159.2738)):
        store.add(Cell("score", data, 4, "sample", iterations=budget), Outcome("optimal", value))
    rows = score_table(store, size, 4).rows
    assert [row[0] for row in rows] == ["wdbc", "", "adult †", "", "nursery", ""]
    assert rows[0][5] == "−7300.00 ↓"
    assert rows[2][5] == "−300000.00"
    assert rows[4][5] == "−72159.27"
    assert rows[0][2] == NO_DATA
    assert {row[0] for row in behind_the_paper(store, size).rows} == {"wdbc"}
    assert "adult" in OTHER_CODING


def test_durations_are_said_as_a_person_says_them() -> None:
    assert [duration(s) for s in (0.2, 59.6, 600, 10_800)] == ["< 1 s", "60 s", "10 min", "3.0 h"]


def test_a_page_escapes_what_it_shows() -> None:
    grid = Grid(("a|b", "c"), (("<b>", Measured("1 s")),), "x*y")
    sections = [Section("T<script>", ("some [text]", grid, Image("p.svg", 'say "x"')))]
    html = to_html("H & T", sections, version="1")
    assert "<script>" not in html
    assert "&lt;b&gt;" in html
    assert '<td class="measured">1 s</td>' in html
    markdown = to_markdown("H", sections)
    assert "| a\\|b | c |" in markdown
    assert "| \\<b> | 1 s |" in markdown
    assert "some \\[text\\]" in markdown


def test_data_that_are_not_there_are_named_and_the_rest_is_run(tmp_path: Path) -> None:
    size = replace(
        SIZES["quick"], sets=("zoo", "wdbc"), seeds=1, solver_seconds=(0.1, 0.5), bound_seconds=0.5,
        iterations=(("sample", 100), ("sample-exact", 5), ("anneal", 1000)),
        densities=("nltcs",), networks=("alarm",), proof_sets=(),
    )  # fmt: skip
    seen: list[tuple[int, int]] = []
    done = reproduce(
        [], size, data=tmp_path / "nothing", folder=tmp_path / "out", n_jobs=2, version="1",
        command="twbn reproduce", on_done=lambda _, n, of: seen.append((n, of)),
    )  # fmt: skip
    assert set(done.missing) == {"zoo", "nltcs", "alarm"}
    assert seen == [(n, done.n_cells) for n in range(1, done.n_cells + 1)]
    page = done.page.read_text(encoding="utf-8")
    assert "No data for zoo" in page
    for name in ("Table 1", "Table 2", "Table 3", "figure-treewidth-4.svg", "bounds.svg"):
        assert name in page
    for figure in ("figure-treewidth-4", "figure-treewidth-10", "bounds"):
        assert (tmp_path / "out" / f"{figure}.svg").exists()
        assert (tmp_path / "out" / f"{figure}.png").exists()


COMMAND = [sys.executable, "-m", "twbn", "reproduce", "table2", "--size", "quick", "--n-jobs", "1"]


def without_measured(page: str) -> str:
    """Return the part of a page that does not depend on the clock."""
    page = page[: page.index("Where we differ")]
    return re.sub(r'<td class="measured">[^<]*</td>', "<td>?</td>", page)


@pytest.mark.slow
def test_a_run_that_is_killed_and_started_again_gives_the_same_page(tmp_path: Path) -> None:
    # Without other data only wdbc is run, which is enough: 17 cells.
    environment = {**os.environ, "TWBN_SHARED": str(tmp_path / "nothing")}
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*COMMAND, "-o", str(whole)], check=True, env=environment, capture_output=True)
    results = killed / "results.csv"
    process = subprocess.Popen(
        [*COMMAND, "-o", str(killed)], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 120
    while not (results.exists() and results.read_bytes().count(b"\n") > 8):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "index.html").exists()
    kept = results.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    subprocess.run([*COMMAND, "-o", str(killed)], check=True, env=environment, capture_output=True)
    assert results.read_bytes().startswith(kept)
    # What was finished is not run again.
    assert results.read_bytes().count(b"\n") == (whole / "results.csv").read_bytes().count(b"\n")
    pages = [(f / "index.html").read_text(encoding="utf-8") for f in (whole, killed)]
    assert without_measured(pages[0]) == without_measured(pages[1])
    assert "−12313" in pages[0]
    # Once more: nothing is left to run, and the page is the same to the byte.
    subprocess.run([*COMMAND, "-o", str(killed)], check=True, env=environment, capture_output=True)
    assert (killed / "index.html").read_text(encoding="utf-8") == pages[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table7"], "unknown part 'table7'"),
        (["--size", "huge"], "--size must be one of quick, standard, paper, got 'huge'"),
        (["--budget", "-3"], "--budget must be a positive number of seconds, got -3"),
        (["--budget", "nan"], "--budget must be a positive number of seconds, got nan"),
    ],
)
def test_wrong_usage_is_said_clearly(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "twbn", "reproduce", *arguments, "-o", str(tmp_path / "x")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "x").exists()


def test_the_page_in_the_documentation_is_that_of_its_results(tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "docs" / "reproduction"
    (tmp_path / "results.csv").write_bytes((folder / "results.csv").read_bytes())
    store = a_store(tmp_path)
    # Runs may have been added part by part; the command for all parts writes the whole page.
    command = min(store.made_by["command"], key=len)
    size = SIZES[command.rpartition(" ")[2]]
    write_page(store, size, list(PARTS), tmp_path, twbn.__version__, command, {})
    written = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert written == (folder / "page.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_mixtures_are_run_and_told_beside_one_network(tmp_path: Path) -> None:
    shared_path("density/nltcs")
    size = replace(SIZES["quick"], mixture_seconds=8.0)
    store = a_store(tmp_path)
    cells = plan(["mixtures"], size)
    run_cells(cells, store, Data(shared_path("density").parent), n_jobs=1)
    outcome = store.get(cells[0])
    assert outcome is not None
    assert outcome.held_out is not None
    assert -6.2 < outcome.held_out < -5.9
    assert "components" in outcome.note
    write_page(store, size, ["mixtures"], tmp_path, twbn.__version__, "command", {})
    assert "| nltcs |" in (tmp_path / "page.md").read_text(encoding="utf-8")
