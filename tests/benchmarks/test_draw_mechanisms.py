"""The pictures of docs/mechanisms: all there, small and whole; drawn again they are the same."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

import draw_mechanisms
from draw_mechanisms import DIRECTORY, PICTURES
from pictures import copying, drawing_lots, hard_alignments, translator
from pictures.alignments import _heads
from pictures.bottleneck import influence
from pictures.translator import attentional, recurrent, train_translator, transformer

PAGES = Path(__file__).parents[2] / "docs" / "mechanisms"


def test_pages_show_what_the_program_draws() -> None:
    shown = set()
    for page in PAGES.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        pictures = re.findall(r"\(\.\./images/mechanisms/([\w-]+)\.svg\)", text)
        assert pictures or page.name == "README.md", page.name
        shown |= set(pictures)
    assert shown == {path.stem for path in DIRECTORY.glob("*.svg")}
    measured = {"bottleneck", "bottleneck-translation"}  # drawn by what measures them
    assert shown == {*PICTURES, *measured}


@pytest.mark.parametrize("path", sorted(DIRECTORY.glob("*.svg")), ids=lambda path: path.stem)
def test_files_are_small_and_whole(path: Path) -> None:
    assert path.stat().st_size < 60_000
    root = ElementTree.fromstring(path.read_bytes())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [element for element in root.iter() if element.tag.endswith("}text")]
    assert texts  # words are words, not outlines


def test_the_same_picture_every_time(tmp_path: Path) -> None:
    name = "masks-and-memories"
    assert draw_mechanisms.main([name, "--out", str(tmp_path)]) == 0
    drawn = (tmp_path / f"{name}.svg").read_bytes()
    assert PICTURES[name]().encode() == drawn
    ElementTree.fromstring(drawn)


def test_an_unknown_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert draw_mechanisms.main(["monolith"]) == 2
    assert "monolith is none of additive, " in capsys.readouterr().err


def test_estimates_of_the_gradient_come_near_the_exact_one() -> None:
    problem = drawing_lots.make_problem()
    exact = drawing_lots.exact_gradient(problem)
    generator = torch.Generator().manual_seed(1)
    mean = drawing_lots.mean_reward(problem)
    found = drawing_lots.estimate(problem, 50_000, mean, generator)
    assert (found - exact).norm() < 0.1 * exact.norm()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(translator, "SCENES", 40)
    monkeypatch.setattr(translator, "HELD_OUT", 8)


def test_translators_are_trained_and_looked_into(few: None) -> None:
    trained = train_translator(attentional("dot"), updates=25)
    first = train_translator(attentional("dot"), updates=1)
    assert trained.grade()[1] < 0.9 * first.grade()[1]
    view = trained.view(trained.weights())
    assert (len(view.tokens), len(view.source_tokens)) == (13, 14)
    assert [sum(row) for row in view.attention] == pytest.approx([1.0] * 13, abs=1e-5)
    supervised = train_translator(attentional("dot"), updates=25, supervised=True)
    assert supervised.grade()[0] < trained.grade()[0]


def test_every_head_and_every_word(few: None) -> None:
    trained = train_translator(transformer(), updates=1)
    (heads,) = _heads(trained, "cross_attention")
    assert heads.shape == (4, 13, 14)
    assert torch.allclose(heads.mean(0), trained.weights(), atol=1e-6)
    (back,) = _heads(trained, "self_attention")
    assert back.triu(1).abs().max() == 0
    shares, probability = influence(train_translator(recurrent(), updates=1))
    assert shares.sum(1).tolist() == pytest.approx([1.0] * 13, abs=1e-5)
    assert 0 < probability < 1


def test_origins_of_what_is_written() -> None:
    """All of a symbol's probability, wherever it comes from; what was never seen is copied."""
    for word in copying.EXAMPLES.values():
        rows = copying.origins(word, updates=1)
        assert rows.shape == (len(word) + 4, 1 + len(word) + 1)
        assert rows.sum(1).tolist() == pytest.approx([1.0] * len(rows), abs=1e-5)
        assert (rows[:, -1] == 0).all()  # the end is never copied
        unseen = [i for i, letter in enumerate(word) if letter in "vjh"]
        assert rows[unseen, 0].eq(0).all() and rows[len(word), 0] > 0


def test_pronouncers_are_trained_and_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hard_alignments, "GRADED", 20)
    pronouncer = hard_alignments.Pronouncer("1-MONO", updates=1)
    pair = hard_alignments._example().pair
    rows = pronouncer.read([pair])[0]
    assert rows.shape == (len(pair.target.split()) + 1, len(pair.source) + 1)
    assert rows.sum(1).tolist() == pytest.approx([1.0] * len(rows), abs=1e-4)
    assert 0 <= pronouncer.error_rate() <= 1
