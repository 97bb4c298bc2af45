import subprocess
import sys

import pytest
import sacrebleu

from regard.errors import UserError
from regard.evaluation import bleu, chrf, evaluate_texts, moses_bleu, ter
from regard.evaluation.text import reference_streams

HYPOTHESES = [
    "The dog runs across the wet grass .",
    "A man in a blue shirt, standing on a ladder.",
    "Two Dogs play",
    "",
    "Zwei Männer – “so” – spielen Schach.",
]
ONE_EACH = [
    ["A dog runs across the wet grass."],
    ["A man in a blue shirt is standing on a ladder."],
    ["two dogs play in the snow"],
    ["nothing here"],
    ["Zwei Männer spielen “so” Schach."],
]
RAGGED = [
    ["A dog runs across the wet grass.", "The dog is running over wet grass."],
    ["A man in a blue shirt is standing on a ladder."],
    ["two dogs play in the snow", "Two dogs play", "Two dogs are playing"],
    ["nothing here"],
    ["Zwei Männer spielen “so” Schach.", "Zwei Männer – “so” – spielten Schach."],
]


def sacrebleu_by_sentence(metric, hypotheses, references):
    """The corpus score from each sentence's own statistics: no streams, so no padding to trust."""
    rows = [
        metric._extract_corpus_statistics([hypothesis], [[target] for target in accepted])[0]
        for hypothesis, accepted in zip(hypotheses, references, strict=True)
    ]
    return metric._aggregate_and_compute(rows).score


def test_one_reference_equals_sacrebleu():
    streams = [[accepted[0] for accepted in ONE_EACH]]
    assert bleu(HYPOTHESES, ONE_EACH).value == sacrebleu.corpus_bleu(HYPOTHESES, streams).score
    assert chrf(HYPOTHESES, ONE_EACH).value == sacrebleu.corpus_chrf(HYPOTHESES, streams).score
    assert ter(HYPOTHESES, ONE_EACH).value == sacrebleu.corpus_ter(HYPOTHESES, streams).score
    assert 5 < bleu(HYPOTHESES, ONE_EACH).value < 95


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(bleu, sacrebleu.BLEU), (chrf, sacrebleu.CHRF), (ter, sacrebleu.TER)],
)
def test_ragged_references_equal_sacrebleu_on_each_source_alone(ours, theirs):
    value = ours(HYPOTHESES, RAGGED).value
    assert value == pytest.approx(sacrebleu_by_sentence(theirs(), HYPOTHESES, RAGGED), abs=1e-12)
    assert value != ours(HYPOTHESES, ONE_EACH).value


def test_ragged_streams_are_padded_with_none_not_with_empty_references():
    assert reference_streams([["a", "b"], ["c"]]) == [["a", "c"], ["b", None]]
    with_empty = [accepted + [""] * (3 - len(accepted)) for accepted in RAGGED]
    assert ter(HYPOTHESES, RAGGED).value != ter(HYPOTHESES, with_empty).value


def test_signatures_tell_how_the_figure_was_made():
    signature = bleu(HYPOTHESES, ONE_EACH).signature
    assert "nrefs:1|" in signature
    assert "case:mixed" in signature
    assert "tok:13a" in signature
    assert f"version:{sacrebleu.__version__}" in signature
    assert "nrefs:var|" in bleu(HYPOTHESES, RAGGED).signature
    assert "nc:6" in chrf(HYPOTHESES, ONE_EACH).signature
    assert "case:lc" in ter(HYPOTHESES, ONE_EACH).signature


def test_case_counts_and_a_perfect_output_is_perfect():
    perfect = [accepted[-1] for accepted in RAGGED]
    assert bleu(perfect, RAGGED).value == pytest.approx(100)
    assert chrf(perfect, RAGGED).value == pytest.approx(100)
    assert ter(perfect, RAGGED).value == 0
    assert bleu([text.upper() for text in perfect], RAGGED).value < 60


def test_directions():
    assert bleu(HYPOTHESES, ONE_EACH).better == "higher"
    assert chrf(HYPOTHESES, ONE_EACH).better == "higher"
    assert ter(HYPOTHESES, ONE_EACH).better == "lower"


def test_tokenised_looking_outputs_are_scored_without_a_lecture(caplog):
    texts = ["a b c d ."] * 150
    assert bleu(texts, [[text] for text in texts]).value == pytest.approx(100)
    assert not caplog.records


@pytest.mark.parametrize("metric", [bleu, chrf, ter])
def test_bad_input_is_refused(metric):
    with pytest.raises(UserError, match="1 outputs for 2 sources"):
        metric(["a"], [["a"], ["b"]])
    with pytest.raises(UserError, match="source 2 has no accepted target"):
        metric(["a", "b"], [["a"], []])
    with pytest.raises(UserError, match="nothing to evaluate"):
        metric([], [])
    with pytest.raises(TypeError, match="list of accepted targets"):
        metric(["a"], ["a"])


MOSES = {
    "Ein Mann mit einem T-Shirt (rot) läuft.": "ein mann mit einem t-shirt ( rot ) läuft .",
    "Z.B. 3,5 km, d.h. weit: „Ja“!": "z.b. 3,5 km , d.h. weit : „ ja “ !",
    "Das ist Annas Hund & Katze...": "das ist annas hund & katze ...",
}


def test_moses_bleu_is_bleu_of_lower_cased_tokens():
    """Tokens by hand, as Moses' tokenizer.perl with -l de and -no-escape writes them."""
    hypotheses, targets = list(MOSES), ["Ein Mann mit rotem T-Shirt läuft!", *list(MOSES)[1:]]
    tokens = ["ein mann mit rotem t-shirt läuft !", *list(MOSES.values())[1:]]
    score = moses_bleu(hypotheses, [[target] for target in targets], "de")
    expected = sacrebleu.corpus_bleu(list(MOSES.values()), [tokens], tokenize="none", force=True)
    assert score.value == pytest.approx(expected.score, abs=1e-12)
    assert 30 < score.value < 90
    shouted = moses_bleu([text.upper() for text in MOSES], [[text] for text in MOSES], "de")
    assert shouted.value == pytest.approx(100)
    assert score.signature is not None
    assert "case:lc" in score.signature and "tok:moses.de-sacremoses." in score.signature
    assert score.name == "moses_bleu" and score.better == "higher"


def test_moses_bleu_stands_behind_the_other_metrics():
    evaluation = evaluate_texts(HYPOTHESES, RAGGED, names=("bleu",), moses="en", resamples=20)
    assert [each.name for each in evaluation.scores] == ["bleu", "moses_bleu"]
    assert evaluation.metric("moses_bleu").interval is not None
    with pytest.raises(UserError, match=r"no tokens for language 'deu': choose from as, .* de, "):
        evaluate_texts(HYPOTHESES, RAGGED, moses="deu")


def test_importing_evaluation_imports_no_library_of_figures():
    code = (
        "import sys, regard.evaluation; "
        "print([m for m in ('sacrebleu', 'sacremoses', 'torch', 'numpy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
