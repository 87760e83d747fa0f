"""The estimator of mixtures, its command, its page."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import twbn
from twbn.cli import run

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

pandas = pytest.importorskip("pandas")

if TYPE_CHECKING:
    from pathlib import Path


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [twbn.TreewidthMixture(2), twbn.TreewidthMixture(max_rounds=3)]
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def customers(n: int = 400, seed: int = 0) -> tuple[Any, Any]:
    """Return a frame of two kinds of customers, with texts, numbers and gaps; and the kinds."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, n)
    frame = pandas.DataFrame(
        {
            "bread": np.where(rng.random(n) < np.where(kind == 1, 0.9, 0.15), "yes", "no"),
            "wine": np.where(rng.random(n) < np.where(kind == 1, 0.1, 0.8), "yes", "no"),
            "spent": rng.normal(np.where(kind == 1, 20.0, 80.0), 12.0).round(2),
            "visits": rng.poisson(np.where(kind == 1, 9, 2)),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.05), kind


def test_customers_are_clustered() -> None:
    frame, kind = customers()
    model = twbn.TreewidthMixture(2, random_state=0).fit(frame)
    right = np.mean(model.labels_ == kind)
    assert max(right, 1 - right) > 0.93
    assert model.predict(frame).tolist() == model.labels_.tolist()
    shares = model.predict_proba(frame)
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(frame)))
    assert model.weights_.tolist() == sorted(model.weights_, reverse=True)
    assert model.score(frame) == pytest.approx(model.score_samples(frame).mean())
    filled = model.transform(frame)
    assert not filled.isna().any().any()
    assert (filled["wine"][frame["wine"].notna()] == frame["wine"].dropna()).all()
    assert model.sample(5, random_state=1).shape == (5, 4)
    again = pickle.loads(pickle.dumps(model))
    assert again.score_samples(frame).tolist() == model.score_samples(frame).tolist()
    same = clone(model).fit(frame)
    assert same.mixture_.equals(model.mixture_)


def test_strange_rows_are_unlikely() -> None:
    frame, _ = customers(600, 1)
    model = twbn.TreewidthMixture(2, random_state=0).fit(frame)
    odd = pandas.DataFrame({"bread": ["yes"], "wine": ["yes"], "spent": [95.0], "visits": [14]})
    assert model.score_samples(odd)[0] < np.quantile(model.score_samples(frame), 0.05)


def test_the_command_learns_and_others_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame, _ = customers(300, 2)
    data, held_out, out, page = (tmp_path / n for n in ("d.csv", "h.csv", "m.json", "m.html"))
    frame[:220].to_csv(data, index=False)
    frame[220:].to_csv(held_out, index=False)
    command = ["mixture", str(data), "-k", "1", "-m", "2", "--max-iterations", "200"]
    command += ["--held-out", str(held_out), "-o", str(out), "--report", str(page)]
    assert run(command) == 0
    told = capsys.readouterr().out
    assert told.startswith("2 components: ")
    assert "mean log-likelihood of the held-out rows" in told
    content = page.read_text(encoding="utf-8")
    assert "what sets it apart" in content
    assert content.count("<svg") == 2
    mixture = twbn.read_mixture(out)
    engine = twbn.MixtureInference(mixture)
    assert run(["query", str(out), "-q", "wine", "-e", "bread=yes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["wine"]
    assert found["yes"] == pytest.approx(engine.query(["wine"], {"bread": "yes"})["yes"])
    assert run(["query", str(out), "-q", "wine", "--do", "bread=yes"]) == 0
    assert run(["mpe", str(out), "-e", "bread=yes"]) == 0
    assert "bread=yes" in capsys.readouterr().out
    filled, predicted, drawn = (tmp_path / n for n in ("f.csv", "p.csv", "s.csv"))
    assert run(["impute", str(data), "--net", str(out), "-o", str(filled)]) == 0
    assert not pandas.read_csv(filled).isna().any().any()
    assert run(["predict", str(data), "--net", str(out), "-q", "wine", "-o", str(predicted)]) == 0
    assert len(predicted.read_text().splitlines()) == 221
    assert run(["sample", str(out), "-n", "7", "-o", str(drawn)]) == 0
    assert len(drawn.read_text().splitlines()) == 8
    assert run(["mpe", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["exact"] is True
    assert run(["report", str(out), "-o", str(page)]) == 0
    damaged = tmp_path / "damaged.JSON"
    damaged.write_text(out.read_text().replace('"weights": [', '"weights": [1.0, ', 1))
    capsys.readouterr()
    assert run(["query", str(damaged), "-q", "wine"]) == 1
    assert "needs as many weights" in " ".join(capsys.readouterr().err.split())
    assert run([*command[:2], "-m", "2", "--max-iterations", "50", "--json"]) == 0
    capsys.readouterr()
    for arguments, words in (
        (["query", str(out), "-q", "wine", "--explain"], "--explain is for single networks"),
        (["mixture", str(data), "-m", "few"], "must be a whole number or auto"),
        (["influence", str(out), "-q", "wine"], "a mixture, and only single networks"),
        (["mixture", str(data), "-m", "2", "-o", "m.bif"], "a mixture is written as JSON"),
        (["mixture", str(data), "-m", "2", "-o", str(data)], "a mixture is written as JSON"),
    ):
        assert run(arguments) != 0
        assert words in " ".join(capsys.readouterr().err.split())


def test_the_page_escapes_names_and_needs_no_script(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    names = ["<script>alert(1)</script>", "b & c"]
    networks = [
        twbn.Network.from_tables(
            {name: ["<i>", "no"] for name in names},
            {names[0]: [], names[1]: [names[0]]},
            {names[0]: rng.dirichlet([1, 1]), names[1]: rng.dirichlet([1, 1], 2)},
        )
        for _ in range(3)
    ]
    mixture = twbn.Mixture([0.5, 0.3, 0.2], networks)
    path = tmp_path / "m.html"
    twbn.write_report(mixture, path)
    content = path.read_text(encoding="utf-8")
    assert "<script" not in content
    assert "&lt;script&gt;alert(1)" in content
    html = mixture._repr_html_()
    assert html is not None
    assert "50.0 %" in html
    assert twbn.MixtureInference(mixture)._repr_html_() is not None
    with pytest.raises(twbn.TwbnError, match="shows neither data nor scores"):
        twbn.write_report(mixture, path, data={"a": [0, 1]})
