"""The paper's data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conftest import shared_path
from twbn import compute_scores, datasets, read_table
from twbn.errors import DataError, OptionError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", datasets.NAMES)
def test_the_raw_files_give_the_binary_tables(name: str) -> None:
    expected = read_table(shared_path(f"uci/binary/{name}.csv"))
    assert datasets.load(name, folder=shared_path("uci/raw")).equals(expected)


@pytest.mark.parametrize(
    ("name", "published"),
    [("wdbc", -12313.0382), ("hill", -42347.6835), ("community", -135844.6822)],
)
def test_networks_without_arcs_have_the_published_scores(name: str, published: float) -> None:
    folder = None if name == "wdbc" else shared_path("uci/raw")
    scores = compute_scores(datasets.load(name, folder=folder), max_parents=0)
    assert scores.total([[]] * scores.n_variables) == pytest.approx(published, abs=5e-5)


def test_a_missing_file_says_where_to_get_it_and_where_to_put_it(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nursery\.arff is missing; get it from the UCI"):
        datasets.load("nursery", folder=tmp_path)


def test_a_file_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "zoo.data").write_text("animal_name,legs,b\nx,1,0\ny,2,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="zoo should have 101 rows and 17 variables"):
        datasets.load("zoo", folder=tmp_path)


def test_an_unknown_set_is_refused_with_the_list() -> None:
    with pytest.raises(OptionError, match="unknown data set 'iris'; expected one of nursery"):
        datasets.load("iris")


def test_a_set_that_needs_a_folder_says_so() -> None:
    with pytest.raises(OptionError, match=r"read from letter\.arff: name the folder"):
        datasets.load("letter")
