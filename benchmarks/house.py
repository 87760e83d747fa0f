"""Figures about the code itself: lengths of modules and functions, parameters, ``# fmt: skip``.

python benchmarks/house.py
"""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

SRC = Path(__file__).parents[1] / "src"
MAX_MODULE, MAX_CORE, MAX_FUNCTION, MAX_PARAMETERS = 350, 400, 60, 8


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def length(function: ast.FunctionDef) -> int:
    """Return the lines of a function without its docstring."""
    lines = (function.end_lineno or 0) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


def n_parameters(function: ast.FunctionDef) -> int:
    arguments = function.args
    given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return len([a for a in given if a.arg not in {"self", "cls"}]) + len(extra)


def main() -> None:
    modules = {path: path.read_text(encoding="utf-8") for path in sorted(SRC.rglob("twbn/**/*.py"))}
    sizes = {path: text.count("\n") for path, text in modules.items()}
    print(f"{len(sizes)} Python modules, median {statistics.median(sizes.values()):.0f} lines")
    for path, size in sizes.items():
        if size > MAX_MODULE:
            print(f"  {path.relative_to(SRC)}: {size} lines")
    core = {path: path.read_text(encoding="utf-8").count("\n") for path in SRC.glob("core/*/*")}
    print(f"{len(core)} C++ files, longest {max(core.values())} lines")
    for path, size in core.items():
        if size > MAX_CORE:
            print(f"  {path.relative_to(SRC)}: {size} lines")
    skips = 0
    for path, text in modules.items():
        skips += text.count("# fmt: skip")
        for function in functions(ast.parse(text)):
            where = f"  {path.relative_to(SRC)}:{function.lineno} {function.name}"
            if length(function) > MAX_FUNCTION:
                print(f"{where}: {length(function)} lines")
            if n_parameters(function) > MAX_PARAMETERS:
                print(f"{where}: {n_parameters(function)} parameters")
    print(f"{skips} times # fmt: skip")


if __name__ == "__main__":
    main()
