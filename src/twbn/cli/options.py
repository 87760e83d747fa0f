"""The options that several commands share, under the same names everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from twbn.scores.kinds import SCORES

__all__ = [
    "AsJson",
    "BinCount",
    "Cut",
    "Data",
    "Delimiter",
    "Drop",
    "Ess",
    "Header",
    "Jobs",
    "MaxParents",
    "MemoryLimit",
    "Missing",
    "Out",
    "Score",
    "Seed",
    "TimeLimit",
    "Weights",
]

Data: TypeAlias = Annotated[
    Path, typer.Argument(help="CSV, TSV, Parquet, ARFF or .dat file.", metavar="DATA")
]
Delimiter: TypeAlias = Annotated[
    str | None, typer.Option(help="Column separator; found out by default.")
]
Header: TypeAlias = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="First line has names; found out by default."),
]
Cut: TypeAlias = Annotated[
    str, typer.Option("--discretize", help="Cut of numeric columns: median, quantile or uniform.")
]
BinCount: TypeAlias = Annotated[
    int, typer.Option("--bins", help="Intervals for quantile, uniform.")
]
Drop: TypeAlias = Annotated[list[str] | None, typer.Option(help="Column to leave out; repeatable.")]
Weights: TypeAlias = Annotated[str | None, typer.Option(help="Column that holds row weights.")]
Missing: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Text that means a missing cell, such as '?'; repeatable.")
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object only.")]
TimeLimit: TypeAlias = Annotated[float | None, typer.Option(help="Seconds.", metavar="SECONDS")]
MemoryLimit: TypeAlias = Annotated[float | None, typer.Option(help="GiB.", metavar="GIB")]
Jobs: TypeAlias = Annotated[int, typer.Option("--jobs", help="Threads; -1 is one per core.")]
Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of the random numbers.")]
Out: TypeAlias = Annotated[
    Path | None, typer.Option("-o", "--out", help="File to write.", metavar="FILE")
]
Score: TypeAlias = Annotated[str, typer.Option("--score", help=f"{', '.join(SCORES)} (or mdl).")]
Ess: TypeAlias = Annotated[float, typer.Option(help="Equivalent sample size of BDeu.")]
MaxParents: TypeAlias = Annotated[int, typer.Option(help="Largest parent set.")]
