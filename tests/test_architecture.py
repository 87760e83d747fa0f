"""The layers of the package and who may import whom."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "twbn"

GROUND = {
    "errors",
    "interrupts",
    "numerals",
    "views",
    "checks",
    "deadline",
    "files",
    "frame_out",
    "progress_bar",
}
BELOW_LEARNING = GROUND | {
    "cluster", "data", "graphs", "solvers", "scores", "search", "network", "inference", "_core",
}  # fmt: skip
MAY_IMPORT = {
    "errors": set[str](),
    "interrupts": set[str](),
    "numerals": set[str](),
    "views": set[str](),
    "checks": {"errors"},
    "deadline": {"interrupts"},
    "files": {"errors"},
    "frame_out": {"errors"},
    "progress_bar": set[str](),
    "cluster": set[str](),
    "data": GROUND,
    "solvers": GROUND | {"_core"},
    "graphs": GROUND | {"solvers", "_core"},
    "scores": GROUND | {"cluster", "data", "_core"},
    "search": GROUND | {"cluster", "graphs", "solvers", "scores", "_core"},
    "network": GROUND | {"data", "graphs"},
    "inference": GROUND | {"data", "graphs", "network", "_core"},
    "learning": BELOW_LEARNING,
    "report": BELOW_LEARNING | {"learning"},
    "reproduce": BELOW_LEARNING | {"learning", "report"},
    "cli": BELOW_LEARNING | {"learning", "report", "reproduce"},
}
# What only some modules may import, heavy or replaceable as it is.
ONE_MODULE_EACH = ("highspy", "pyscipopt", "pysat", "gurobipy", "cplex", "ortools")
MODULES = sorted(PACKAGE.rglob("*.py"))


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Return the dotted names that a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_module_imports_only_the_layers_below_it(path: Path) -> None:
    layer = layer_of(path)
    if layer in {"__init__", "__main__"}:
        return
    assert layer in MAY_IMPORT, f"{layer} is no layer of the design"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "twbn" or len(parts) == 1:
            continue
        target = parts[1]
        if target == layer:
            continue
        assert target in MAY_IMPORT[layer], f"{path.name} ({layer}) imports {name}"


@pytest.mark.parametrize("folder", ["benchmarks", "examples"])
def test_what_stands_beside_the_package_uses_its_public_names_only(folder: str) -> None:
    for path in (PACKAGE.parents[1] / folder).glob("*.py"):
        names = {name for name in imports(path) if name.split(".")[0] == "twbn"}
        assert names <= {"twbn"}, f"{path} imports {names}"


def test_every_solver_has_one_module_that_imports_it() -> None:
    for solver in ONE_MODULE_EACH:
        users = [p for p in MODULES if any(n.split(".")[0] == solver for n in imports(p))]
        assert len(users) <= 1, f"{solver} is imported by {users}"


def test_printing_happens_only_on_the_command_line() -> None:
    for path in MODULES:
        if layer_of(path) == "cli":
            continue
        calls = [
            node.func.id
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        assert "print" not in calls, f"{path} prints"


def test_every_module_names_what_it_offers() -> None:
    for path in MODULES:
        assert "__all__" in path.read_text(encoding="utf-8"), f"{path} has no __all__"


def test_the_core_knows_python_in_one_folder_only() -> None:
    for path in (PACKAGE.parent / "core").rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        knows = "nanobind" in text or "Python.h" in text
        assert not knows or path.parent.name == "python", path.name


def test_importing_twbn_loads_nothing_heavy() -> None:
    heavy = ["pandas", "polars", "pyarrow", "sklearn", "scipy", "highspy", "typer", "rich"]
    code = f"import sys, twbn; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_wide_instructions_are_asked_for_only_where_they_exist() -> None:
    # The core is compiled on arm64 and by other compilers, too.
    for path in (PACKAGE.parent / "core").rglob("*.*"):
        conditions: list[str] = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            words = line.split()
            if words and words[0] in {"#if", "#ifdef", "#ifndef"}:
                conditions.append(line)
            elif words and words[0] in {"#else", "#elif"}:
                conditions[-1] = line
            elif words and words[0] == "#endif":
                conditions.pop()
            elif "target_clones" in line or "__attribute__((target" in line:
                assert any("__x86_64__" in c for c in conditions), f"{path.name}:{number}"
