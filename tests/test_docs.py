"""What the documentation shows works: every code block is run, every link leads somewhere."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    + [page for page in DOCS.rglob("*.md") if "generated" not in page.parts]
)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    code: str


def blocks(path: Path) -> Iterator[Block]:
    text = path.read_text(encoding="utf-8")
    for language, code in re.findall(r"^```(\S*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(language, code)


def is_setup(block: Block) -> bool:
    """Whether a block sets up the machine rather than using the library."""
    first = {line.split()[0] for line in block.code.splitlines() if line.strip()}
    return block.language == "sh" and first <= {"make", "pip"}


def script_of(path: Path) -> str:
    """Return the blocks of a page, in their order, as one program."""
    lines = ["import subprocess as _subprocess"]
    for block in blocks(path):
        if block.language == "python":
            lines.append(block.code)
        elif block.language == "sh" and not is_setup(block):
            command = ["bash", "-euo", "pipefail", "-c", block.code]
            lines.append(f"_subprocess.run({command!r}, check=True)")
    return "\n".join(lines)


def runnable(path: Path) -> bool:
    return any(b.language in {"python", "sh"} and not is_setup(b) for b in blocks(path))


def prepare(folder: Path) -> None:
    """Write the files that README calls the reader's own."""
    rng = np.random.default_rng(0)
    names = ["smoker", "income", "age", "exercise", "health"]
    states = [["no", "yes"], ["low", "high"], ["young", "old"], ["no", "yes"], ["bad", "good"]]
    rows = []
    for _ in range(200):
        codes = [int(rng.integers(0, 2))]
        while len(codes) < 5:
            codes.append(codes[-1] if rng.random() < 0.7 else int(rng.integers(0, 2)))
        rows.append([s[c] for s, c in zip(states, codes, strict=True)])

    def text_of(some: list[list[str]]) -> str:
        return "\n".join(",".join(row) for row in [names, *some]) + "\n"

    (folder / "data.csv").write_text(text_of(rows), encoding="utf-8")
    gaps = [[cell if rng.random() < 0.8 else "" for cell in row] for row in rows[:20]]
    (folder / "new.csv").write_text(text_of(gaps), encoding="utf-8")
    (folder / "more.csv").write_text(text_of(rows[:20]), encoding="utf-8")
    (folder / "graph.gr").write_text("p tw 4 4\n1 2\n2 3\n3 4\n4 1\n", encoding="utf-8")


def run_program(program: Path, folder: Path) -> None:
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False, cwd=folder,
        env={**os.environ, "PATH": search, "MPLBACKEND": "Agg"},
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [p for p in PAGES if runnable(p)],
    ids=lambda p: str(p.relative_to(ROOT)).replace("/", "-"),
)
def test_every_block_of_a_page_runs(path: Path, tmp_path: Path) -> None:
    prepare(tmp_path)
    program = tmp_path / "page.py"
    program.write_text(script_of(path), encoding="utf-8")
    run_program(program, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_every_example_runs(path: Path, tmp_path: Path) -> None:
    run_program(path, tmp_path)


def test_the_method_of_the_guide_keeps_to_the_contract() -> None:
    import twbn

    (page,) = [b.code for b in blocks(DOCS / "extending.md") if b.language == "python"]
    definitions = page.partition("table = ")[0]
    names: dict[str, Any] = {}
    exec(compile(definitions, "extending.md", "exec"), names)
    climb = names["climb"]
    rng = np.random.default_rng(0)
    table = twbn.Table.from_codes(rng.integers(0, 2, (80, 6)))
    scores = twbn.compute_scores(table, score="loglik", required=[("x3", "x1")])
    result = climb(scores, treewidth=2, max_iterations=300, seed=1)
    assert result.n_iterations <= 300
    assert "x3" in result.parents["x1"]
    assert climb(scores, treewidth=2, max_iterations=300, seed=1).dag == result.dag
    better = climb(scores, treewidth=2, max_iterations=50, seed=2, start=result)
    assert better.score >= result.score
    one = twbn.ScoreTable.from_sets(["a"], [{(): -3.0}])
    assert climb(one, treewidth=1, max_iterations=5).status == "optimal"


def test_there_are_examples_and_a_readme_that_is_run() -> None:
    assert len(EXAMPLES) >= 3
    assert runnable(ROOT / "README.md")


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_every_block_says_its_language_and_what_is_not_run_is_no_code(path: Path) -> None:
    for block in blocks(path):
        known = {"python", "sh", "text", "{toctree}", "{eval-rst}"}
        assert block.language in known, f"{block.language!r} in {path}"
        if block.language == "text":
            assert not re.search(r"^(twbn|make|pip|import|from) ", block.code, re.MULTILINE)


def test_what_sets_up_the_machine_names_targets_and_extras_that_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    seen = 0
    for path in PAGES:
        for block in filter(is_setup, blocks(path)):
            for target in re.findall(r"^make ([\w-]+)", block.code, re.MULTILINE):
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
                seen += 1
            for extras in re.findall(r"^pip install '?\.\[([\w,]+)\]", block.code, re.MULTILINE):
                assert set(extras.split(",")) <= set(project["optional-dependencies"])
                seen += 1
    assert seen >= 3


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_linked_and_named_files_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    drawn = runpy.run_path(str(DOCS / "pictures.py"))["PICTURES"] if path.parent != ROOT else {}
    for target in re.findall(r"\]\(([^)#\s]+)\)", text):
        if "pictures/" in target:  # drawn when the documentation is built
            assert Path(target).stem in drawn, target
        else:
            assert (path.parent / target).exists(), target
    for name in re.findall(r"`((?:src|tests|benchmarks|examples)/[\w/.]+\.\w+)`", text):
        assert (ROOT / name).exists(), name


def test_every_page_of_the_documentation_is_in_its_contents() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        if DOCS in page.parents and page.name != "index.md":
            name = str(page.relative_to(DOCS).with_suffix(""))
            assert re.search(rf"^{re.escape(name)}$", index, re.MULTILINE), name


def test_every_public_name_is_in_the_api_page() -> None:
    import twbn

    page = (DOCS / "api.md").read_text(encoding="utf-8")
    for name in set(twbn.__all__) - {
        "METHODS",
        "LocalScores",
        "TwbnError",
        "__version__",
        "datasets",
    }:
        assert re.search(rf"^ +{name}$", page, re.MULTILINE), name


def test_the_makefile_has_every_habit() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "lint", "bench", "reproduce", "docs"):
        assert re.search(rf"^{target}:", text, re.MULTILINE), target
