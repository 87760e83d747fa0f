"""The typed stub of the compiled core says what the module has: names, parameters, simple types."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import twbn
from twbn import _core

STUB = ast.parse((Path(twbn.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
#: Types that both sides spell alike.
PLAIN = {"int", "float", "bool", "str", "None"}

Parameters = list[tuple[str, str]]


def of_stub(function: ast.FunctionDef) -> tuple[Parameters, str]:
    """Return names and types of the parameters, and the type of what is returned."""
    types = [(a.arg, ast.unparse(a.annotation) if a.annotation else "") for a in function.args.args]
    assert function.returns is not None
    return types, ast.unparse(function.returns)


def of_module(function: Any) -> tuple[Parameters, str]:
    ((signature, *_),) = function.__nb_signature__
    inside, returned = re.fullmatch(r"def \w*\((.*)\) -> (.*)", signature).groups()  # type: ignore[union-attr]
    bare = inside
    while re.search(r"\[[^\[\]]*\]", bare):  # commas inside brackets separate no parameters
        bare = re.sub(r"\[[^\[\]]*\]", "", bare)
    pairs = (part.partition(":") for part in bare.split(",") if part.strip())
    return [(name.strip(), kind.strip()) for name, _, kind in pairs], returned.strip()


def assert_same(name: str, declared: ast.FunctionDef, compiled: Any) -> None:
    ours, our_return = of_stub(declared)
    theirs, their_return = of_module(compiled)
    assert [p for p, _ in ours] == [p for p, _ in theirs], name
    for (parameter, kind), (_, real) in zip(ours, theirs, strict=True):
        for plain in PLAIN & {kind, real}:
            assert kind == real == plain, f"{name}({parameter}: {kind}), compiled {real}"
        assert kind.endswith("| None") == real.endswith("| None"), f"{name}({parameter})"
    if their_return in PLAIN:
        assert our_return == their_return, name


def test_the_stub_has_the_names_of_the_module() -> None:
    declared = set()
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            declared.add(node.name)
        elif isinstance(node, ast.ClassDef):
            if not any(isinstance(b, ast.Name) and b.id == "TypedDict" for b in node.bases):
                declared.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            declared.add(node.target.id)
    assert declared == {name for name in dir(_core) if not name.startswith("_")}


def test_functions_and_methods_have_the_parameters_of_the_module() -> None:
    n_checked = 0
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            assert_same(node.name, node, getattr(_core, node.name))
            n_checked += 1
        if not isinstance(node, ast.ClassDef) or not hasattr(_core, node.name):
            continue
        compiled = getattr(_core, node.name)
        methods = {m.name: m for m in node.body if isinstance(m, ast.FunctionDef)}
        public = {name for name in vars(compiled) if not name.startswith("_")}
        assert public == {name for name in methods if name != "__init__"}, node.name
        for name, method in methods.items():
            member = getattr(compiled, name)
            assert isinstance(member, property) == bool(method.decorator_list), name
            whole = f"{node.name}.{name}"
            assert_same(whole, method, member.fget if isinstance(member, property) else member)
            n_checked += 1
    assert n_checked > 30
