"""What the documentation shows works."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_python_examples_run(path: Path, tmp_path: Path) -> None:
    for code in blocks(path, "python"):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr


def test_the_readme_has_an_example() -> None:
    assert blocks(ROOT / "README.md", "python")


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_linked_and_named_files_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert (path.parent / target).exists(), target
    for name in re.findall(r"`(src/[\w/.]+)`", text):
        assert (ROOT / name).exists(), name


def test_every_command_of_the_readme_is_a_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = set(re.findall(r"^twbn (\w+)", text, re.MULTILINE))
    assert commands
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", "twbn", command, "--help"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, command


def test_the_makefile_has_every_habit() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "lint", "bench", "reproduce", "docs"):
        assert re.search(rf"^{target}:", text, re.MULTILINE), target
