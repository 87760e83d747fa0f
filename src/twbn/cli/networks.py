"""Commands for networks with parameters."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import twbn
from twbn.cli.options import AsJson, Data, Missing, Seed
from twbn.cli.shared import check_target, escape, out, print_json, read_data
from twbn.data.coding_document import coding_of
from twbn.data.columns import GAPS
from twbn.data.read import ReadOptions, read_columns
from twbn.errors import OptionError
from twbn.files import writing
from twbn.inference import map_query
from twbn.search import ResultFile, read_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "coded_rows",
    "convert",
    "fit",
    "impute",
    "map_states",
    "mpe",
    "predict",
    "query",
    "sample",
]

Net = Annotated[
    Path, typer.Argument(help="Network: .json, .bif, .xmlbif, .uai, .net.", metavar="NET")
]
Evidence = Annotated[
    list[str] | None,
    typer.Option("-e", "--evidence", help="What is known; repeatable.", metavar="VARIABLE=STATE"),
]
Target = Annotated[Path, typer.Option("-o", "--out", help="File to write.", metavar="FILE")]


def fit(
    result: Annotated[Path, typer.Argument(help="Result file (JSON).", metavar="RESULT")],
    data: Annotated[Path, typer.Option("--data", help="The table.", metavar="DATA")],
    out_file: Target,
    ess: Annotated[
        float, typer.Option(help="Equivalent sample size of the prior; 0: maximum likelihood.")
    ] = 1.0,
) -> None:
    """Give a learned structure its parameters; -o writes the network."""
    check_target(out_file)
    claimed = read_result(result)
    table = read_data(data, dict(claimed.data_options), coding_like(claimed))
    if claimed.names != table.names:
        msg = f"{result} has other variables than {data}, or in another order"
        raise OptionError(msg)
    network = twbn.fit(claimed, table, ess=ess)
    twbn.write_network(network, out_file)
    out.print(f"{network.n_parameters:,} parameters; written to {escape(str(out_file))}")


def query(
    net: Net,
    variables: Annotated[
        list[str], typer.Option("-q", "--query", help="Variable; repeatable.", metavar="VARIABLE")
    ],
    evidence: Evidence = None,
    as_json: AsJson = False,
) -> None:
    """Print the posterior of variables, each by itself, given evidence."""
    engine = twbn.Inference(twbn.read_network(net))
    known = _known(evidence)
    answers = {name: engine.query([name], known).to_dict() for name in variables}
    if as_json:
        print_json({name: {str(s): p for s, p in a.items()} for name, a in answers.items()})
        return
    for name, answer in answers.items():
        out.print(f"{escape(name)}")
        for state, probability in answer.items():
            out.print(f"  {probability:.6f}  {escape(str(state))}")


def mpe(net: Net, evidence: Evidence = None, as_json: AsJson = False) -> None:
    """Print the most probable states of all variables together, given evidence."""
    engine = twbn.Inference(twbn.read_network(net))
    known = _known(evidence)
    best = engine.most_probable(known)
    log_probability = engine.log_evidence(best)
    if as_json:
        print_json({"log_probability": log_probability, "states": best})
        return
    for name, state in best.items():
        out.print(f"{escape(name)}={escape(str(state))}")
    out.print(f"log probability {log_probability:.6f}")


def map_states(
    net: Net,
    variables: Annotated[
        list[str], typer.Option("-q", "--query", help="Variable; repeatable.", metavar="VARIABLE")
    ],
    evidence: Evidence = None,
    time_limit: Annotated[
        float, typer.Option(help="Seconds, where it is too wide for an exact answer.")
    ] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Print the most probable states of some variables, the others summed out (marginal MAP)."""
    engine = twbn.Inference(twbn.read_network(net))
    found = map_query(engine, variables, _known(evidence), time_limit=time_limit)
    if as_json:
        print_json(
            {
                "states": found.states,
                "log_probability": found.log_probability,
                "bound": found.bound,
                "exact": found.exact,
            }
        )
        return
    for name, state in found.states.items():
        out.print(f"{escape(name)}={escape(str(state))}")
    standing = "exact" if found.exact else f"nothing is above {found.bound:.6f}"
    out.print(
        f"log probability {found.log_probability:.6f} ({standing}; constrained width "
        f"{found.cost.width}, {found.cost.n_entries:,} entries)"
    )


def impute(
    data: Data,
    net: Annotated[Path, typer.Option("--net", help="The network.", metavar="NET")],
    out_file: Target,
    missing: Missing = None,
) -> None:
    """Fill the missing cells of every row with their most probable states."""
    check_target(out_file)
    network = twbn.read_network(net)
    table = coded_rows(data, network, missing)
    filled = twbn.Inference(network).impute(table)
    # What is known stays as the file has it, columns that the network lacks included.
    columns = read_columns(data, ReadOptions(missing=(*GAPS, *(missing or []))))
    cells: list[list[Any]] = []
    n_gaps = 0
    for column in columns:
        of_column = [*column.values, ""]
        texts = [of_column[position] for position in column.positions.tolist()]
        if column.name in network.names:
            v = network.index(column.name)
            gaps = np.flatnonzero(column.positions < 0).tolist()
            n_gaps += len(gaps)
            for row in gaps:
                texts[row] = network.states[v][filled.codes[row, v]]
        cells.append(texts)
    with writing(out_file) as file:
        _write(file, [column.name for column in columns], zip(*cells, strict=True))
    out.print(f"{n_gaps:,} cell{'s' * (n_gaps != 1)} filled; written to {escape(str(out_file))}")


def predict(
    data: Data,
    net: Annotated[Path, typer.Option("--net", help="The network.", metavar="NET")],
    target: Annotated[str, typer.Option("-q", "--query", help="Variable to predict.")],
    out_file: Annotated[
        Path | None, typer.Option("-o", "--out", help="CSV file; printed by default.")
    ] = None,
    missing: Missing = None,
) -> None:
    """Predict one variable in every row: its most probable state and all probabilities."""
    check_target(out_file)
    network = twbn.read_network(net)
    states = network.states[network.index(target)]
    values = twbn.Inference(network).predict_proba(
        coded_rows(data, network, missing, target), target
    )
    rows = [[states[int(row.argmax())], *row.tolist()] for row in values]
    names = [target, *(f"P({target}={state})" for state in states)]
    if out_file is None:
        _write(sys.stdout, names, rows)
        return
    with writing(out_file) as file:
        _write(file, names, rows)
    out.print(f"{len(rows):,} rows; written to {escape(str(out_file))}")


def sample(
    net: Net,
    rows: Annotated[int, typer.Option("-n", "--rows", help="Number of rows.")] = 100,
    seed: Seed = 0,
    out_file: Annotated[
        Path | None, typer.Option("-o", "--out", help="CSV file; printed by default.")
    ] = None,
) -> None:
    """Draw rows from a network."""
    check_target(out_file)
    table = twbn.read_network(net).sample(rows, seed=seed)
    if out_file is None:
        _write(sys.stdout, table.names, _cells(table))
        return
    with writing(out_file) as file:
        _write(file, table.names, _cells(table))
    out.print(f"{rows:,} rows; written to {escape(str(out_file))}")


def convert(
    source: Net,
    target: Annotated[Path, typer.Argument(help="File to write, by its ending.", metavar="FILE")],
    dialect: Annotated[
        str | None, typer.Option(help="Of a UAI file that is read: uai, agrum or pgmpy.")
    ] = None,
) -> None:
    """Read a network in one format and write it in another."""
    check_target(target)
    if dialect is not None and ".uai" not in source.suffixes:
        msg = f"--dialect is for UAI files, {source} is not one"
        raise OptionError(msg)
    network = twbn.read_network(source, **({} if dialect is None else {"dialect": dialect}))
    twbn.write_network(network, target)
    out.print(f"{escape(repr(network))}; written to {escape(str(target))}")


def _known(evidence: list[str] | None) -> dict[str, str]:
    """Return variable and state of every ``VARIABLE=STATE``."""
    known: dict[str, str] = {}
    for text in evidence or []:
        name, equals, state = text.partition("=")
        if not equals:
            msg = f"evidence must be VARIABLE=STATE, got {text!r}"
            raise OptionError(msg)
        if known.get(name, state) != state:
            msg = f"evidence contradicts itself: {name}={known[name]} and {name}={state}"
            raise OptionError(msg)
        known[name] = state
    return known


def coded_rows(
    path: Path, network: twbn.Network, missing: list[str] | None, target: str | None = None
) -> twbn.Table:
    """Read rows as the network codes them; the target need not be there."""
    return twbn.read_table(
        path,
        like=twbn.Table.blank(network.names, network.codings),
        absent_ok=True,
        target=target,
        missing=(*GAPS, *(missing or [])),
    )


def coding_like(result: ResultFile) -> twbn.Table | None:
    """Return a table that is coded as the data of a result were, if the file says how."""
    if result.coding is None:
        return None
    pairs = zip(result.coding, result.names, strict=True)
    return twbn.Table.blank(result.names, [coding_of(coding, name) for coding, name in pairs])


def _cells(table: twbn.Table) -> Iterable[list[Any]]:
    for row in table.codes.tolist():
        yield [table.states[v][code] if code >= 0 else "" for v, code in enumerate(row)]


def _write(file: Any, names: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
