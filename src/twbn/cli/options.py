"""The options that commands share, under the same names everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from twbn.data.discretize import CUTS
from twbn.errors import OptionError
from twbn.scores.kinds import SCORES
from twbn.search import METHODS

__all__ = [
    "Adjacent",
    "Ancestor",
    "AsJson",
    "BinCount",
    "CertificateFile",
    "Checkpoint",
    "Cut",
    "Data",
    "Decimal",
    "Delimiter",
    "Distinct",
    "Do",
    "Drop",
    "Encoding",
    "Ess",
    "Evidence",
    "Forbidden",
    "Header",
    "Jobs",
    "LargestFamilies",
    "Leaf",
    "MaxCategories",
    "MaxIterations",
    "MaxParents",
    "MaxStates",
    "MemoryLimit",
    "MemoryText",
    "MethodName",
    "Missing",
    "Net",
    "NewRows",
    "NonAncestor",
    "OptionalOut",
    "Out",
    "Page",
    "Polish",
    "Query",
    "Required",
    "Root",
    "RulesFile",
    "Score",
    "Seed",
    "SkipRows",
    "Source",
    "StartFile",
    "StatesFrom",
    "Thousands",
    "Tier",
    "TimeLimit",
    "Treewidth",
    "TreewidthIfAny",
    "Weights",
    "arcs_of",
    "evidence_of",
]

Data: TypeAlias = Annotated[
    Path, typer.Argument(help="CSV, TSV, Parquet, ARFF or .dat file.", metavar="DATA")
]
Source: TypeAlias = Annotated[
    Path, typer.Argument(help="Table, or scores (.jkl).", metavar="DATA|SCORES.jkl")
]
Net: TypeAlias = Annotated[
    Path, typer.Argument(help="Network: .json, .bif, .xmlbif, .uai, .net.", metavar="NET")
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option(help="Column separator; detected by default.")
]
Header: TypeAlias = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="First line has names; detected by default."),
]
Cut: TypeAlias = Annotated[
    str,
    typer.Option(
        "--discretize", help=f"How to cut numbers: {', '.join(CUTS)}; for learn, also score."
    ),
]
BinCount: TypeAlias = Annotated[
    int | None,
    typer.Option("--bins", help="Intervals for quantile and uniform; by default, by the rows."),
]
MaxCategories: TypeAlias = Annotated[
    int | None, typer.Option(help="Most states of a text column; rare ones become 'other'.")
]
Drop: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Column to leave out; repeatable. unusable: all that cannot be learned."),
]
Encoding: TypeAlias = Annotated[
    str | None, typer.Option(help="Encoding of a text file, such as cp1252; UTF-8 by default.")
]
SkipRows: TypeAlias = Annotated[int, typer.Option(help="Lines above the table, such as a title.")]
Decimal: TypeAlias = Annotated[str, typer.Option(help="Decimal mark of numbers.", metavar="MARK")]
Distinct: TypeAlias = Annotated[
    bool,
    typer.Option("--distinct", help="Read in chunks, keep distinct rows: for large files."),
]
Thousands: TypeAlias = Annotated[
    str | None, typer.Option(help="Thousands separator of numbers.", metavar="MARK")
]
Weights: TypeAlias = Annotated[str | None, typer.Option(help="Column that holds row weights.")]
Missing: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Text that means a missing cell, such as '?'; repeatable.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object only.")]
TimeLimit: TypeAlias = Annotated[float | None, typer.Option(help="Time limit.", metavar="SECONDS")]
MemoryText: TypeAlias = Annotated[
    str | None,
    typer.Option("--memory-limit", help="Memory for an answer: 2GiB, 500MiB.", metavar="SIZE"),
]
MemoryLimit: TypeAlias = Annotated[float | None, typer.Option(help="Memory limit.", metavar="GIB")]
MaxIterations: TypeAlias = Annotated[
    int | None, typer.Option(help="Iteration budget; same answer on any machine.")
]
Jobs: TypeAlias = Annotated[int, typer.Option("--n-jobs", help="Threads; -1 is one per core.")]
Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of the random numbers.")]
OptionalOut: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--out", help="File to write.", metavar="FILE")
]
Out: TypeAlias = Annotated[Path, typer.Option("-o", "--out", help="File to write.", metavar="FILE")]
Score: TypeAlias = Annotated[str, typer.Option("--score", help=f"{', '.join(SCORES)} (or mdl).")]
Ess: TypeAlias = Annotated[float, typer.Option(help="Equivalent sample size of BDeu.")]
MaxParents: TypeAlias = Annotated[int, typer.Option(help="Largest parent set.")]
Treewidth: TypeAlias = Annotated[
    int, typer.Option("-k", "--treewidth", help="The treewidth limit.")
]
TreewidthIfAny: TypeAlias = Annotated[
    int | None,
    typer.Option("-k", "--treewidth", help="The treewidth limit: 4, or what --max-states implies."),
]
MaxStates: TypeAlias = Annotated[
    int | None, typer.Option(help="Most joint states of a bag: bounds the memory of inference.")
]
StatesFrom: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Network with the numbers of states of .jkl scores.", metavar="NET"),
]
LargestFamilies: TypeAlias = Annotated[
    int | None, typer.Option("--max-parents", help="Largest parent set; by default the treewidth.")
]
MethodName: TypeAlias = Annotated[
    str,
    typer.Option("--method", help=f"One of {', '.join(sorted(METHODS))}."),
]
Required: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Arc that must be present; repeatable.", metavar="PARENT->CHILD"),
]
Forbidden: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Arc that must be absent; repeatable.", metavar="PARENT->CHILD"),
]
Adjacent: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Arc that must be present, either way; repeatable.", metavar="A->B"),
]
Ancestor: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="A must be an ancestor of B; repeatable.", metavar="A->B"),
]
NonAncestor: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="A must not be an ancestor of B; repeatable.", metavar="A->B"),
]
Tier: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="One tier: no arc leads to an earlier one. Repeat in order.", metavar="A,B,..."
    ),
]
RulesFile: TypeAlias = Annotated[
    Path | None, typer.Option("--rules", help="Rules on the structure.", metavar="RULES.toml")
]
Root: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Variable without parents; repeatable.")
]
Leaf: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Variable without children; repeatable.")
]
Polish: TypeAlias = Annotated[
    bool, typer.Option("--polish", help="Search the final decomposition exactly.")
]
StartFile: TypeAlias = Annotated[
    Path | None, typer.Option(help="Result file to continue from.", metavar="RESULT")
]
NewRows: TypeAlias = Annotated[
    bool,
    typer.Option("--new-rows", help="The rows are not those of --start; code them the same way."),
]
Checkpoint: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Keep the best result so far in this file.", metavar="FILE"),
]
CertificateFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--certificate", help="Write a proof of optimality.", metavar="FILE"),
]
Page: TypeAlias = Annotated[
    Path | None,
    typer.Option(help="Also write a page that shows the network.", metavar="PAGE.html"),
]
Query: TypeAlias = Annotated[
    list[str], typer.Option("-q", "--query", help="Query variable; repeatable.", metavar="VARIABLE")
]
Evidence: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("-e", "--evidence", help="Observed state; repeatable.", metavar="VARIABLE=STATE"),
]

Do: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--do", help="State that is set, not observed.", metavar="VARIABLE=STATE"),
]


def evidence_of(texts: list[str] | None, what: str = "evidence") -> dict[str, str]:
    """Return variable and state of every ``VARIABLE=STATE``."""
    known: dict[str, str] = {}
    for text in texts or []:
        name, equals, state = text.partition("=")
        if not equals:
            msg = f"{what} must be VARIABLE=STATE, got {text!r}"
            raise OptionError(msg)
        if known.get(name, state) != state:
            msg = f"{what} contradicts itself: {name}={known[name]} and {name}={state}"
            raise OptionError(msg)
        known[name] = state
    return known


def arcs_of(texts: list[str] | None, flag: str = "an arc") -> list[tuple[str, str]]:
    """Return both names of every ``A->B``."""
    arcs = []
    for text in texts or []:
        parent, arrow, child = text.partition("->")
        if not arrow or not parent.strip() or not child.strip():
            msg = f"{flag} must be A->B, got {text!r}"
            raise OptionError(msg)
        arcs.append((parent.strip(), child.strip()))
    return arcs
