"""The study of the bottleneck, at a size that takes seconds: data, widths, pieces, tables."""

import json
import math
from pathlib import Path

import pytest

import bottleneck
from bottleneck_studies import by_words, joined
from regard.data.pairs import Pair, Pairs
from regard.errors import UserError
from regard.training.recipes import load_recipe
from string_report import by_chance
from strings import LETTERS, copying, reversing
from widths import count_parameters, widths_for

VOCABULARY = copying(LETTERS).vocabulary
SMALL = ["--updates", "2", "--strings", "2", "--parameters", "4000", "--ranges", "20"]


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is measured at lengths that take seconds."""
    for module in ("bottleneck_studies", "bottleneck_report"):
        monkeypatch.setattr(f"{module}.LENGTHS", (5, 20))
    monkeypatch.setattr("pictures.lengths.TICKS", (5, 20))


@pytest.mark.parametrize("recipe", ["luong-dot", "rnnsearch", "transformer-tiny", "lstm-attention"])
def test_widths_give_the_parameters(recipe: str) -> None:
    before = load_recipe(recipe)
    overrides = widths_for(recipe, (), 150_000, VOCABULARY, VOCABULARY)
    after = load_recipe(recipe, overrides)
    assert count_parameters(after, VOCABULARY, VOCABULARY) == pytest.approx(150_000, rel=0.08)
    assert after.model.encoder.layers == before.model.encoder.layers
    old, new = (c.model.encoder for c in (before, after))
    assert old.dropout == new.dropout and old.kind == new.kind


def test_widths_of_a_model_that_copies_between_two_vocabularies() -> None:
    after = load_recipe("pointer", widths_for("pointer", (), 150_000, 30, VOCABULARY))
    assert count_parameters(after, 30, VOCABULARY) == pytest.approx(150_000, rel=0.08)


def test_too_few_parameters_are_an_error() -> None:
    with pytest.raises(UserError, match="cannot have about 10 parameters"):
        widths_for("rnnsearch", (), 10, VOCABULARY, VOCABULARY)


def test_sentences_by_length() -> None:
    texts = [" ".join(["w"] * count) for count in (1, 8, 9, 20, 30)]
    pairs = Pairs(tuple(Pair(text, text) for text in texts), "texts")
    bins = by_words(pairs)
    counts = {name: len(found) for name, found in bins.items()}
    assert counts == {"1-8": 2, "9-11": 1, "20+": 2, "2 joined": 2, "4 joined": 1}
    assert [len(text.split()) for text in joined(pairs, 2).sources()] == [9, 29]


def test_another_string_is_wrong_nearly_everywhere() -> None:
    assert all(80 < rate <= 100 for rate in by_chance(reversing(LETTERS), (5, 20)))


def test_pieces_come_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    for recipe in ("seq2seq", "rnnsearch"):
        piece = ["--parts", "copy", "--models", recipe, "--out", str(out)]
        assert bottleneck.main([*SMALL, *piece]) == 0
    printed = capsys.readouterr().out
    assert printed.count("| rnnsearch") == 2  # both tables of the second call, none of the first
    rows = json.loads((out / "bottleneck.json").read_text(encoding="utf-8"))["rows"]
    assert [(row["recipe"], row["longest"]) for row in rows] == [("rnnsearch", 20), ("seq2seq", 20)]
    assert all(row["updates"] == 2 for row in rows)
    assert math.isclose(rows[0]["parameters"], rows[1]["parameters"], rel_tol=0.1)
    assert set(rows[0]["figures"]) == {"5", "20"}
    assert (out / "bottleneck.svg").read_text(encoding="utf-8").startswith("<?xml")
    first = (out / "copy/20/seq2seq/metrics.jsonl").read_bytes()
    assert (
        bottleneck.main([*SMALL, "--parts", "copy", "--models", "seq2seq", "--out", str(out)]) == 0
    )
    assert (out / "copy/20/seq2seq/metrics.jsonl").read_bytes() == first  # read, not trained again
    other = ["--parts", "copy", "--models", "seq2seq", "--out", str(out), "--parameters", "9000"]
    assert bottleneck.main([*SMALL, *other]) == 2
    assert "with the settings it was started with" in capsys.readouterr().err


def test_translation_needs_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert bottleneck.main(["--parts", "translation"]) == 2
    assert "needs --train, --valid and --test" in capsys.readouterr().err


def test_a_translation(tmp_path: Path) -> None:
    lines = [" ".join(LETTERS[i % 26] * 3 for i in range(n, n + 2 + n % 7)) for n in range(40)]
    for side in ("en", "de"):
        (tmp_path / f"all.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = [
        word for name in ("train", "valid", "test") for word in (f"--{name}", f"{tmp_path}/all")
    ]
    sizes = ["--translation-parameters", "9000", "--translation-updates", "2"]
    out = ["--models", "rnnsearch", "--out", str(tmp_path / "out")]
    assert bottleneck.main(["--parts", "translation", *data, *sizes, *out]) == 0
    table = (tmp_path / "out" / "bottleneck.md").read_text(encoding="utf-8")
    assert "1-8" in table and "4 joined" in table
    assert (tmp_path / "out" / "bottleneck-translation.svg").exists()
