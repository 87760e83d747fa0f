"""Tables read in chunks: the same counts as when read at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from twbn import Table, compute_scores, learn, read_table
from twbn.data import distinct_rows
from twbn.data.read import chunks
from twbn.errors import DataError, FileFormatError, OptionError

if TYPE_CHECKING:
    from pathlib import Path

pd = pytest.importorskip("pandas")


def frame(n_rows: int = 3000) -> Any:
    rng = np.random.default_rng(4)
    a = rng.integers(0, 3, n_rows)
    x = rng.normal(size=n_rows).round(1)
    x[::50] = np.nan
    return pd.DataFrame(
        {
            "a": a,
            "b": np.where(rng.random(n_rows) < 0.8, a, 0),
            "x": x,
            "c": rng.choice(["p", "q", "r s"], n_rows),
        }
    )


def collapsed(table: Table) -> dict[tuple[int, ...], float]:
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    found: dict[tuple[int, ...], float] = {}
    for row, weight in zip(table.codes.tolist(), weights, strict=True):
        found[tuple(row)] = found.get(tuple(row), 0) + weight
    return found


@pytest.fixture(name="small_chunks", autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "ROWS_AT_ONCE", 700)
    monkeypatch.setattr(chunks, "CHARACTERS_AT_ONCE", 5000)
    monkeypatch.setattr(distinct_rows, "PENDING_ROWS", 300)


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".parquet"])
def test_chunks_have_the_rows_of_the_whole(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
        frame().to_parquet(path)
    else:
        frame().to_csv(path, index=False)
    whole = read_table(path)
    seen: list[tuple[int, int]] = []
    table = read_table(path, distinct=True, on_progress=lambda *done: seen.append(done))
    assert table.names == whole.names
    assert table.states == whole.states
    assert len(collapsed(table)) == table.n_rows < whole.n_rows
    assert collapsed(table) == collapsed(whole)
    assert table.total_weight == whole.n_rows
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    for ours, theirs in zip(table.codings, whole.codings, strict=True):
        assert getattr(ours, "centers", None) == pytest.approx(getattr(theirs, "centers", None))


def test_many_files_are_one_table(tmp_path: Path) -> None:
    paths = []
    for i in range(3):
        paths.append(tmp_path / f"{i}.csv")
        frame().iloc[i * 1000 : (i + 1) * 1000].to_csv(paths[-1], index=False)
    frame().to_csv(tmp_path / "all.csv", index=False)
    table = read_table(paths, distinct=True)
    assert collapsed(table) == collapsed(read_table(tmp_path / "all.csv"))
    with pytest.raises(OptionError, match="distinct must be True to read several files"):
        read_table(paths)


def test_scores_of_distinct_rows_are_those_of_all(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    frame().dropna().to_csv(path, index=False)
    whole, table = read_table(path), read_table(path, distinct=True)
    for v, name in enumerate(whole.names):
        for score, parents in compute_scores(whole, prune=False).sets(v):
            assert compute_scores(table, prune=False).local(v, parents) == pytest.approx(score), (
                name
            )
    assert learn(table, treewidth=2, max_iterations=500).score == pytest.approx(
        learn(whole, treewidth=2, max_iterations=500).score
    )


def test_more_combinations_than_a_number_holds(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    wide = pd.DataFrame({f"v{i}": rng.integers(0, 8, 200) for i in range(30)})
    path = tmp_path / "wide.csv"
    pd.concat([wide, wide]).to_csv(path, index=False)
    table = read_table(path, distinct=True)
    assert (table.n_rows, table.total_weight) == (200, 400)
    assert collapsed(table) == collapsed(read_table(path))


def test_quotes_and_line_breaks_do_not_end_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = ['0,"p\nq",1', '1,"r, s",0', '1,"p\nq",0'] * 900
    path.write_text("\n".join(["a,b,c", *rows]) + "\n", encoding="utf-8")
    table = read_table(path, distinct=True)
    assert table.states[1] == ("p\nq", "r, s")
    assert sorted(collapsed(table).values()) == [900, 900, 900]


def test_what_cannot_be_read_in_chunks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.arff"
    path.write_text("@attribute a {p,q}\n@data\np\nq\n", encoding="utf-8")
    with pytest.raises(OptionError, match="distinct reads delimited text and Parquet in chunks"):
        read_table(path, distinct=True)
    monkeypatch.setattr(chunks, "MAX_DISTINCT", 100)
    path = tmp_path / "t.csv"
    frame().assign(id=[f"p{i}" for i in range(3000)]).to_csv(path, index=False)
    with pytest.raises(DataError, match="column 'id' has more than 100 different texts"):
        read_table(path, distinct=True)


def test_thinned_numbers_keep_their_quantiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "MAX_DISTINCT", 500)
    rng = np.random.default_rng(1)
    numbers = pd.DataFrame({"x": rng.normal(size=6000), "b": rng.integers(0, 2, 6000)})
    path = tmp_path / "t.parquet"
    pytest.importorskip("pyarrow")
    numbers.to_parquet(path)
    exact = read_table(path).codings[0].edges  # type: ignore[union-attr]
    thinned = read_table(path, distinct=True).codings[0].edges  # type: ignore[union-attr]
    assert thinned == pytest.approx(exact, abs=0.02)


def test_a_quote_that_is_never_closed_is_told_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n0,"x\n' + "1,y\n" * 20_000, encoding="utf-8")
    with pytest.raises(FileFormatError, match="is a quote not closed"):
        read_table(path, distinct=True)


def test_parts_that_do_not_fit_are_told(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for name, cells in (("n", [1, 2, 3]), ("t", ["x", "y", "x"])):
        pd.DataFrame({"a": cells, "b": [0, 1, 1]}).to_parquet(tmp_path / f"{name}.parquet")
    with pytest.raises(DataError, match="'a' holds texts in one part and numbers in another"):
        read_table([tmp_path / "n.parquet", tmp_path / "t.parquet"], distinct=True)
    with pytest.raises(OptionError, match="unknown column 'c'"):
        read_table(tmp_path / "n.parquet", distinct=True, drop="c")
