"""Commands on k-trees and their Dandelion codes."""

from __future__ import annotations

from typing import Annotated

import typer

import twbn
from twbn.cli.console import out, print_json
from twbn.cli.options import AsJson, Seed
from twbn.errors import Option, OptionError
from twbn.graphs.dandelion import DandelionCode, count_ktrees, log10_ktrees, sample_ktree
from twbn.graphs.ktree import KTree

__all__ = ["ktree"]

ktree = typer.Typer(name="ktree", help="k-trees and their Dandelion codes.", no_args_is_help=True)

Size = Annotated[int, typer.Option("--n", help="Number of vertices.")]
Width = Annotated[int, typer.Option("--k", "-k", "--treewidth", help="Treewidth.")]


@ktree.command("sample")
def sample(
    n: Size,
    k: Width,
    count: Annotated[int, typer.Option(help="How many to draw.")] = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Draw k-trees uniformly; labels are 1..n."""
    if count < 1:
        raise OptionError(Option("count"), f" must be at least 1, got {count}")
    trees = [sample_ktree(n, k, seed=seed, index=index) for index in range(count)]
    log10 = log10_ktrees(n, k)
    exactly = count_ktrees(n, k) if log10 < 300 else None  # longer numbers are useless
    if as_json:
        facts = [_facts(tree) for tree in trees]
        print_json({"count": exactly, "log10_count": log10, "ktrees": facts})
        return
    how_many = f"{exactly:,}" if exactly is not None else f"about 10^{log10:.1f}"
    out.print(f"{how_many} {k}-trees on {n} labels")
    for tree in trees:
        _show(tree)


@ktree.command("decode")
def decode(
    n: Size,
    k: Width,
    q: Annotated[str, typer.Option("--q", help="The k labels of Q, such as 2,3,9.")],
    s: Annotated[str, typer.Option("--s", help="The symbols of S, such as 0:e,2:1,8:3.")] = "",
    as_json: AsJson = False,
) -> None:
    """Print the k-tree of a Dandelion code (Q, S); labels are 1..n."""
    labels = _labels(q, "--q")
    if len(labels) != k:
        msg = f"--q must have k = {k} labels, got {len(labels)}"
        raise OptionError(msg)
    tree = DandelionCode(n, tuple(labels), tuple(_symbols(s))).decode()
    if as_json:
        print_json(_facts(tree))
        return
    _show(tree)


@ktree.command("encode")
def encode(
    n: Size,
    k: Width,
    edges: Annotated[str, typer.Option("--edges", help="Edges such as 1-2,1-3,2-3.")],
    as_json: AsJson = False,
) -> None:
    """Print the Dandelion code of a k-tree given by its edges; labels are 1..n."""
    pairs = []
    for text in edges.split(","):
        ends = _labels(text.replace("-", ","), "--edges")
        if len(ends) != 2 or not all(1 <= end <= n for end in ends):
            msg = f"--edges takes pairs of labels between 1 and {n}, got {text!r}"
            raise OptionError(msg)
        pairs.append((ends[0] - 1, ends[1] - 1))
    tree = KTree.from_graph(twbn.Graph.from_edges(n, pairs), k)
    code = DandelionCode.of(tree)
    if as_json:
        print_json({"q": list(code.Q), "s": [_symbol(v, i) for v, i in code.S]})
        return
    out.print(f"--q {','.join(map(str, code.Q))} --s {','.join(_symbol(v, i) for v, i in code.S)}")


def _facts(tree: KTree) -> dict[str, object]:
    return {"edges": [[u + 1, v + 1] for u, v in sorted(tree.graph.edges)]}


def _show(tree: KTree) -> None:
    out.print(" ".join(f"{u + 1}-{v + 1}" for u, v in sorted(tree.graph.edges)))


def _symbol(v: int, i: int) -> str:
    return "0:e" if v == 0 else f"{v}:{i}"


def _labels(text: str, option: str) -> list[int]:
    try:
        return [int(token) for token in text.split(",") if token.strip()]
    except ValueError:
        msg = f"{option} takes numbers, got {text!r}"
        raise OptionError(msg) from None


def _symbols(text: str) -> list[tuple[int, int]]:
    symbols = []
    for token in text.split(","):
        if not token.strip():
            continue
        node, _, label = token.strip().partition(":")
        try:
            symbols.append((int(node), 0 if label in {"e", "ε"} else int(label)))
        except ValueError:
            msg = f"--s takes symbols such as 0:e or 8:3, got {token!r}"
            raise OptionError(msg) from None
    return symbols
