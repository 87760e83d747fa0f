"""Tables as they come: each is diagnosed, read alike by every engine, and learned from as told."""

from __future__ import annotations

import json
import shlex
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from twbn import read_result, read_table
from twbn.cli import run
from twbn.data.build import build_table
from twbn.data.read import ReadOptions, read_columns
from twbn.data.read import engines as engines_module
from twbn.errors import DataError, TwbnError
from twbn.learning.features import _options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

N = 60


class Hostile(NamedTuple):
    """A file, and what must be said about it: kinds of findings by column, or an error."""

    content: bytes
    found: dict[str, str] = {}  # noqa: RUF012
    error: str = ""
    options: tuple[str, ...] = ()


def columns(**more: Any) -> dict[str, list[Any]]:
    """Return two plain columns and others."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, N)
    plain = {"a": a.tolist(), "b": np.where(rng.random(N) < 0.2, 1 - a, a).tolist()}
    return {**plain, **more}


def csv(
    table: dict[str, list[Any]], *, mark: str = ",", end: str = "\n", header: bool = True
) -> bytes:
    rows = [mark.join(map(str, row)) for row in zip(*table.values(), strict=True)]
    lines = [mark.join(table), *rows] if header else rows
    return (end.join(lines) + end).encode()


def numbers(pattern: Callable[[float], str] = str) -> list[str]:
    rng = np.random.default_rng(2)
    return [pattern(round(float(x), 3)) for x in rng.normal(50, 20, N)]


def with_token(*tokens: str) -> list[str]:
    cells = numbers()
    for i, token in enumerate(tokens):
        cells[5 + 7 * i] = token
    return cells


WORDS = [f"the {i} time that {i * 7 % 13} came by" for i in range(N)]
DAYS = [f"2021-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)]
EUROPEAN = [f"{1 + i % 28}.{1 + i % 12}.2021" for i in range(N)]
AMERICAN = [f"{1 + i % 12:02}/{1 + i % 28:02}/2021" for i in range(N)]
MANY = [f"c{i % 55}" for i in range(120)]

HOSTILE: dict[str, Hostile] = {
    "identifier": Hostile(csv(columns(id=[f"p{i}" for i in range(N)])), {"id": "identifier"}),
    "signs": Hostile(csv(columns(x=[f"${i + 0.5}" for i in range(N)])), {"x": "signs"}),
    "per cent": Hostile(csv(columns(x=[f"{i + 0.5} %" for i in range(N)])), {"x": "signs"}),
    "alike": Hostile(
        csv(columns(x=["Boston", "boston", "york"] * (N // 3))), {"x": "states alike"}
    ),
    "ambiguous": Hostile(
        csv(columns(x=[f"0{1 + i % 6}/0{1 + i % 5}/2021" for i in range(N)])),
        {"x": "ambiguous dates"},
    ),
    "free text": Hostile(csv(columns(note=[*WORDS[:-1], WORDS[0]])), {"note": "free text"}),
    "constant": Hostile(csv(columns(c=["x"] * N)), {"c": "constant"}),
    "all missing": Hostile(csv(columns(c=[""] * N)), {"c": "all missing"}),
    "one odd token": Hostile(csv(columns(x=with_token("unknown"))), {"x": "odd tokens"}),
    "three odd tokens": Hostile(csv(columns(x=with_token("n.d.", "-", "*"))), {"x": "odd tokens"}),
    "question mark": Hostile(csv(columns(x=[*[1, 2, 3] * 19, "?", "?", 1])), {"x": "odd tokens"}),
    "pandas' missing": Hostile(csv(columns(x=with_token("NA", "n/a", "NULL", "#N/A", "<NA>")))),
    "thousands": Hostile(
        csv(columns(x=[f"{1000 + 37 * i:,}" for i in range(N)]), mark=";"),
        {"x": "thousands separators"},
    ),
    "european thousands": Hostile(
        csv(columns(x=[f"{1000 + 37 * i:,},5".replace(",", ".", 1) for i in range(N)]), mark=";"),
        {"x": "thousands separators"},
    ),
    "decimal commas": Hostile(
        csv(columns(x=numbers(lambda x: f"{x:.2f}".replace(".", ","))), mark=";"),
        {"x": "decimal commas"},
    ),
    "dates": Hostile(csv(columns(day=DAYS)), {"day": "dates"}),
    "dates with times": Hostile(
        csv(columns(day=[f"{d} 12:30:00" for d in DAYS])), {"day": "dates"}
    ),
    "european dates": Hostile(csv(columns(day=EUROPEAN)), {"day": "dates"}),
    "american dates": Hostile(csv(columns(day=AMERICAN)), {"day": "dates"}),
    "dates with a token": Hostile(csv(columns(day=["never", *DAYS[1:]])), {"day": "odd tokens"}),
    "fifty categories": Hostile(
        csv({"a": [0, 1] * 60, "b": [0, 1, 1, 0] * 30, "c": MANY}), {"c": "many states"}
    ),
    "near duplicates": Hostile(
        csv(columns(c=["no" if x == 0 else "yes" for x in columns()["a"]])), {"c": "near duplicate"}
    ),
    "duplicate names": Hostile(csv(columns()).replace(b"a,b", b"a,a"), {"a.1": "duplicate name"}),
    "index without a name": Hostile(
        csv({"": list(range(N)), **columns()}), {"Unnamed: 0": "row numbers"}
    ),
    "row numbers": Hostile(csv(columns(nr=list(range(1, N + 1)))), {"nr": "row numbers"}),
    "unnamed column": Hostile(
        csv({**columns(), "": ["u", "v"] * (N // 2)}), {"Unnamed: 2": "unnamed"}
    ),
    "no header": Hostile(csv(columns(), header=False)),
    "numbered header": Hostile(
        csv({"2019": [*columns()["a"]], "b": columns()["b"], "c": ["u", "v"] * 30})
    ),
    "byte order mark": Hostile(b"\xef\xbb\xbf" + csv(columns())),
    "utf-16": Hostile(csv(columns(c=["ä", "ö"] * 30)).decode().encode("utf-16")),
    "cp1252": Hostile(
        csv(columns(c=["ä", "ö"] * 30)).decode().encode("cp1252"), error="--encoding 'cp1252'"
    ),
    "cp1252 told": Hostile(
        csv(columns(c=["ä", "ö"] * 30)).decode().encode("cp1252"),
        options=("--encoding", "cp1252"),
    ),
    "windows lines": Hostile(csv(columns(x=numbers()), end="\r\n")),
    "old mac lines": Hostile(csv(columns(x=numbers()), end="\r")),
    "blank lines": Hostile(csv(columns()).replace(b"\n1,", b"\n\n1,")),
    "quotes": Hostile(csv(columns(c=['"p, q"', '"r ""s"""'] * 30))),
    "plain quotes": Hostile(csv(columns(c=['"p"', '"q"'] * 30))),
    "line breaks in cells": Hostile(csv(columns(c=['"p\nq"', '"r"'] * 30))),
    "blanks before quotes": Hostile(csv(columns(c=[' "p"', ' "q"'] * 30))),
    "tabs": Hostile(csv(columns(c=["p q", "r"] * 30), mark="\t")),
    "ragged rows": Hostile(
        csv(columns()) + b"1,0,1\n", error="line 62: expected 2 values, found 3"
    ),
    "short rows": Hostile(
        csv(columns()) + b"1\n1,0\n", error="line 62: expected 2 values, found 1"
    ),
    "long names": Hostile(csv(columns(**{"n" * 200: ["u", "v"] * 30}))),
    "long cells": Hostile(csv(columns(c=["u" * 10_000, "v"] * 30))),
    "codes with zeros": Hostile(csv(columns(zip=[f"0{i % 7}234" for i in range(N)]))),
    "truth values": Hostile(csv(columns(c=["True", "False"] * 30))),
    "one row": Hostile(b"a,b\n1,0\n", {"a": "constant", "b": "constant"}),
    "zero rows": Hostile(b"a,b\n", error="a header but no rows below it"),
    "empty": Hostile(b"", error="is empty"),
    "infinite": Hostile(csv(columns(x=with_token("inf"))), error="numbers must be finite"),
}


@pytest.fixture(params=HOSTILE, name="hostile")
def _hostile(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Hostile]:
    path = tmp_path / "table.csv"
    path.write_bytes(HOSTILE[request.param].content)
    return path, HOSTILE[request.param]


def test_a_diagnosis_tells_and_its_command_learns(
    hostile: tuple[Path, Hostile], capsys: pytest.CaptureFixture[str]
) -> None:
    path, expected = hostile
    code = run(["info", str(path), "--json", *expected.options])
    said = capsys.readouterr()
    if expected.error:
        assert code != 0
        assert expected.error in said.err.replace("\n", " ")
        return
    assert code == 0, said.err
    document = json.loads(said.out)
    found = {
        (variable["name"], finding["kind"])
        for variable in document["variables"]
        for finding in variable["findings"]
    }
    assert set(expected.found.items()) <= found
    if not expected.found:
        assert not document["unusable"]
    target = path.with_name("result.json")
    words = shlex.split(document["command"])
    assert words[:2] == ["twbn", "learn"]
    budget = ["-k", "2", "--max-iterations", "200", "-o", str(target)]
    assert run([*words[1:], *budget]) == 0, capsys.readouterr().err
    result = read_result(target)
    assert set(result.names) == {v["name"] for v in document["variables"]} - set(
        document["remedy"].get("drop", [])
    )


@pytest.mark.parametrize("engine", [*engines_module.ENGINES, "python"])
def test_every_engine_reads_the_same(hostile: tuple[Path, Hostile], engine: str) -> None:
    path, expected = hostile
    if engine != "python" and find_spec(engine) is None:
        pytest.skip(f"{engine} is not installed")
    encoding = expected.options[1] if expected.options else None

    def outcome(engine: str) -> Any:
        options = ReadOptions(encoding=encoding, engine=engine)
        try:
            return build_table(read_columns(path, options), _options(), source="x")
        except TwbnError as error:
            return str(error)

    ours, theirs = outcome("python"), outcome(engine)
    if isinstance(ours, str):
        assert ours == theirs
    else:
        assert ours.equals(theirs)
        assert ours.findings == theirs.findings


#: Without those that pandas must be told more about, fails at, or reads otherwise on purpose.
COMPARABLE = [
    name
    for name, table in HOSTILE.items()
    if not (table.error or table.options or b'"' in table.content)
    and table.content[:1].isalpha()
    and name != "codes with zeros"
]


@pytest.mark.parametrize("name", COMPARABLE)
def test_pandas_and_we_agree(name: str, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    path = tmp_path / "table.csv"
    path.write_bytes(HOSTILE[name].content)
    mark = next(m for m in ",;\t" if m in path.read_text(encoding="utf-8").splitlines()[0])
    from twbn import as_table

    frame = pd.read_csv(path, sep=mark)
    assert read_table(path).equals(as_table(frame))


def test_unusable_columns_are_refused_at_once(tmp_path: Path) -> None:
    table = columns(id=[f"p{i}" for i in range(N)], note=WORDS, nr=list(range(N)))
    path = tmp_path / "table.csv"
    path.write_bytes(csv(table))
    from twbn import learn

    with pytest.raises(DataError, match="cannot use 3 columns") as caught:
        learn(path, max_iterations=10)
    for name in ("'id'", "'note'", "'nr'", "drop='unusable'"):
        assert name in str(caught.value)
    assert learn(path, max_iterations=10, drop="unusable").names == ("a", "b")
