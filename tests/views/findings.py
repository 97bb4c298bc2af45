"""Findings that are written down here, with every part; texts that would break a page."""

from regard.evaluation import Evaluation, Interval, Score, find_confusions
from regard.evaluation.attention_entropy import HeadEntropies
from regard.evaluation.by_length import LengthGroup
from regard.evaluation.extremes import Extremes, Rated
from regard.evaluation.trust import Agreement, Estimate, Trust
from regard.report import Alignments, Findings, Lengths, read_history
from regard.views import AttentionView

HOSTILE = '<script>alert(1)</script> & "x" </style> \u202e'
HEBREW = "שלום עולם"
METRICS = [
    {"kind": "start", "step": 0, "seconds": 0.0},
    *(
        {"kind": "training", "step": 50 * n, "seconds": 30.0 * n, "loss": 4.0 / n}
        for n in (1, 2, 3, 4)
    ),
    {"kind": "validation", "step": 100, "seconds": 60.0, "bleu": 20.0},
    {"kind": "validation", "step": 200, "seconds": 120.0, "bleu": 35.5},
    {"kind": "validation", "step": 200, "seconds": 120.0, "bleu": 36.0, "average_of": [100, 200]},
    {"kind": "end", "step": 200, "seconds": 120.0},
]


def score(name: str, value: float) -> Score:
    return Score(name, value, "a signature", "higher", Interval(value - 1, value + 1, 0.95))


VIEW = AttentionView(
    source=HEBREW,
    text=HOSTILE,
    source_tokens=("שלום", "עולם", "</s>"),
    tokens=("<script>", "</s>"),
    attention=((0.7, 0.2, 0.1), (0.1, 0.1, 0.8)),
)


def findings(**changes: object) -> Findings:
    """All that there can be, but for what is changed."""
    agreement = Agreement(Estimate(0.61, Interval(0.5, 0.7, 0.95)), Estimate(80.0))
    chance = Agreement(Estimate(0.01), Estimate(9.0))
    parts = {
        "name": f"run {HOSTILE}",
        "subject": "Measured on the first 500 validation pairs.",
        "sources": [HOSTILE, HEBREW],
        "scores": Evaluation((score("bleu", 35.51), score("chrf", 60.0)), 2, 3),
        "remarks": ["A remark."],
        "wording": (("captions", "count"), ("given", "2")),
        "history": read_history(METRICS, "bleu"),
        "lengths": Lengths(
            "words of the source",
            (
                LengthGroup(1, 4, 1, score("bleu", 40.0)),
                LengthGroup(7, 7, 1, score("bleu", 30.0)),
            ),
        ),
        "extremes": Extremes(
            "chrf", (Rated(1, "good", "good", 100.0),), (Rated(0, HOSTILE, HOSTILE, 3.0),)
        ),
        "confusions": find_confusions(["a b"], [["a c d"]], most=5),
        "examples": [VIEW],
        "alignments": Alignments(
            [score("alignment_error_rate", 12.5), score("precision", 90), score("recall", 85)],
            [score("alignment_error_rate", 50), score("precision", 50), score("recall", 50)],
            "2 pairs.",
        ),
        "pointing": "Not measured: no regions.",
        "entropies": [HeadEntropies("cross", ((1.25, 0.5), (2.0, 0.25)), 3.0, 40, False, False)],
        "trust": Trust(
            {"hidden": agreement, "removed": agreement},
            {"hidden": chance, "removed": chance},
            2,
            9,
            0,
            5.0,
        ),
        "card": [("recipe", "rnnsearch"), ("description", HOSTILE)],
        "configuration": f"recipe: rnnsearch\n# {HOSTILE}\n",
    }
    return Findings(**{**parts, **changes})
