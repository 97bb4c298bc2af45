"""What `evaluate` tells besides its figures: intervals, seen and unseen, a baseline, confusions."""

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def data(trained_run, scenes_data, tmp_path_factory) -> Path:
    """Twelve pairs, four of which are in the training data, one of these with another target."""

    def lines(name: str) -> list[str]:
        return (scenes_data / name).read_bytes().decode("utf-8").split("\n")

    rows = list(zip(lines("train.en")[:4], lines("train.de")[:4], strict=True))
    rows += list(zip(lines("test.en")[:8], lines("test.de")[:8], strict=True))
    rows[0] = (rows[0][0], "etwas anderes")
    path = tmp_path_factory.mktemp("evaluate") / "pairs"
    for side, texts in zip(("en", "de"), zip(*rows, strict=True), strict=True):
        (path.parent / f"pairs.{side}").write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def command(run: Path, data: Path, *more: object) -> list[object]:
    sides = ("--source", "en", "--target", "de", "--threads", 1)
    return ["evaluate", "--model", run, "--data", data, *sides, *more]


@pytest.fixture(scope="module")
def told(regard, trained_run, scenes_data, data) -> tuple[dict, str]:
    """The JSON with everything, and what was said."""
    more = ("--train", scenes_data / "train", "--confusions", 4, "--moses", "de", "--json")
    done = regard(*command(trained_run, data, *more), check=True)
    return json.loads(done.stdout), done.stderr.decode("utf-8")


def test_intervals_hold_their_figures(told):
    for figure in told[0]["metrics"].values():
        interval = figure["interval"]
        assert interval["low"] <= figure["value"] <= interval["high"]
        assert interval["level"] == 0.95


def test_seen_and_unseen(told):
    facts, said = told
    assert (facts["sources"], facts["seen"]["sources"], facts["unseen"]["sources"]) == (12, 4, 8)
    edits = [facts[part]["metrics"]["exact_match"]["value"] for part in ("seen", "unseen")]
    whole = facts["metrics"]["exact_match"]["value"]
    assert "tok:moses.de" in facts["unseen"]["metrics"]["moses_bleu"]["signature"]
    assert whole == pytest.approx((4 * edits[0] + 8 * edits[1]) / 12)
    assert "12 pairs" in said and "594 pairs" in said


def test_the_baseline_memorizes_what_was_seen_and_copies_the_rest(told):
    baseline = told[0]["baseline"]
    assert baseline["seen"]["metrics"]["exact_match"]["value"] == 75  # all but the other target
    assert baseline["unseen"]["metrics"]["exact_match"]["value"] == 0
    assert baseline["metrics"]["exact_match"]["value"] == 25
    assert 0 < baseline["seen"]["metrics"]["bleu"]["value"] < 100


def test_confusions_add_up(told):
    confusions = told[0]["confusions"]
    assert len(confusions["most_frequent"]) == 4
    kinds = ("substitutions", "deletions", "insertions")
    assert confusions["edits"] == sum(confusions[kind] for kind in kinds) > 4
    counts = [each["count"] for each in confusions["most_frequent"]]
    assert counts == sorted(counts, reverse=True)
    for each in confusions["most_frequent"]:
        assert each["expected"] is None or each["expected"] in each["target"].split()
        assert each["given"] is None or each["given"] in each["output"].split()


def test_tables_say_the_same(run_text, trained_run, scenes_data, data, told):
    more = ("--train", scenes_data / "train", "--confusions", 4)
    _, shown, _ = run_text(*command(trained_run, data, *more))
    rows = [line.split() for line in shown.split("\n")]
    assert ["metric", "%", "95", "%", "interval", "better", "signature"] in rows
    value = f"{told[0]['baseline']['seen']['metrics']['bleu']['value']:.2f}"
    assert any(row[:6] == ["seen", "4", "copy", "or", "memorize", value] for row in rows)
    assert f"{told[0]['confusions']['edits']} edits: " in shown


def test_without_intervals(run_text, trained_run, data):
    _, shown, _ = run_text(*command(trained_run, data, "--resamples", 0, "--json"))
    facts = json.loads(shown)
    assert facts.keys() == {"sources", "references", "metrics", "unreachable"}
    assert all("interval" not in figure for figure in facts["metrics"].values())


def test_every_pair_counts(run_text, trained_run, scenes_data, data, tmp_path):
    for side in ("en", "de"):
        text = (data.parent / f"pairs.{side}").read_text(encoding="utf-8")
        first = text.split("\n")[1]
        other = first if side == "en" else "etwas anderes"
        (tmp_path / f"x.{side}").write_text(f"{first}\n{text}{other}\n", encoding="utf-8")
    more = ("--train", scenes_data / "train", "--json", "--resamples", 0)
    _, once, _ = run_text(*command(trained_run, tmp_path / "x", *more))
    _, each, _ = run_text(*command(trained_run, tmp_path / "x", *more, "--every-pair"))
    once, each = json.loads(once), json.loads(each)
    assert (once["sources"], once["references"]) == (12, 13)
    assert (each["sources"], each["references"], each["seen"]["sources"]) == (14, 14, 6)
    right = each["baseline"]["seen"]["metrics"]["exact_match"]["value"]
    assert right == pytest.approx(100 * 4 / 6)  # twice the same, then the other target


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [
        ("--train", "nowhere", "nowhere"),
        ("--moses", "german", "german"),
        ("--confusions", 0, "--confusions"),
        ("--resamples", -1, "--resamples"),
    ],
)
def test_options_that_make_no_sense(run_text, trained_run, data, option, value, named):
    code, shown, said = run_text(*command(trained_run, data, option, value))
    assert (code, shown) == (2, "")
    assert said.split("\n")[-2].startswith("regard: error: ") and named in said


def test_info_tells_the_baseline(run_text, trained_run):
    _, shown, _ = run_text("info", trained_run, "--json")
    facts = json.loads(shown)
    assert facts["baseline"] >= 0
    assert facts["data"]["validation_seen"] >= 0 == facts["data"]["validation_unreachable"]
    _, shown, _ = run_text("info", trained_run)
    assert f"bleu {facts['baseline']:.2f} by copying or memorizing alone" in shown
