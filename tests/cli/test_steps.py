"""Steps of a Universal Transformer: told for every token, and chosen at run time."""

import json
from pathlib import Path

import pytest

import regard
from regard.errors import UserError

NAMES = ("source_steps", "source_ponder", "steps", "ponder")
TEXTS = ["abcdefgh", "h", "bead", "face", "gag"]


def universal(adaptive: str) -> dict:
    both = {"kind": "universal_transformer", "steps": 6, "heads": 2, "feed_forward_size": 9}
    both |= {"adaptive": adaptive, "norm": "pre"}
    return {"embedding": {"size": 8}, "encoder": both, "decoder": both}


@pytest.fixture(scope="module")
def runs(untrained_run, tmp_path_factory) -> dict[str, Path]:
    """By name: a model with adaptive steps, one with fixed steps, one without any."""
    out = tmp_path_factory.mktemp("steps")
    models = {name: universal(name) for name in ("graves", "none")}
    models["recurrent"] = {"embedding": {"size": 8}}
    return {name: untrained_run(out / name, models[name], spread=1.0) for name in models}


@pytest.fixture
def lines(tmp_path) -> Path:
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def pairs(tmp_path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{text}\t{text[::-1]}\n" for text in TEXTS), encoding="utf-8")
    return path


@pytest.mark.parametrize("options", [{"beam": 3}, {"beam": 1}, {"sample": True}])
def test_every_token_has_its_steps(runs, options):
    answers = regard.load(runs["graves"]).translate(TEXTS, **options)
    seen = set()
    for answer in answers:
        for tokens, steps, ponder in (
            (answer.source_tokens, answer.source_steps, answer.source_ponder),
            (answer.tokens, answer.steps, answer.ponder),
        ):
            assert len(tokens) == len(steps) == len(ponder)
            for taken, cost in zip(steps, ponder, strict=True):
                assert isinstance(taken, int) and 1 <= taken <= 6
                assert taken <= cost <= taken + 1
            seen.update(steps)
    assert len(seen) > 1


def test_batch_and_order_change_no_steps(runs):
    model = regard.load(runs["graves"])
    together = model.translate(TEXTS, beam=3, nbest=3)
    alone = [model.translate([text], beam=3)[0] for text in TEXTS]
    turned = model.translate(TEXTS[::-1], beam=3, batch_size=2)[::-1]
    scored = model.score([(t, a.tokens) for t, a in zip(TEXTS, together, strict=True)])
    for answer, *others in zip(together, alone, turned, scored, strict=True):
        for other in others:
            assert (other.steps, other.source_steps) == (answer.steps, answer.source_steps)
            assert other.ponder == pytest.approx(answer.ponder, abs=1e-5)
            assert other.source_ponder == pytest.approx(answer.source_ponder, abs=1e-5)
    for answer in model.translate(TEXTS, attention=False):
        assert answer.steps == answer.source_steps == answer.ponder == answer.source_ponder == ()


def test_translate_and_score_print_them(runs, run_text, lines, pairs):
    lines.write_text("\n".join([*TEXTS, ""]) + "\n", encoding="utf-8")
    expected = regard.load(runs["graves"]).translate(TEXTS)
    code, out, _ = run_text("translate", "--model", runs["graves"], lines, "--json")
    *rows, blank = map(json.loads, out.splitlines())
    assert code == 0 and not set(NAMES) & blank.keys()
    for row, answer in zip(rows, expected, strict=True):
        assert row["steps"] == list(answer.steps)
        assert row["source_steps"] == list(answer.source_steps)
        assert row["ponder"] == pytest.approx(answer.ponder, abs=1e-5)
        assert row["source_ponder"] == pytest.approx(answer.source_ponder, abs=1e-5)
    code, out, _ = run_text("score", "--model", runs["graves"], "--data", pairs, "--json")
    for row in map(json.loads, out.splitlines()):
        assert [len(row[name]) for name in NAMES[:2]] == [len(row["source_tokens"])] * 2
        assert [len(row[name]) for name in NAMES[2:]] == [len(row["tokens"])] * 2
    for other in ("none", "recurrent"):
        code, out, _ = run_text("translate", "--model", runs[other], lines, "--json")
        assert code == 0
        assert not any(set(NAMES) & json.loads(line).keys() for line in out.splitlines())


def test_show_draws_them(runs, run_text, tmp_path):
    (answer,) = regard.load(runs["graves"]).translate(["face"])
    for suffix in ("json", "svg", "html", "png"):
        out = tmp_path / f"x.{suffix}"
        code, _, said = run_text("show", "--model", runs["graves"], "face", "--out", out)
        assert code == 0, said
        if suffix == "json":
            data = json.loads(out.read_bytes())
            assert [data[name] for name in NAMES] == [list(getattr(answer, name)) for name in NAMES]
        elif suffix != "png":
            text = out.read_text(encoding="utf-8")
            took = f"f: {answer.source_steps[0]} step"
            assert took in text and "with the remainder)" in text
            assert text.count("</title></rect>") >= len(answer.steps) + len(answer.source_steps)
    code, _, _ = run_text("show", "--model", runs["none"], "face", "--out", tmp_path / "y.json")
    assert code == 0 and not set(NAMES) & json.loads((tmp_path / "y.json").read_bytes()).keys()


def test_steps_are_chosen_at_run_time(runs, run_text, lines, pairs, tmp_path):
    """Of fixed steps the number is what is made, of adaptive ones the most."""
    few = regard.load(runs["graves"], steps=2)
    for answer in few.translate(TEXTS):
        assert set(answer.steps) | set(answer.source_steps) <= {1, 2}
    assert few.configuration.model.encoder.steps == few.configuration.model.decoder.steps == 2
    asked = [(text, text[::-1]) for text in TEXTS]
    own, same, other = (
        [answer.score for answer in regard.load(runs["none"], **steps).score(asked)]
        for steps in ({}, {"steps": 6}, {"steps": 3})
    )
    assert own == same and all(a != b for a, b in zip(own, other, strict=True))
    expected = [answer.text for answer in regard.load(runs["none"], steps=3).translate(TEXTS)]
    model = ("--model", runs["none"], "--steps", 3)
    assert run_text("translate", *model, lines)[1].splitlines() == expected
    code, out, _ = run_text("score", *model, "--data", pairs)
    assert [float(line.split("\t")[0]) for line in out.splitlines()] == pytest.approx(
        other, abs=1e-4
    )
    hypotheses = tmp_path / "hypotheses.txt"
    assert run_text("evaluate", *model, "--data", pairs, "--output", hypotheses)[0] == 0
    assert hypotheses.read_text(encoding="utf-8").splitlines() == expected
    code, out, _ = run_text("show", *model, TEXTS[0], "--out", tmp_path / "x.svg")
    assert (code, out.splitlines()) == (0, expected[:1])


@pytest.mark.parametrize("verb", ["translate", "evaluate", "score", "show"])
def test_steps_that_cannot_be_chosen(runs, run_text, lines, pairs, tmp_path, verb):
    rest = {"translate": [lines], "show": ["face", "--out", tmp_path / "x.svg"]}
    rest |= {name: ["--data", pairs] for name in ("evaluate", "score")}
    for name, steps, said in (
        ("recurrent", 3, "steps can be chosen for a Universal Transformer alone"),
        ("graves", 0, "--steps"),
        ("graves", -1, "--steps"),
        ("graves", "many", "--steps"),
    ):
        code, out, error = run_text(verb, "--model", runs[name], *rest[verb], "--steps", steps)
        (line,) = [each for each in error.splitlines() if each.startswith("regard: error: ")]
        assert (code, out) == (2, "") and said in line and "Traceback" not in error
        if name == "recurrent":
            assert str(runs[name]) in line and "'recurrent'" in line
    assert not (tmp_path / "x.svg").exists()


def test_python_says_so_too(runs):
    with pytest.raises(UserError, match="steps is 0; it must be at least 1"):
        regard.load(runs["graves"], steps=0)
    with pytest.raises(UserError, match="recurrent: steps can be chosen for"):
        regard.load(runs["graves"], runs["recurrent"], steps=2)


def test_an_ensemble_has_the_mean(runs, untrained_run, tmp_path):
    other = untrained_run(tmp_path / "other", universal("graves"), seed=8, spread=1.0)
    model = regard.load(runs["graves"], other, runs["none"])
    for answer in model.translate(TEXTS):
        assert len(answer.steps) == len(answer.tokens)
        assert all(taken * 2 == int(taken * 2) for taken in answer.steps)
    read = [
        regard.load(each).translate(["face"])[0].source_steps for each in (runs["graves"], other)
    ]
    (both,) = model.translate(["face"])
    assert both.source_steps == tuple((a + b) / 2 for a, b in zip(*read, strict=True))
