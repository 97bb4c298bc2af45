"""Every caption metric beside the reference implementation, that of COCO's evaluation.

Needs what the package does not: `pip install --no-deps pycocoevalcap` (1.2, 105 MB) and `java`.
"""

import random
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from regard.data.scenes import generate_scenes, scene_text
from regard.evaluation.captions import (
    Captions,
    bleu_scores,
    caption_tokens,
    cider_d_score,
    meteor_exact_stem_score,
    rouge_l_score,
)
from regard.evaluation.captions.meteor import caption_counts, meteor

from .said import CAPTIONS, REFERENCES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("java") is None, reason="no java to run the reference with"),
]
coco = pytest.importorskip("pycocoevalcap.bleu.bleu", reason="pycocoevalcap is not installed")

HARD = [
    "Rock'n'roll, 'n' the '80s: it's gonna be o'clock o'Brien's ma'am's",
    "Don't! They've cannot I'd we'll you're she's isn't GONNA wanna",
    "A T-shirt, x-ray, over-the-shoulder, pre- and 4-wheeler -- 3-d u-shaped",
    "Mr. Smith, Mrs. Jones; Dr. No of St. Louis, Mass. and Ill. vs. the ill.",
    "The U.S. and u.s. at 5 p.m., J. F. K. in D.C., e.g. i.e. etc. Jr. Inc. co.",
    "1,000 2.5 .5 1/2 10:30 5% $5 #5 5th 10km 50-50 12/25/2010 100,000th",
    "(a) [b] {c} \"d\" 'e' `f` ''g'' ``h``",
    "red/white and/or black/white/red AT&T R&B Q & A H&amp;R",
    "?! !! ?? ... .. . - -- --- ; : , word.word word!word dog., dogs.;",
    "@user #tag a_b ** * ~ ^ | = + café naïve ÉCOLE",
    "“smart” ‘quotes’ it’s – en—em … end",
    "Qur'an Xi'an nor'easter g'day d'oeuvres y'all 'em 'twas 'tis c'mon",
    "www.dogs.com dogs.com/cats a@b.org photo.jpg",
]


@cache
def corpus() -> tuple[list[str], list[list[str]]]:
    """What people said of pictures, and scenes whose captions are those of others, as JSON is."""
    generator = random.Random(2)
    texts = [scene_text(scene, "en") for scene in generate_scenes(400, 5)]
    scenes = [[generator.choice(texts) for _ in range(generator.randint(1, 5))] for _ in texts]
    return [*CAPTIONS, *texts, "", "a"], [*REFERENCES, *scenes, ["a dog"], ["A cat."]]


def cut_by_java(texts: list[str]) -> list[list[str]]:
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    numbered = {number: [{"caption": text}] for number, text in enumerate(texts)}
    cut = PTBTokenizer().tokenize(numbered)
    return [cut[number][0].split() for number in range(len(texts))]


def as_coco(captions: Captions) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    references = {
        number: [" ".join(tokens) for tokens in each]
        for number, each in enumerate(captions.references)
    }
    hypotheses = {number: [" ".join(tokens)] for number, tokens in enumerate(captions.hypotheses)}
    return references, hypotheses


@pytest.fixture(scope="module")
def captions() -> Captions:
    return Captions.cut(*corpus())


def test_tokens() -> None:
    hypotheses, references = corpus()
    texts = [*HARD, *hypotheses[:-2], *(text for each in references for text in each)]
    assert [caption_tokens(text) for text in texts] == cut_by_java(texts)


def test_bleu(captions: Captions) -> None:
    wanted, _ = coco.Bleu(4).compute_score(*as_coco(captions), verbose=0)
    found = [score.value for score in bleu_scores(captions)]
    assert found == pytest.approx([100 * value for value in wanted], abs=1e-6)


def test_rouge_l(captions: Captions) -> None:
    from pycocoevalcap.rouge.rouge import Rouge

    wanted, _ = Rouge().compute_score(*as_coco(captions))
    assert rouge_l_score(captions).value == pytest.approx(100 * wanted, abs=1e-9)


def test_cider_d(captions: Captions) -> None:
    from pycocoevalcap.cider.cider import Cider

    wanted, _ = Cider().compute_score(*as_coco(captions))
    assert cider_d_score(captions).value == pytest.approx(100 * wanted, abs=1e-9)
    assert 10 < 100 * wanted < 500


def test_meteor(captions: Captions) -> None:
    import pycocoevalcap.meteor.meteor

    jar = Path(pycocoevalcap.meteor.meteor.__file__).parent / "meteor-1.5.jar"
    command = ["java", "-jar", jar, "-", "-", "-stdio", "-l", "en", "-norm"]
    modules = ["-m", "exact stem", "-w", "1.0 0.6"]
    references, hypotheses = as_coco(captions)

    def run(lines: list[str]) -> list[str]:
        text = "".join(f"{line}\n" for line in lines)
        done = subprocess.run(
            [*command, *modules], input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    counts = run(
        [f"SCORE ||| {' ||| '.join(references[n])} ||| {hypotheses[n][0]}" for n in hypotheses]
    )
    *each, whole = map(float, run([f"EVAL ||| {' ||| '.join(counts)}"]))
    found = [
        meteor(caption_counts(caption, accepted))
        for caption, accepted in zip(captions.hypotheses, captions.references, strict=True)
    ]
    assert found == pytest.approx(each, abs=1e-9)
    assert meteor_exact_stem_score(captions).value == pytest.approx(100 * whole, abs=1e-9)
