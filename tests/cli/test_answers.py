"""The forms of an answer, and what translate makes of its options."""

import json
from dataclasses import dataclass, replace

import pytest

from regard.cli.answers import as_json, as_nbest, as_text, one_line, scored_fields
from regard.cli.lines import InputLine
from regard.cli.translate import _answer, _search
from regard.errors import UserError


@dataclass(frozen=True)
class Candidate:
    text: str
    score: float


@dataclass(frozen=True)
class Answer:
    """As `regard.Translation`, which would need torch."""

    text: str = ""
    score: float | None = None
    normalized_score: float | None = None
    tokens: tuple = ()
    source_tokens: tuple = ()
    attention: tuple = ()
    source_steps: tuple = ()
    source_ponder: tuple = ()
    steps: tuple = ()
    ponder: tuple = ()
    token_scores: tuple = ()
    alignment: tuple = ()
    nbest: tuple = ()
    problem: str | None = None
    unseen: tuple = ()
    unseen_target: tuple = ()
    unseen_features: tuple = ()


BLANK = Answer()
GOOD = Answer(
    text="ein Hund",
    score=-1.5,
    normalized_score=-0.5,
    tokens=("ein", "Hund", "</s>"),
    source_tokens=("a", "dog", "</s>"),
    attention=((1.0, 0.0, 0.0), (0.0, 0.98765432, 0.01234568), (0.0, 0.0, 1.0)),
    token_scores=(-0.5, -0.5, -0.5),
    alignment=((0, 0), (1, 1)),
    nbest=(Candidate("ein Hund", -1.5), Candidate("Hund", -2.25)),
)
LINE = InputLine(6, "a dog")


def test_text():
    assert as_text(LINE, GOOD) == ["ein Hund"]
    assert as_text(InputLine(0, "  "), BLANK) == [""]


def test_nbest_rows():
    assert as_nbest(LINE, GOOD) == ["6\t-1.500000\tein Hund", "6\t-2.250000\tHund"]
    assert as_nbest(InputLine(0, ""), BLANK) == []


def test_json_has_the_contracts_fields():
    (line,) = as_json(LINE, GOOD)
    assert json.loads(line) == {
        "source": "a dog",
        "text": "ein Hund",
        "score": -1.5,
        "normalized_score": -0.5,
        "tokens": ["ein", "Hund", "</s>"],
        "source_tokens": ["a", "dog", "</s>"],
        "attention": [[1.0, 0.0, 0.0], [0.0, 0.987654, 0.012346], [0.0, 0.0, 1.0]],
        "alignment": [[0, 0], [1, 1]],
        "nbest": [{"text": "ein Hund", "score": -1.5}, {"text": "Hund", "score": -2.25}],
        "unseen": [],
    }


def test_json_has_steps_where_there_are_any():
    costs = (1.5, 2.12345678, 4.25)
    both = replace(GOOD, source_steps=(1, 2, 4), source_ponder=costs, steps=(2, 3, 1), ponder=costs)
    (line,) = as_json(LINE, both)
    assert json.loads(line) == json.loads(as_json(LINE, GOOD)[0]) | {
        "source_steps": [1, 2, 4],
        "source_ponder": [1.5, 2.123457, 4.25],
        "steps": [2, 3, 1],
        "ponder": [1.5, 2.123457, 4.25],
    }
    assert '"steps": [2, 3, 1]' in line  # whole numbers
    one_sided = scored_fields("a dog", replace(GOOD, source_steps=(1, 2, 4), source_ponder=costs))
    assert "source_ponder" in one_sided and not {"steps", "ponder"} & one_sided.keys()


def test_json_of_blank_and_unreadable_lines():
    (blank,) = as_json(InputLine(0, " "), BLANK)
    fields = json.loads(blank)
    assert (fields["text"], fields["score"], fields["nbest"]) == ("", None, [])
    assert "error" not in fields
    (bad,) = as_json(InputLine(0, "", "x, line 1: not UTF-8"), BLANK)
    assert json.loads(bad) == {**fields, "source": "", "error": "x, line 1: not UTF-8"}


def test_json_is_utf8_on_one_line():
    (line,) = as_json(InputLine(0, "é\u2028"), Answer(text="a\nß"))
    assert "é" in line and "ß" in line and "\n" not in line


def test_scored_fields():
    fields = scored_fields("a dog", GOOD)
    assert fields["token_scores"] == (-0.5, -0.5, -0.5)
    assert "nbest" not in fields
    assert fields["source"] == "a dog"
    assert (fields["unseen"], fields["unseen_target"]) == ((), ())


def test_one_line():
    assert one_line("a\nb\tc") == "a b\tc"


def test_search_options():
    none = dict.fromkeys(("temperature", "top_k", "top_p", "seed"))
    assert _search(False, none, 4, None, None) == {"beam": 4, "nbest": 1, "length_penalty": None}
    drawn = _search(True, {**none, "top_k": 5, "seed": 0}, None, None, 0.5)
    assert drawn == {"sample": True, "length_penalty": 0.5, "top_k": 5, "seed": 0}


@pytest.mark.parametrize(
    ("sample", "sampling", "beam", "nbest", "named"),
    [
        (False, {"top_p": 0.9}, None, None, "--top-p"),
        (True, {}, 5, None, "--beam"),
        (True, {}, None, 5, "--nbest"),
    ],
)
def test_options_that_do_not_go_together(sample, sampling, beam, nbest, named):
    with pytest.raises(UserError, match=named):
        _search(sample, sampling, beam, nbest, None)


class Upper:
    """A model that answers in capitals and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked = []

    def translate(self, texts, **options):
        self.asked.append((list(texts), options))
        return [Answer(text=text.upper()) for text in texts]


def test_chunks_are_answered_in_order_and_bad_lines_counted(capsys):
    written, model = [], Upper()
    cut = [[InputLine(0, "a"), InputLine(1, "", "in, line 2: bad")], [InputLine(2, "b")]]
    bad = _answer(cut, model, {"sample": True, "seed": 3}, as_text, written.extend)
    assert bad == 1
    assert written == ["A", "", "B"]
    assert "in, line 2: bad" in capsys.readouterr().err
    assert [options["first"] for _, options in model.asked] == [0, 2]


def test_unseen_symbols_are_told_with_their_line(capsys):
    class Some(Upper):
        def translate(self, texts, **options):
            return [Answer(text=text, unseen=tuple(set(text) - set("ab"))) for text in texts]

    cut = [[InputLine(0, "a"), InputLine(1, "ax")], [InputLine(9, "b☃")]]
    assert _answer(cut, Some(), {}, as_text, lambda rows: None) == 0
    said = capsys.readouterr().err
    assert "line 2: never seen in training, so read as unknown: x\n" in said
    assert "line 10: never seen" in said and "line 1: " not in said


def test_without_sampling_lines_are_not_numbered():
    model = Upper()
    _answer([[InputLine(5, "a")]], model, {"beam": 2}, as_text, lambda rows: None)
    assert model.asked == [(["a"], {"beam": 2})]
