"""The command line, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest

from conftest import shared_path
from signals import interrupted_command
from twbn import datasets, read_gr, read_jkl, read_td
from twbn.cli import run

if TYPE_CHECKING:
    from collections.abc import Callable

CSV = "a,b,c\n" + "0,0,0\n0,1,0\n1,0,1\n1,1,1\n" * 3
GRAPH = "p tw 4 4\n1 2\n2 3\n3 4\n4 1\n"


Command: TypeAlias = "Callable[..., subprocess.CompletedProcess[str]]"


def twbn(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "twbn", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in this process, which takes a fraction of the time."""

    def run_here(*arguments: object) -> subprocess.CompletedProcess[str]:
        code = run([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return subprocess.CompletedProcess([], code, shown.out, shown.err)

    return run_here


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(CSV, encoding="utf-8")
    return path


def test_help_names_every_command() -> None:
    done = twbn("--help")
    assert done.returncode == 0
    for command in ("info", "score", "treewidth", "learn", "verify", "ktree"):
        assert command in done.stdout
        assert twbn(command, "--help").returncode == 0


def test_score_writes_a_file_that_reads_back(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jkl"
    done = twbn("score", data, "--score", "bdeu", "--ess", 1, "--max-parents", 3, "-o", target)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no progress bar in a pipe
    assert read_jkl(target).local(0, [2]) == pytest.approx(-2.317231, abs=1e-6)
    assert "network without arcs" in done.stdout


def test_score_prints_json_for_machines(data: Path) -> None:
    done = twbn("score", data, "--score", "bic", "--json", "--n-jobs", 2)
    facts = json.loads(done.stdout)
    assert facts["n_variables"] == 3
    assert facts["status"] == "complete"
    assert facts["empty_network"] == pytest.approx(3 * -9.560219491613)


def test_info_shows_the_states(data: Path) -> None:
    done = twbn("info", data)
    assert done.returncode == 0
    assert "12 rows, 3 variables" in done.stdout
    facts = json.loads(twbn("info", data, "--json").stdout)
    first = {"name": "a", "kind": "few numbers", "states": [0, 1], "n_missing": 0}
    assert facts["variables"][0] == {**first, "share_missing": 0.0, "findings": []}
    assert facts["command"] == f"twbn learn {data}"


def test_treewidth_gives_bounds_width_and_proof(tmp_path: Path) -> None:
    graph = tmp_path / "g.gr"
    graph.write_text(GRAPH, encoding="utf-8")
    proof = tmp_path / "g.td"
    facts = json.loads(twbn("treewidth", graph, "--exact", "--json", "-o", proof).stdout)
    assert facts["treewidth"] == 2
    assert read_td(proof, read_gr(graph)).width == 2
    assert "treewidth 2" in twbn("treewidth", graph).stdout


def test_learn_writes_a_result_that_verifies(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    done = twbn("learn", data, "-k", 1, "--max-iterations", 200, "--score", "bic", "-o", target)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "treewidth 1, proved by" in done.stdout
    checked = twbn("verify", target, "--data", data)
    assert checked.returncode == 0, checked.stderr
    assert "verified: score" in checked.stdout


def test_learn_prints_json_for_machines(data: Path) -> None:
    facts = json.loads(
        twbn("learn", data, "-k", 2, "--method", "sample", "--max-iterations", 50, "--json").stdout
    )
    wanted = "method status score bound gap treewidth n_variables n_iterations seconds seed parents"
    assert set(wanted.split()) <= set(facts)
    assert facts["method"] == "sample"
    assert facts["status"] == "iteration_limit"
    assert facts["n_iterations"] == 50
    assert set(facts["parents"]) == {"a", "b", "c"}


@pytest.mark.slow
def test_the_exact_portfolio_proves_housing() -> None:
    data = shared_path("uci/binary/housing.csv")
    options = ["-k", 4, "--max-parents", 3, "--method", "exact", "--time-limit", 60, "--json"]
    facts = json.loads(twbn("learn", data, *options).stdout)
    assert (facts["status"], facts["gap"]) == ("optimal", 0.0)
    assert facts["score"] == pytest.approx(-3159.1071, abs=5e-5)


def test_learn_takes_score_files_and_polish(data: Path, tmp_path: Path) -> None:
    scores, target = tmp_path / "s.jkl", tmp_path / "r.json"
    assert twbn("score", data, "--names", "-o", scores).returncode == 0
    done = twbn("learn", scores, "-k", 1, "--max-iterations", 20, "--polish", "-o", target)
    assert done.returncode == 0, done.stderr
    assert twbn("verify", target, "--data", scores).returncode == 0
    assert twbn("learn", scores, "--score", "bic").returncode == 2  # scored already
    other = twbn("verify", target, "--data", data)
    assert other.returncode == 2
    assert "was learned with scores from s.jkl" in other.stderr


def test_reading_options_travel_with_the_result(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(80, 3))
    lines = [";".join([str(i), *(f"{x:.4f}" for x in row)]) for i, row in enumerate(numbers)]
    rows = "\n".join(lines)
    path, target = tmp_path / "d.csv", tmp_path / "r.json"
    path.write_text("id;x;y;z\n" + rows + "\n", encoding="utf-8")
    options = ["--drop", "id", "--discretize", "quantile", "--bins", "3"]
    assert (
        twbn("learn", path, "-k", 1, "--max-iterations", 20, "-o", target, *options).returncode == 0
    )
    assert twbn("verify", target, "--data", path).returncode == 0


def test_verify_says_what_is_wrong(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    twbn("learn", data, "-k", 1, "--max-iterations", 200, "-o", target)
    document = json.loads(target.read_text(encoding="utf-8"))
    document["score"] += 1
    target.write_text(json.dumps(document), encoding="utf-8")
    done = twbn("verify", target, "--data", data)
    assert done.returncode == 1
    assert "wrong: the score is" in done.stderr
    facts = json.loads(twbn("verify", target, "--data", data, "--json").stdout)
    assert facts["verified"] is False


def test_ktree_codes_go_both_ways() -> None:
    code = ["--n", 11, "--k", 3, "--q", "2,3,9", "--s", "0:e,2:1,8:3,8:2,1:3,5:3"]
    edges = json.loads(twbn("ktree", "decode", *code, "--json").stdout)["edges"]
    assert edges[:3] == [[1, 2], [1, 5], [1, 7]]
    assert len(edges) == 27
    text = ",".join(f"{u}-{v}" for u, v in edges)
    back = json.loads(
        twbn("ktree", "encode", "--n", 11, "--k", 3, "--edges", text, "--json").stdout
    )
    assert back == {"q": [2, 3, 9], "s": ["0:e", "2:1", "8:3", "8:2", "1:3", "5:3"]}
    drawn = json.loads(twbn("ktree", "sample", "--n", 6, "--k", 2, "--count", 3, "--json").stdout)
    assert drawn["count"] == 1215
    many = json.loads(twbn("ktree", "sample", "--n", 3000, "--k", 3, "--json").stdout)
    assert many["count"] is None
    assert 11_000 < many["log10_count"] < 13_000
    assert [len(tree["edges"]) for tree in drawn["ktrees"]] == [9, 9, 9]


def test_ctrl_c_while_learning_keeps_the_best(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "r.json"
    done = interrupted_command(
        "learn", data, "-k", "1", "--time-limit", "1000", "-o", target, "--method", "sample",
        "--score", "k2",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "interrupted" in done.stdout
    assert twbn("verify", target, "--data", data).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["score", "nowhere.csv"], 1, "nowhere.csv: no such file"),
        (["score", "{data}", "--score", "bge"], 2, "unknown score 'bge'"),
        (["score", "{data}", "--ess", "-1"], 2, "must be a positive number, got -1"),
        (["score", "{data}", "--max-parents", "x"], 2, "Invalid value for '--max-parents'"),
        (["score", "{data}", "--drop", "z"], 2, "unknown column 'z'"),
        (
            ["score", "{data}", "--time-limit", "0"],
            2,
            "--time-limit must be a positive number of seconds",
        ),
        (["score", "{data}", "-o", "no/such/folder/x.jkl"], 2, "is not a folder"),
        (["score", "{data}", "-o", "."], 2, "is a folder, not a file to write"),
        (
            ["score", "{data}", "--memory-limit", "inf"],
            2,
            "--memory-limit must be a positive, finite number",
        ),
        (["treewidth", "{data}", "-o", "no/such/folder/x.td"], 2, "is not a folder"),
        (["score"], 2, "Missing argument"),
        (["learn", "{data}", "-k", "0"], 2, "treewidth must be a whole number, 1 or more, got 0"),
        (["learn", "{data}", "--method", "magic"], 2, "unknown method 'magic'"),
        (["learn", "{data}", "--time-limit", "0"], 2, "--time-limit must be a positive number"),
        (["learn", "{data}", "-k", "20", "--polish", "--seed", "-1"], 2, "seed must be"),
        (["ktree", "sample", "--n", "6", "--k", "2", "--seed", "-1"], 2, "seed must be a whole"),
        (["learn", "{data}", "--seed", "x"], 2, "Invalid value for '--seed'"),
        (["learn", "{data}", "--seed", "-3"], 2, "seed must be a whole number, 0 or more"),
        (["verify", "{data}", "--data", "{data}"], 1, "not a JSON file"),
        (["ktree", "decode", "--n", "5", "--k", "2", "--q", "1,2"], 1, "1 symbols, got 0"),
        (["ktree", "decode", "--n", "5", "--k", "2", "--q", "1", "--s", "0:e"], 2, "2 labels"),
        (["ktree", "decode", "--n", "5", "--k", "2", "--q", "1,2", "--s", "x"], 2, "such as 0:e"),
        (["ktree", "encode", "--n", "4", "--k", "2", "--edges", "1-2"], 1, "is no 2-tree"),
        (["ktree", "sample", "--n", "2", "--k", "4"], 2, "n must be at least 5 for k = 4"),
        (["nonsense"], 2, "No such command"),
        (["treewidth", "{data}"], 1, "expected 'p tw VERTICES EDGES' first"),
        (["info", "{data}", "--discretize", "deciles"], 2, "discretize must be one of"),
    ],
)
def test_mistakes_get_one_line_and_an_exit_code(
    data: Path, arguments: list[str], code: int, message: str, here: Command
) -> None:
    done = here(*(a.format(data=data) for a in arguments))
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_advice_is_given_in_options(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\n0,p,0\n1,q,0\n0,r,1\n", encoding="utf-8")
    done = twbn("score", path)
    assert done.returncode == 1
    assert "'b', which has 3 values, each of them once, like an identifier" in done.stderr
    assert "--drop 'b'" in done.stderr
    assert twbn("score", path, "--drop", "b").returncode == 0
    assert twbn("score", path, "--drop", "unusable").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_while_scoring_keeps_the_complete_sizes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = "\n".join(",".join(map(str, row)) for row in rng.integers(0, 2, (3000, 90)))
    path = tmp_path / "wide.csv"
    path.write_text(rows + "\n", encoding="utf-8")
    target = tmp_path / "out.jkl"
    # The first report comes well inside the hundreds of seconds that the job would take.
    done = interrupted_command("score", path, "--max-parents", "5", "-o", target, after=10)
    assert done.returncode == 0, done.stderr
    assert "stopped early (interrupted)" in done.stdout
    assert read_jkl(target).n_variables == 90


def test_the_built_in_example_loads() -> None:
    table = datasets.load("wdbc")
    assert (table.n_rows, table.n_variables) == (569, 31)


def test_treewidth_by_the_papers_program(tmp_path: Path) -> None:
    path = tmp_path / "square.gr"
    path.write_text("p tw 4 4\n1 2\n2 3\n3 4\n4 1\n")
    done = twbn("treewidth", str(path), "--method", "milp", "--json")
    found = json.loads(done.stdout)
    assert (found["treewidth"], found["status"]) == (2, "optimal")
    assert sorted(found["elimination_order"]) == [1, 2, 3, 4]
    assert found["chordalisation"] in ([[1, 3]], [[2, 4]])
    wrong = twbn("treewidth", str(path), "--method", "x")
    assert (wrong.returncode, "got 'x'" in wrong.stderr) == (2, True)


def test_a_bound_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("a,b,c\n" + "0,0,1\n1,1,0\n0,0,0\n1,1,1\n" * 9)
    found = json.loads(twbn("bound", str(path), "-k", "1", "--json").stdout)
    best = json.loads(twbn("learn", str(path), "-k", "1", "--method", "exact", "--json").stdout)
    assert best["status"] == "optimal"
    assert found["bound"] >= best["score"] - 1e-9
    assert "no structure of treewidth at most 1" in twbn("bound", str(path), "-k", "1").stdout


# Networks


def test_from_a_table_to_answers(tmp_path: Path) -> None:
    data = tmp_path / "d.csv"
    data.write_text("rain,grass\n" + "no,dry\n" * 6 + "no,wet\n" * 2 + "yes,wet\n" * 4)
    result, net = tmp_path / "r.json", tmp_path / "n.json"
    assert twbn("learn", data, "-k", "1", "--max-iterations", "10", "-o", result).returncode == 0
    assert twbn("fit", result, "--data", data, "--ess", "0", "-o", net).returncode == 0
    done = twbn("query", net, "-q", "rain", "-e", "grass=wet", "--json")
    assert json.loads(done.stdout)["rain"] == pytest.approx({"no": 1 / 3, "yes": 2 / 3})
    explained = (
        "query",
        net,
        "-q",
        "rain",
        "-e",
        "grass=wet",
        "--explain",
        "--memory-limit",
        "1GiB",
    )
    assert "2 relevant variables, width 0, 2 entries" in twbn(*explained).stdout
    cost = json.loads(twbn(*explained, "--json").stdout)["costs"]["rain"]
    assert (cost["relevant"], cost["n_passes"]) == (["rain", "grass"], 1)
    done = twbn("query", net, "-q", "rain", "--memory-limit", "some")
    assert done.returncode == 2
    assert "--memory-limit must be a number of GiB" in done.stderr
    done = twbn("mpe", net, "-e", "grass=wet", "--json")
    assert json.loads(done.stdout)["states"] == {"rain": "yes", "grass": "wet"}
    assert "rain=no" in twbn("mpe", net).stdout
    done = twbn("map", net, "-q", "rain", "-e", "grass=wet", "--json")
    assert json.loads(done.stdout)["states"] == {"rain": "yes"}
    gaps = tmp_path / "gaps.csv"
    gaps.write_text("grass,rain\nwet,?\n?,yes\ndry,\n")
    filled = tmp_path / "filled.csv"
    done = twbn("impute", gaps, "--net", net, "--missing", "?", "-o", filled)
    assert "3 cells filled" in done.stdout
    assert filled.read_text() == "grass,rain\nwet,yes\nwet,yes\ndry,no\n"
    new = tmp_path / "new.csv"
    new.write_text("grass,other\nwet,1\ndry,2\n")
    lines = twbn("predict", new, "--net", net, "-q", "rain").stdout.splitlines()
    assert lines[0] == "rain,P(rain=no),P(rain=yes)"
    assert [line.split(",")[0] for line in lines[1:]] == ["yes", "no"]
    bif = tmp_path / "n.bif"
    assert twbn("convert", net, bif).returncode == 0
    assert "0.666667  yes" in twbn("query", bif, "-q", "rain", "-e", "grass=wet").stdout
    done = twbn("compare", net, bif, "--data", data, "--json")
    report = json.loads(done.stdout)
    assert report["equivalent"]
    assert report["log_likelihood_first"] == pytest.approx(report["log_likelihood_second"])
    rows = twbn("sample", bif, "-n", "5", "--seed", "3").stdout.splitlines()
    assert rows[0] == "rain,grass"
    assert len(rows) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-q", "rian"], "unknown variable 'rian'; did you mean 'rain'?"),
        (
            ["-q", "rain", "-e", "grass=wett"],
            "unknown state 'wett' of variable 'grass'; did you mean 'wet'?",
        ),
        (["-q", "rain", "-e", "grass"], "evidence must be VARIABLE=STATE, got 'grass'"),
        (["-q", "rain", "-e", "grass=wet", "-e", "grass=dry"], "evidence contradicts itself"),
        (["-q", "rain", "-e", "grass=dry", "-e", "rain=yes"], "the evidence has probability zero"),
    ],
)
def test_bad_questions_are_answered_clearly(
    arguments: list[str], message: str, tmp_path: Path
) -> None:
    net = tmp_path / "n.bif"
    net.write_text(
        "variable rain { type discrete [2] { no, yes }; }\n"
        "variable grass { type discrete [2] { dry, wet }; }\n"
        "probability ( rain ) { table 0.8, 0.2; }\n"
        "probability ( grass | rain ) { (no) 0.9, 0.1; (yes) 0.0, 1.0; }\n"
    )
    done = twbn("query", net, *arguments)
    assert done.returncode in {1, 2}
    assert message in done.stderr
    assert "Traceback" not in done.stderr


# Files that are not what they should be


def assert_refused(done: subprocess.CompletedProcess[str], *parts: str, code: int = 1) -> None:
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    for part in parts:
        assert part in done.stderr


def test_a_table_of_blanks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('"\n"', encoding="utf-8")
    assert_refused(twbn("info", path), "has no rows")


@pytest.mark.parametrize("command", ["report", "query", "verify"])
def test_a_file_that_is_too_deep_is_refused(tmp_path: Path, data: Path, command: str) -> None:
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000, encoding="utf-8")
    arguments = {
        "report": ("-o", tmp_path / "page.html"), "query": ("-q", "a"), "verify": ("--data", data)
    }[command]  # fmt: skip
    assert_refused(twbn(command, path, *arguments), "deep.json: not ")


def test_running_out_of_memory_is_one_line(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import twbn as library
    from twbn.cli import run

    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(library, "read_table", full)
    assert run(["info", str(data)]) == 1
    assert capsys.readouterr().err.startswith("error: out of memory")


def test_a_name_that_is_no_text_can_be_printed(tmp_path: Path) -> None:

    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)  # noqa: PTH102
    target = os.fsdecode(folder + b"/net.json")
    net = tmp_path / "net.bif"
    net.write_text(
        "network n { }\nvariable a { type discrete [ 2 ] { x, y }; }\n"
        "probability ( a ) { table 0.5, 0.5; }\n",
        encoding="utf-8",
    )
    done = twbn("convert", net, target)
    assert (done.returncode, done.stderr) == (0, "")
    assert "written to" in done.stdout


@pytest.mark.parametrize("ending", [".bif", ".xmlbif", ".uai", ".net", ".bif.gz"])
def test_learn_writes_no_result_into_the_file_of_a_network(data: Path, ending: str) -> None:
    target = data.with_name(f"x{ending}")
    done = twbn("learn", data, "-k", 1, "-o", target)
    assert_refused(done, "is for networks with parameters", "twbn fit", code=2)
    assert not target.exists()


@pytest.mark.parametrize(
    "option",
    [
        ("--discretize", "uniform"), ("--bins", "3"), ("--no-header",), ("--header",),
        ("--delimiter", ";"), ("--drop", "a"), ("--weights", "a"), ("--missing", "?"),
        ("--score", "bic"), ("--ess", "2"), ("--max-parents", "2"),
    ],
    ids=lambda option: option[0],
)  # fmt: skip
@pytest.mark.parametrize("command", ["learn", "bound"])
def test_options_of_tables_do_not_go_with_scores(
    tmp_path: Path, command: str, option: tuple[str, ...], here: Command
) -> None:
    path = tmp_path / "x.jkl"
    path.write_text("2\n0 1\n-1 0\n1 2\n-2 0\n-1 1 0\n", encoding="utf-8")
    name = "--header" if option[0] == "--no-header" else option[0]
    done = here(command, path, "-k", 1, *option)
    assert_refused(done, f"{name} would have no effect", code=2)


def test_fit_of_a_bad_result_speaks_of_the_result(tmp_path: Path, data: Path) -> None:
    result = tmp_path / "result.json"
    assert twbn("learn", data, "-k", 1, "-o", result).returncode == 0
    document = json.loads(result.read_text(encoding="utf-8"))
    document["parents"] = {"a": ["b"], "b": ["a"], "c": []}
    result.write_text(json.dumps(document), encoding="utf-8")
    done = twbn("fit", result, "--data", data, "-o", tmp_path / "net.json")
    assert_refused(done, "cycle")
    assert "start" not in done.stderr


def test_what_to_install_can_be_installed() -> None:
    """Names of packages that the registry has, not of ours."""
    source = Path(__file__).parents[1] / "src"
    for path in source.rglob("*.py"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert "pip install 'twbn[" not in line, f"{path}: {line}"
