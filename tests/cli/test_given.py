"""Targets to be scored: texts of any format, tokens in JSONL."""

import json

import pytest

from regard.cli.given import read_given
from regard.errors import UserError


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_texts(tmp_path, capsys):
    path = tmp_path / "x.tsv"
    path.write_text("\tc\na\tb\n", encoding="utf-8")
    assert read_given(str(path), None, None) == [(2, "a", "b", None)]
    assert "1 pair (1 pair with a blank side dropped)" in capsys.readouterr().err


def test_tokens_of_translate(tmp_path, capsys):
    path = write(
        tmp_path / "x.jsonl",
        {"source": "", "text": "", "tokens": []},
        {"source": "a b", "text": "c", "tokens": ["c", "</s>"]},
    )
    assert read_given(path, None, None) == [(2, "a b", ["c", "</s>"], None)]
    assert "1 pair with a blank side dropped" in capsys.readouterr().err


def test_a_text_target_goes_before_tokens(tmp_path):
    path = write(tmp_path / "x.jsonl", {"source": "a", "target": "b", "tokens": ["x"]})
    assert read_given(path, None, None) == [(1, "a", "b", None)]
    assert read_given(path, None, "tokens") == [(1, "a", ["x"], None)]


@pytest.mark.parametrize(
    "row", [{"source": 3, "tokens": ["x"]}, {"source": "a", "tokens": "x"}, {"source": "a"}, [1]]
)
def test_rows_that_do_not_fit_are_named(tmp_path, row):
    path = write(tmp_path / "x.jsonl", {"source": "a", "tokens": ["x"]}, row)
    with pytest.raises(UserError, match=r"x\.jsonl, line 2"):
        read_given(path, None, None)


def test_nothing_but_blank(tmp_path):
    path = write(tmp_path / "x.jsonl", {"source": " ", "tokens": ["x"]})
    with pytest.raises(UserError, match="blank side"):
        read_given(path, None, None)


def test_what_is_not_json_is_the_strict_readers_to_report(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 1: not JSON"):
        read_given(str(path), None, None)
