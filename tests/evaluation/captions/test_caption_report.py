import json

import pytest

from regard.errors import UserError
from regard.evaluation.captions import (
    CAPTION_METRICS,
    WORDING_HEADER,
    DocumentFrequencies,
    Wording,
    evaluate_captions,
    wording_of,
)
from regard.evaluation.text import bleu

from .said import CAPTIONS, REFERENCES


def test_all_figures_in_the_order_of_the_papers() -> None:
    report = evaluate_captions(CAPTIONS, REFERENCES)
    names = [score.name for score in report.evaluation.scores]
    assert names == list(CAPTION_METRICS)
    assert all(score.better == "higher" and score.signature for score in report.evaluation.scores)
    assert report.metric("bleu") == bleu(CAPTIONS, REFERENCES)
    values = [report.metric(f"bleu_{order}").value for order in (1, 2, 3, 4)]
    assert values == sorted(values, reverse=True)
    assert (report.evaluation.sources, report.evaluation.references) == (10, 20)


def test_a_person_scores_above_a_person_who_looks_at_another_picture() -> None:
    right = evaluate_captions(CAPTIONS, REFERENCES)
    wrong = evaluate_captions(CAPTIONS[1:] + CAPTIONS[:1], REFERENCES)
    for name in CAPTION_METRICS:
        assert right.metric(name).value > wrong.metric(name).value or name == "bleu_4"
    assert right.metric("cider_d").value > 10 * wrong.metric("cider_d").value


def test_chosen_metrics_in_the_order_asked_for() -> None:
    report = evaluate_captions(CAPTIONS, REFERENCES, names=("cider_d", "bleu_4", "bleu_1"))
    assert [score.name for score in report.evaluation.scores] == ["cider_d", "bleu_4", "bleu_1"]
    whole = evaluate_captions(CAPTIONS, REFERENCES)
    assert report.evaluation.scores == tuple(map(whole.metric, ("cider_d", "bleu_4", "bleu_1")))
    with pytest.raises(UserError, match="there is no metric 'cider' here: did you mean cider_d"):
        evaluate_captions(CAPTIONS, REFERENCES, names=("cider",))
    with pytest.raises(UserError, match="no metric 'rouge_l' here"):
        report.metric("rouge_l")


def test_wording() -> None:
    captions = ["A dog runs.", "a dog runs", "Two cats!", ""]
    report = evaluate_captions(captions, [["a b c d"]] * 4, training=["a DOG runs", "one cat"])
    # "a dog runs" twice; two cats and nothing are new; 3 + 3 + 2 + 0 tokens of 5 kinds
    assert report.wording == Wording(75.0, 50.0, 2.0, 5)
    assert report.reference_wording == Wording(25.0, None, 4.0, 4)
    assert report.wording_rows() == [
        ["given", "4", "75.00", "50.00", "2.00", "5"],
        ["references", "4", "25.00", "", "4.00", "4"],
    ]
    assert all(len(row) == len(WORDING_HEADER) for row in report.wording_rows())
    assert evaluate_captions(captions, [["a"]] * 4).wording.novel is None
    assert wording_of([["a"]], []).novel == 100


def test_json() -> None:
    report = evaluate_captions(CAPTIONS, REFERENCES, resamples=10, names=("cider_d",))
    fields = json.loads(json.dumps(report.as_dict()))
    assert list(fields) == [
        "images", "references", "metrics", "wording", "reference_wording", "remarks",
    ]  # fmt: skip
    figure = fields["metrics"]["cider_d"]
    assert set(figure) == {"value", "better", "signature", "interval"}
    assert figure["interval"]["low"] <= figure["value"] <= figure["interval"]["high"]
    assert fields["wording"]["novel"] is None


def test_remarks() -> None:
    few = evaluate_captions(CAPTIONS, REFERENCES)
    assert ["10 images are too few" in remark for remark in few.remarks] == [True]
    many = CAPTIONS * 10, REFERENCES * 10
    assert evaluate_captions(*many).remarks == ()
    frequencies = DocumentFrequencies.of([[["a", "dog"]], [["a", "cat"]]])
    assert evaluate_captions(CAPTIONS, REFERENCES, frequencies=frequencies).remarks == ()
    (same,) = evaluate_captions(["A dog."] * 100, REFERENCES * 10).remarks
    assert "all captions are the same" in same


def test_the_order_of_images_and_references_changes_nothing() -> None:
    report = evaluate_captions(CAPTIONS, REFERENCES)
    turned = evaluate_captions(CAPTIONS[::-1], [each[::-1] for each in REFERENCES[::-1]])
    for score in report.evaluation.scores:
        assert turned.metric(score.name).value == pytest.approx(score.value, abs=1e-9)


@pytest.mark.parametrize(
    ("hypotheses", "references", "said"),
    [
        (["a"], [["a"], ["b"]], "1 outputs for 2 images: give one output for each image"),
        ([], [], "nothing to evaluate"),
        (["a", "b"], [["a"], []], "image 2 has no reference"),
    ],
)
def test_bad_input(hypotheses: list[str], references: list[list[str]], said: str) -> None:
    with pytest.raises(UserError, match=said):
        evaluate_captions(hypotheses, references)
