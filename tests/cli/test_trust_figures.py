"""`evaluate --trust`: the figures of the library, in JSON and in a table."""

import json

import pytest

import regard
from regard.cli.trust_figures import trust_table
from regard.evaluation import Interval
from regard.evaluation.trust import Agreement, Estimate, Trust


@pytest.fixture
def pairs(scenes_data, tmp_path):
    """Six pairs."""
    for side in ("en", "de"):
        lines = (scenes_data / f"test.{side}").read_text(encoding="utf-8").split("\n")[:6]
        (tmp_path / f"six.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "six"


def test_the_figures_of_the_library(run_text, trained_run, pairs):
    command = ("evaluate", "--model", trained_run, "--data", pairs, "--source", "en", "--trust")
    code, out, _ = run_text(*command, "--target", "de", "--threads", 1, "--json", "--resamples", 50)
    assert code == 0
    model = regard.load(trained_run)
    texts = (pairs.parent / "six.en").read_text(encoding="utf-8").split("\n")[:-1]
    trust = model.trust(texts, resamples=50)
    told = json.loads(out)["trust"]
    assert told["sources"] == trust.sources == 6
    for how in ("hidden", "removed"):
        for name, agreement in (("attention", trust.attention), ("random", trust.random)):
            figures = told[how][name]
            expected = agreement[how].as_dict()
            for figure in ("kendall_tau_b", "most_attended_is_most_important"):
                assert figures[figure]["value"] == pytest.approx(
                    expected[figure]["value"], abs=1e-3
                )
                assert figures[figure]["interval"]["level"] == 0.95


def test_a_model_without_attention(run_text, untrained_run, tmp_path):
    attends = {"kind": "recurrent", "size": 8, "attend": "never", "constant_context": True}
    made = untrained_run(tmp_path / "run", {"decoder": attends})
    (tmp_path / "pairs.tsv").write_text("abc\tcba\nabd\tdba\n", encoding="utf-8")
    code, out, said = run_text(
        "evaluate", "--model", made, "--data", tmp_path / "pairs.tsv", "--trust"
    )
    assert (code, out) == (2, "")
    assert "error: this model has no attention" in said


def test_the_table():
    def agreement(value: float) -> Agreement:
        return Agreement(Estimate(value, Interval(value - 0.1, value + 0.1, 0.95)), Estimate(50))

    trust = Trust(
        {"hidden": agreement(0.5)}, {"hidden": agreement(-0.001)}, 3, 1200, 1, at_end=12.34
    )
    lines = trust_table(trust)
    assert lines[2].split()[:4] == ["hidden", "from", "attention", "attention"]
    assert lines[2].split()[4:] == ["0.50", "0.40", "to", "0.60", "50.0"]
    assert lines[3].split()[-5:] == ["0.00", "-0.10", "to", "0.10", "50.0"]
    assert lines[-1] == (
        "3 sources, 1,200 written tokens; 1 source of one token left out; not ranked: the end "
        "symbol, which gets 12.3 % of attention"
    )
