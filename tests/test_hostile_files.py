"""Files made to hurt: sizes that are declared but not there, and texts that are slow to read."""

from __future__ import annotations

import gc
import gzip
import resource
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

import twbn
from twbn.errors import DataError, FileFormatError, MemoryLimitError, OptionError, TwbnError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: How much more memory than before a file of a few bytes may take.
SPARE = 2**29


@pytest.fixture
def little_memory() -> Iterator[None]:
    """Let this process have little more address space than it has now."""
    with open("/proc/self/statm") as file:  # noqa: PTH123
        pages = int(file.read().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + SPARE, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("x.uai", "BAYES 1 999999999 1 1 0 1 1", "number of states of 999,999,999 does not go"),
        ("x.uai", "BAYES 999999999 2 2 1 1 0 1 1", "number of variables of 999,999,999 does not"),
        ("x.uai", "BAYES 1 2 1 999999999 0", "scope of 999,999,999 does not go with a file of 6"),
        ("x.uai", "BAYES 1 2 1 1 0 999999999 1 0", "number of values of 999,999,999 does not go"),
        ("x.dat", "a b\n9999999 2\n0 1\n1 0\n", "'a' is declared with 9,999,999 states"),
        (
            "x.dat",
            " ".join(f"v{i}" for i in range(3000)) + "\n" + "60000 " * 3000 + "\n" + "0 " * 3000,
            "is declared with 60,000 states; at most 65,536 are read for one column, and",
        ),
        (
            "x.bif",
            "network n { }\n"
            + "".join(f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for i in range(26))
            + "".join(
                f"probability ( v{i} | {', '.join(f'v{j}' for j in range(26) if j != i)} ) "
                "{ default 0.5, 0.5; }\n"
                for i in range(26)
            ),
            "more entries than the file could hold",
        ),
    ],
    ids=["uai-states", "uai-variables", "uai-scope", "uai-values", "dat", "dat-all", "bif-default"],
)  # fmt: skip
def test_declared_sizes_are_checked_before_memory_is_taken(
    tmp_path: Path, name: str, text: str, error: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    read = twbn.read_table if name.endswith(".dat") else twbn.read_network
    with pytest.raises((FileFormatError, MemoryLimitError), match=error):
        read(path)


@pytest.mark.parametrize("name", ["x.csv.gz", "x.bif.gz"])
def test_a_packed_file_has_a_largest_size(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"0,1\n" * 2**20))
    monkeypatch.setattr("twbn.files.MAX_UNPACKED", 2**20)
    monkeypatch.setattr("twbn.files.CHUNK", 2**16)
    read = twbn.read_table if ".csv" in name else twbn.read_network
    with pytest.raises(MemoryLimitError, match="unpacks to more than 1 MiB, 100 times its size"):
        read(path)


def test_a_packed_parquet_file_has_a_largest_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": ["x"] * 5000, "b": ["y", "z"] * 2500}), path)
    monkeypatch.setattr("twbn.data.read.parquet.MAX_CELLS", 9999)
    with pytest.raises(MemoryLimitError, match="5,000 rows of 2 columns are more than 9,999"):
        twbn.read_table(path)


SLOW: dict[str, tuple[str, Callable[[int], str]]] = {
    "arff-blanks-before-a-quote": (
        "x.arff",
        lambda n: "@attribute a numeric\n@attribute b numeric\n@data\n1," + " " * n + "'2\n",
    ),
    "arff-blanks-in-an-attribute": (
        "x.arff",
        lambda n: "@attribute a" + " \t" * n + "\n@data\n1\n",
    ),
    "arff-quotes-and-a-comment": (
        "x.arff",
        lambda n: "@attribute a numeric\n@data\n" + "'a' " * n + "'\n",
    ),
    "bif-open-comments": ("x.bif", lambda n: "network n { }\n" + "/* " * n),
    "bif-open-quotes": ("x.bif", lambda n: "network n { }\n" + '" ' * (n | 1)),
    "bif-slashes": ("x.bif", lambda n: "/" * n),
    "hugin-open-nodes": ("x.net", lambda n: "node a {" * n),
    "hugin-open-potentials": ("x.net", lambda n: "potential (a" * n),
    "hugin-blanks-after-node": ("x.net", lambda n: ("node" + " " * 20) * n),
    "hugin-open-states": ("x.net", lambda n: "node a { " + "states = ( " * n + "}"),
    "hugin-open-data": ("x.net", lambda n: "potential (a) { " + "data = " * n + "}"),
    "jkl-twice": ("x.jkl", lambda n: f"{n}\n" + "a 1\n-1 0\n" * n),
    "jkl-pairs": ("x.jkl", lambda n: f"{n}\n" + "".join(f"v{i // 2} 1\n-1 0\n" for i in range(n))),
    "csv-quotes": ("x.csv", lambda n: "a,b\n" + '"x' * n),
    "dat-hashes": ("x.dat", lambda n: "a b\n2 2\n" + "# x\n" * n + "0 1\n1\n"),
    "uai-words": ("x.uai", lambda n: "BAYES " + "2 " * n),
    "xmlbif-open": ("x.xmlbif", lambda n: "<BIF>" * n),
    "json-open": ("x.json", lambda n: "[" * n),
}


@pytest.mark.parametrize("case", SLOW)
def test_readers_take_linear_time(tmp_path: Path, case: str) -> None:
    # The shape of the growth: eight times the input takes eight times the work, not 64 or 512.
    name, text = SLOW[case]
    path = tmp_path / name
    readers: dict[str, Callable[..., object]] = {
        ".jkl": twbn.read_jkl, ".csv": twbn.read_table, ".arff": twbn.read_table,
        ".dat": twbn.read_table,
    }  # fmt: skip
    read: Callable[..., object] = readers.get(path.suffix, twbn.read_network)

    def work(n: int) -> float:
        content: str = text(n)
        path.write_text(content, encoding="utf-8")
        fastest = np.inf
        for _ in range(3):
            gc.collect()
            gc.disable()  # what other tests have left behind is not the reader's work
            try:
                begun = time.thread_time()
                with pytest.raises(TwbnError):
                    read(path)
                fastest = min(fastest, time.thread_time() - begun)
            finally:
                gc.enable()
        return fastest

    n = 200
    while (small := work(n)) < 2e-3 and n < 400_000:
        n *= 2
    assert work(8 * n) < 8 * 4 * max(small, 1e-4)


def test_scores_whose_totals_are_not_finite_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jkl"
    path.write_text(
        "3\n0 2\n-1e308 0\n-9e307 1 1\n1 1\n-1e308 0\n2 1\n-1e308 0\n", encoding="utf-8"
    )
    with pytest.raises(FileFormatError, match="line 3: the score -1e\\+308 is too large"):
        twbn.read_jkl(path)
    with pytest.raises(DataError, match="a score of 'b' is as large as 1e\\+308"):
        twbn.ScoreTable.from_sets(["a", "b"], [{(): -3.0}, {(): 1e308}])
    fine = twbn.ScoreTable.from_sets(["a", "b"], [{(): -1e299}, {(): 1e299}])
    assert twbn.learn(fine, treewidth=1).score == 0.0


@pytest.mark.parametrize("value", [1e308, float("inf"), float("nan"), -1e308])
def test_a_score_function_that_gives_no_score_is_named(value: float) -> None:
    rows = {"a": [0, 1, 0, 1], "b": [0, 1, 1, 0], "c": [1, 1, 0, 0]}

    def huge(_: twbn.Table, child: int, parents: tuple[int, ...]) -> float:
        return value if child == 1 and parents else -1.0

    for made in (
        lambda: twbn.compute_scores(rows, score=huge),
        lambda: twbn.learn(twbn.LazyScores(rows, score=huge), treewidth=1, max_iterations=500),
    ):
        with pytest.raises(OptionError, match=r"the score function gave .* for 'b' given"):
            made()
