"""Plain tables."""

from regard.cli.table import table


def test_columns_line_up():
    rows = [["bleu", "9.1", "x"], ["exact_match", "100.0", ""]]
    assert table(rows, header=["metric", "value", ""], right=[1]) == [
        "metric       value",
        "-----------  -----  -",
        "bleu           9.1  x",
        "exact_match  100.0",
    ]


def test_without_header():
    assert table([["a", "b"], ["ccc", "d"]]) == ["a    b", "ccc  d"]


def test_no_rows():
    assert table([]) == []


def test_marks_take_no_column_and_ideographs_two():
    rows = [["t͡ʃ", "x"], ["日本", "x"], ["\u1112\u1161\u11ab", "x"], ["abcd", "x"]]
    assert table(rows) == ["t͡ʃ    x", "日本  x", "\u1112\u1161\u11ab    x", "abcd  x"]
