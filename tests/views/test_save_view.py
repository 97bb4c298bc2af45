import json
from pathlib import Path

import pytest

from regard.errors import UserError
from regard.views import (
    attention_html,
    attention_json,
    attention_svg,
    check_suffix,
    save_view,
)
from regard.views.json_view import dumps_for_script

from .examples import HOSTILE, SMALL


def test_the_suffix_chooses_the_format(tmp_path):
    for name, expected in {
        "a.html": attention_html(SMALL),
        "a.svg": attention_svg(SMALL),
        "a.JSON": attention_json(SMALL),
    }.items():
        save_view(SMALL, tmp_path / name)
        assert (tmp_path / name).read_bytes().decode("utf-8") == expected
    save_view(SMALL, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.html.gz", ".svg", "html"])
def test_any_other_suffix_names_the_four_and_writes_nothing(tmp_path, name):
    with pytest.raises(UserError, match=r"must end in \.html, \.png, \.svg or \.json"):
        save_view(SMALL, tmp_path / name)
    with pytest.raises(UserError):
        check_suffix(Path(name))
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(UserError, match="missing"):
        save_view(SMALL, tmp_path / "missing" / "a.svg")
    (tmp_path / "taken.png").mkdir()
    with pytest.raises(UserError, match=r"taken\.png"):
        save_view(SMALL, tmp_path / "taken.png")


def test_json_has_the_names_of_translate(tmp_path):
    data = json.loads(attention_json(SMALL))
    assert data == {
        "source": "a dog",
        "text": "ein Hund",
        "score": -1.25,
        "tokens": ["ein", "Hund", "</s>"],
        "source_tokens": ["a", "dog", "</s>"],
        "attention": [[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.25, 0.75]],
        "alignment": [[0, 0], [1, 1]],
        "nbest": [{"text": "ein Hund", "score": -1.25}],
        "title": "A small one",
        "token_probabilities": [0.5, 0.25, 1.0],
    }


def test_json_holds_every_text_exactly():
    text = attention_json(HOSTILE)
    text.encode("utf-8")
    data = json.loads(text)
    assert data["text"] == HOSTILE.text
    assert data["source_tokens"] == list(HOSTILE.source_tokens)
    assert data["title"] == HOSTILE.title
    assert "token_probabilities" not in data
    assert text.count("\n") == 1


def test_json_for_scripts_cannot_end_them():
    data = {"</script>": "<!-- & \u2028 \u2029 \ud800 é"}
    text = dumps_for_script(data)
    assert not set(text) & set("<>&\u2028\u2029\ud800")
    assert json.loads(text) == data
