"""Pairs with features: every format, and what is missing or damaged named by its line."""

import gzip
import json
from pathlib import Path

import pytest

from regard.data.pairs import Pair, Pairs, read_pairs
from regard.errors import UserError

ROWS = [("gehen", "V;PST", "ging"), ("Haus", "N;DAT(PL)", "Häusern"), ("gehen", "V;PRS", "geht")]
EXPECTED = [Pair("gehen", "ging", "V;PST"), Pair("Haus", "Häusern", "N;DAT(PL)")]
EXPECTED.append(Pair("gehen", "geht", "V;PRS"))


def write(path: Path, lines: list[str]) -> Path:
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def tsv(path: Path, rows: list[tuple[str, ...]]) -> Path:
    return write(path, ["\t".join(row) for row in rows])


def test_tsv(tmp_path: Path) -> None:
    path = tsv(tmp_path / "x.tsv.gz", ROWS)
    assert list(read_pairs(path, "1", "3", "2")) == EXPECTED
    assert [pair.features for pair in read_pairs(path, "1", "3")] == [""] * 3


def test_jsonl(tmp_path: Path) -> None:
    rows = [dict(zip(("source", "tags", "target"), row, strict=True)) for row in ROWS]
    path = write(tmp_path / "x.jsonl", [json.dumps(row) for row in rows])
    assert list(read_pairs(path, features="tags")) == EXPECTED


def test_aligned(tmp_path: Path) -> None:
    for number, suffix in enumerate(("word", "tags.gz", "form")):
        write(tmp_path / f"x.{suffix}", [row[number] for row in ROWS])
    pairs = read_pairs(tmp_path / "x", "word", "form", "tags")
    assert list(pairs) == EXPECTED
    assert pairs.origin.endswith("x.{word,form,tags}")


def test_questions_are_sources_with_their_features() -> None:
    more = [*EXPECTED, Pair("gehen", "gang", "V;PST"), Pair("gehen", "ging", "V;PST")]
    pairs = Pairs(tuple(more), "here")
    assert list(pairs.questions()) == EXPECTED
    accepted = [["ging", "gang"], ["Häusern"], ["geht"]]
    assert pairs.references() == (["gehen", "Haus", "gehen"], accepted)
    assert pairs.have_features and pairs.features() == [pair.features for pair in more]
    plain = Pairs((Pair("a", "b"),), "here")
    assert not plain.have_features and plain.features() is None


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([*ROWS, ("Baum", "", "Baum")], "line 4: no features"),
        ([ROWS[0], ("Baum", " ", "Bäume"), *ROWS], "line 2: no features"),
        ([*ROWS, ("Baum", "N;DAT(PL", "Bäumen")], "line 4: features with a bracket"),
        ([*ROWS, ("Baum", "N;PL)", "Bäume")], "line 4: features with a bracket"),
    ],
)
def test_a_row_without_good_features_is_named(
    tmp_path: Path, rows: list[tuple[str, ...]], told: str
) -> None:
    with pytest.raises(UserError, match=told):
        read_pairs(tsv(tmp_path / "x.tsv", rows), "1", "3", "2")


def test_a_row_that_lacks_the_column_is_named(tmp_path: Path) -> None:
    path = tsv(tmp_path / "x.tsv", [("a", "b", "N"), ("c", "d")])
    with pytest.raises(UserError, match="line 2: 2 columns, but column 3 with the features"):
        read_pairs(path, "1", "2", "3")
    path = write(tmp_path / "x.jsonl", ['{"source": "a", "target": "b"}'])
    with pytest.raises(UserError, match=r'line 1: no key "tags".*--features'):
        read_pairs(path, features="tags")
    for suffix, lines in (("a", ["x", "y"]), ("b", ["x", "y"]), ("c", ["N"])):
        write(tmp_path / f"y.{suffix}", lines)
    with pytest.raises(UserError, match=r"y\.a has 2 lines and .*y\.c has 1"):
        read_pairs(tmp_path / "y", "a", "b", "c")
    with pytest.raises(UserError, match=r"y\.d"):
        read_pairs(tmp_path / "y", "a", "b", "d")


def test_blank_pairs_need_no_features(tmp_path: Path) -> None:
    pairs = read_pairs(tsv(tmp_path / "x.tsv", [ROWS[0], ("", "", "x"), ("",)]), "1", "3", "2")
    assert (len(pairs), pairs.blank) == (1, 2)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ((None, None, "2"), "--features 2 is also the target column: give --target as well"),
        ((None, "3", "1"), "--features 1 is also the source column: give --source as well"),
        (("1", "3", "3"), "--features 3 is also the target column: name different columns"),
        (("1", "3", "tags"), "--features tags: .* numbers from 1"),
        (("1", "3", "0"), "--features 0: .* numbers from 1"),
    ],
)
def test_columns_that_cannot_be(tmp_path: Path, columns: tuple[str | None, ...], told: str) -> None:
    with pytest.raises(UserError, match=told):
        read_pairs(tsv(tmp_path / "x.tsv", ROWS), *columns)
