"""Files are written whole or not at all, and errors name them."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import twbn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NETWORK = twbn.Network.from_tables(
    {"a": ["no", "yes"], "b": ["no", "yes"]},
    {"a": [], "b": ["a"]},
    {"a": [0.5, 0.5], "b": [[0.9, 0.1], [0.2, 0.8]]},
)
SCORES = twbn.ScoreTable.from_sets(["a", "b"], [{(): -3.0}, {(): -5.0, (0,): -2.0}])
RESULT = twbn.learn(SCORES, treewidth=1)
GRAPH = twbn.Graph.from_edges(3, [(0, 1), (1, 2)])

WRITERS: dict[str, Callable[[Path], Any]] = {
    "x.json": lambda path: twbn.write_network(NETWORK, path),
    "x.bif": lambda path: twbn.write_network(NETWORK, path),
    "x.bif.gz": lambda path: twbn.write_network(NETWORK, path),
    "x.xmlbif": lambda path: twbn.write_network(NETWORK, path),
    "x.uai": lambda path: twbn.write_network(NETWORK, path),
    "x.net": lambda path: twbn.write_network(NETWORK, path),
    "x.jkl": lambda path: twbn.write_jkl(SCORES, path),
    "result.json": lambda path: twbn.write_result(RESULT, path),
    "x.gr": lambda path: twbn.write_gr(GRAPH, path),
    "x.td": lambda path: twbn.write_td(twbn.treewidth(GRAPH).decomposition, 3, path),
    "x.html": lambda path: twbn.write_report(NETWORK, path),
}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


class FullDisk:
    """What a file on a full disk does."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, content: bytes) -> int:
        self._file.write(content[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    plain = Path.open

    def opened(path: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
        file = plain(path, mode, *args, **options)
        return FullDisk(file) if "w" in mode else file

    monkeypatch.setattr(Path, "open", opened)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    os.write(handle := os.open(path, os.O_CREAT | os.O_WRONLY), b"old")
    os.close(handle)
    with pytest.raises(OSError, match="No space left on device") as failure:
        WRITERS[name](path)
    assert failure.value.filename == str(path)
    assert names(tmp_path) == [name]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_leaves_one_file(tmp_path: Path, name: str) -> None:
    WRITERS[name](tmp_path / name)
    assert names(tmp_path) == [name]


def test_what_ends_a_block_early_leaves_nothing(tmp_path: Path) -> None:
    from twbn.files import writing

    def write() -> None:
        with writing(tmp_path / "x.csv") as file:
            file.write("a,b\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert names(tmp_path) == []


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    from twbn.files import write_text

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_text(pipe, "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)
    assert names(tmp_path) == ["pipe"]


def test_a_link_stays_one(tmp_path: Path) -> None:
    from twbn.files import write_text

    (tmp_path / "there").mkdir()
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "there" / "file.txt")
    write_text(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "there" / "file.txt").read_text() == "text"


def twbn_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twbn", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.json"
    twbn.write_network(NETWORK, path)
    (tmp_path / "rows.csv").write_text("a,b\n" + "no,\nyes,no\n,yes\n" * 5, encoding="utf-8")
    return path


@pytest.mark.parametrize("command", ["sample", "predict", "impute"])
def test_commands_on_a_full_disk_name_the_file(net: Path, command: str) -> None:
    rows = net.with_name("rows.csv")
    arguments = {
        "sample": (net,),
        "predict": (rows, "--net", net, "-q", "a"),
        "impute": (rows, "--net", net),
    }[command]
    done = twbn_command(command, *arguments, "-o", "/dev/full")
    assert done.returncode == 1
    assert done.stderr == "error: /dev/full: No space left on device\n"


def test_a_result_that_cannot_be_written_is_printed(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a,b,c\n" + "0,0,1\n1,1,0\n0,1,1\n1,0,0\n" * 5, encoding="utf-8")
    done = twbn_command("learn", data, "-k", 1, "-o", "/dev/full")
    assert done.returncode == 1
    assert "error: /dev/full: No space left on device" in done.stderr
    assert json.loads(done.stdout)["treewidth"] == 1


@pytest.mark.parametrize("name", ["r.json.gz", "x.gr.gz", "x.td.gz"])
def test_what_is_packed_is_read_again(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    decomposition = twbn.treewidth(GRAPH).decomposition
    if name.startswith("r"):
        twbn.write_result(RESULT, path)
        assert twbn.read_result(path).score == RESULT.score
    elif ".gr" in name:
        twbn.write_gr(GRAPH, path)
        assert twbn.read_gr(path) == GRAPH
    else:
        twbn.write_td(decomposition, 3, path)
        assert twbn.read_td(path, GRAPH).width == decomposition.width
    assert path.read_bytes()[:2] == b"\x1f\x8b"


def test_who_may_read_a_file_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.gr"
    path.write_text("old")
    path.chmod(0o600)
    twbn.write_gr(GRAPH, path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    twbn.write_gr(GRAPH, tmp_path / ("x" * 252 + ".gr"))
    assert len(names(tmp_path)) == 1
