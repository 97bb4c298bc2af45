import gzip
import json
from pathlib import Path

import pytest

from regard.data.pairs import Pair, Pairs, read_pairs
from regard.errors import UserError


def texts(pairs: Pairs) -> list[tuple[str, str]]:
    return [(pair.source, pair.target) for pair in pairs]


def aligned(directory: Path, source: str, target: str) -> str:
    (directory / "x.en").write_text(source, encoding="utf-8", newline="")
    (directory / "x.de").write_text(target, encoding="utf-8", newline="")
    return str(directory / "x")


class TestPairs:
    pairs = Pairs((Pair("a", "1"), Pair("b", "2"), Pair("a", "3"), Pair("a", "1")), "x", 2)

    def test_a_sequence(self) -> None:
        assert len(self.pairs) == 4
        assert self.pairs[1] == Pair("b", "2")
        assert self.pairs[2:] == (Pair("a", "3"), Pair("a", "1"))
        assert list(self.pairs)[-1] == Pair("a", "1")
        assert self.pairs.sources() == ["a", "b", "a", "a"]
        assert self.pairs.targets() == ["1", "2", "3", "1"]

    def test_all_accepted_targets_of_a_source(self) -> None:
        assert self.pairs.references() == (["a", "b"], [["1", "3"], ["2"]])

    def test_places(self) -> None:
        assert self.pairs.place(2) == "pair 3"
        read = Pairs(self.pairs.pairs, "x.tsv", lines=(2, 3, 5, 8))
        assert [read.place(index) for index in (0, 3)] == ["line 2", "line 8"]
        assert [read.questions().place(index) for index in (0, 1)] == ["line 2", "line 3"]
        assert self.pairs.questions().place(1) == "pair 2"


class TestEveryFormat:
    @pytest.mark.parametrize("ending", ["", ".gz"])
    @pytest.mark.parametrize("form", ["aligned", "tsv", "jsonl"])
    def test_the_same_pairs(self, tmp_path: Path, form: str, ending: str) -> None:
        rows = [("Ein „Hund“", 'A "dog'), ("x\u2028y\u0085z", '"'), (" b ", "ß\u00a0c")]
        content = {
            "tsv": {".tsv": "".join(f"{a}\t{b}\tc\t\n" for a, b in rows)},
            "jsonl": {
                ".jsonl": "".join(
                    json.dumps({"source": a, "target": b, "n": 1}) + "\n" for a, b in rows
                )
            },
            "aligned": {
                ".de": "".join(f"{a}\r\n" for a, _ in rows),
                ".en": "".join(f"{b}\n" for _, b in rows).removesuffix("\n"),
            },
        }[form]
        for suffix, text in content.items():
            data = text.encode("utf-8")
            path = tmp_path / f"x{suffix}{ending}"
            path.write_bytes(gzip.compress(data) if ending else data)
        if form == "aligned":
            pairs = read_pairs(tmp_path / "x", "de", "en")
        else:
            pairs = read_pairs(tmp_path / f"x.{form}{ending}")
        assert texts(pairs) == rows
        assert pairs.blank == 0
        assert str(tmp_path / "x") in pairs.origin

    @pytest.mark.parametrize("form", ["aligned", "tsv", "jsonl"])
    def test_blank_sides_are_dropped_together_and_counted(self, tmp_path: Path, form: str) -> None:
        rows = [("a", "A"), ("", "B"), ("c", "C"), ("d", " \u00a0\u3000"), (" ", ""), ("f", "F")]
        if form == "aligned":
            aligned(tmp_path, "\n".join(a for a, _ in rows), "\n".join(b for _, b in rows))
            pairs = read_pairs(tmp_path / "x", "en", "de")
        elif form == "tsv":
            (tmp_path / "x.tsv").write_text(
                "".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8"
            )
            pairs = read_pairs(tmp_path / "x.tsv")
        else:
            lines = [json.dumps({"source": a, "target": b}) for a, b in rows]
            (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
            pairs = read_pairs(tmp_path / "x.jsonl")
        assert texts(pairs) == [("a", "A"), ("c", "C"), ("f", "F")]
        assert pairs.blank == 3

    @pytest.mark.parametrize("name", ["x.tsv", "x.jsonl"])
    def test_an_empty_line_is_a_blank_pair(self, tmp_path: Path, name: str) -> None:
        row = "a\tA" if name == "x.tsv" else '{"source": "a", "target": "A"}'
        (tmp_path / name).write_text(f"{row}\n\n{row}\n \n", encoding="utf-8")
        pairs = read_pairs(tmp_path / name)
        assert (len(pairs), pairs.blank) == (2, 2)

    @pytest.mark.parametrize("name", ["x.tsv", "x.jsonl", "x"])
    def test_no_pairs_at_all(self, tmp_path: Path, name: str) -> None:
        aligned(tmp_path, "", "")
        (tmp_path / "x.tsv").write_bytes(b"")
        (tmp_path / "x.jsonl").write_bytes(b"")
        sides = ("en", "de") if name == "x" else (None, None)
        with pytest.raises(UserError, match=r"x.* is empty; it should hold at least one pair"):
            read_pairs(tmp_path / name, *sides)

    def test_only_blank_pairs(self, tmp_path: Path) -> None:
        aligned(tmp_path, "a\n\n", "\nb\n")
        with pytest.raises(UserError, match="each of the 2 pairs has a blank side"):
            read_pairs(tmp_path / "x", "en", "de")

    @pytest.mark.parametrize("name", ["x.tsv", "x.jsonl", "x.tsv.gz"])
    def test_a_missing_file(self, tmp_path: Path, name: str) -> None:
        with pytest.raises(UserError, match=f"{name} does not exist"):
            read_pairs(tmp_path / name)

    @pytest.mark.parametrize("name", ["x.tsv", "x.jsonl"])
    def test_bad_utf8(self, tmp_path: Path, name: str) -> None:
        row = b"a\tA\n" if name == "x.tsv" else b'{"source": "a", "target": "A"}\n'
        (tmp_path / name).write_bytes(row * 2 + row.replace(b"A", b"\xff"))
        with pytest.raises(UserError, match=f"{name}, line 3: not UTF-8"):
            read_pairs(tmp_path / name)

    def test_a_directory_named_as_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").mkdir()
        with pytest.raises(UserError, match=r"x\.tsv is a directory where a text file should be"):
            read_pairs(tmp_path / "x.tsv")


class TestAligned:
    def test_unequal_line_counts_name_both(self, tmp_path: Path) -> None:
        prefix = aligned(tmp_path, "a\nb\nc\n", "A\nB\n")
        with pytest.raises(UserError, match=rf"{prefix}\.en has 3 lines and {prefix}\.de has 2"):
            read_pairs(prefix, "en", "de")

    def test_a_separator_inside_a_line_does_not_shift(self, tmp_path: Path) -> None:
        prefix = aligned(tmp_path, "a\u2028x\nb\n", "A\nB\u0085\n")
        assert texts(read_pairs(prefix, "en", "de")) == [("a\u2028x", "A"), ("b", "B\u0085")]

    def test_bad_utf8_names_the_file_of_the_two(self, tmp_path: Path) -> None:
        prefix = aligned(tmp_path, "a\nb\n", "A\nB\n")
        (tmp_path / "x.de").write_bytes(b"A\n\xc4\n")
        with pytest.raises(UserError, match=rf"{prefix}\.de, line 2: not UTF-8"):
            read_pairs(prefix, "en", "de")

    @pytest.mark.parametrize("sides", [(None, None), ("en", None), (None, "de")])
    def test_both_suffixes_are_needed(
        self, tmp_path: Path, sides: tuple[str | None, str | None]
    ) -> None:
        prefix = aligned(tmp_path, "a\n", "A\n")
        with pytest.raises(UserError, match=r"x\.de, x\.en.*give both --source and --target"):
            read_pairs(prefix, *sides)

    def test_a_missing_side_says_what_was_looked_for(self, tmp_path: Path) -> None:
        prefix = aligned(tmp_path, "a\n", "A\n")
        with pytest.raises(UserError) as caught:
            read_pairs(prefix, "en", "fr")
        for part in (f"{prefix}.fr ", f"{prefix}.fr.gz", "x.de, x.en"):
            assert part in str(caught.value)

    def test_a_prefix_of_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"neither .*/no\.en nor .*/no\.en\.gz exists"):
            read_pairs(tmp_path / "no", "en", "de")
        with pytest.raises(UserError, match=r"no file .*/no or .*/no\.\* exists"):
            read_pairs(tmp_path / "no")
        with pytest.raises(UserError, match=f"the directory {tmp_path}/no does not exist"):
            read_pairs(tmp_path / "no" / "x", "en", "de")

    def test_a_directory(self, tmp_path: Path) -> None:
        for sides in ((), ("en", "de")):
            with pytest.raises(UserError, match=f"{tmp_path} is a directory"):
                read_pairs(tmp_path, *sides)

    def test_a_file_of_another_kind(self, tmp_path: Path) -> None:
        aligned(tmp_path, "a\n", "A\n")
        with pytest.raises(UserError, match=r"x\.en is not a \.tsv or \.jsonl file"):
            read_pairs(tmp_path / "x.en")
        with pytest.raises(UserError, match=r"x\.en is a file; .*without their suffixes"):
            read_pairs(tmp_path / "x.en", "en", "de")

    def test_a_plain_file_comes_before_a_compressed_one(self, tmp_path: Path) -> None:
        prefix = aligned(tmp_path, "a\n", "A\n")
        (tmp_path / "x.en.gz").write_bytes(gzip.compress(b"other\n"))
        assert texts(read_pairs(prefix, "en", "de")) == [("a", "A")]

    def test_a_dot_in_the_prefix(self, tmp_path: Path) -> None:
        (tmp_path / "v1.2.en").write_bytes(b"a\n")
        (tmp_path / "v1.2.de").write_bytes(b"A\n")
        assert texts(read_pairs(tmp_path / "v1.2", "en", "de")) == [("a", "A")]


class TestTsv:
    @staticmethod
    def write(directory: Path, text: str) -> Path:
        path = directory / "x.tsv"
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def test_columns_by_number(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "a\tb\tc\nd\te\tf\textra\n")
        assert texts(read_pairs(path, "3", "1")) == [("c", "a"), ("f", "d")]
        assert texts(read_pairs(path, target="3")) == [("a", "c"), ("d", "f")]

    def test_quotes_are_ordinary(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, '"a\tb\nc"\t""\n\'d\te\\t\n')
        assert texts(read_pairs(path)) == [('"a', "b"), ('c"', '""'), ("'d", "e\\t")]

    def test_a_row_with_too_few_columns(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "a\tb\nc\nd\te\n")
        with pytest.raises(UserError, match=f"{path}, line 2: 1 column, but column 2"):
            read_pairs(path)
        path = self.write(tmp_path, "a\tb\tc\nc\td\n")
        with pytest.raises(UserError, match=f"{path}, line 2: 2 columns, but column 3"):
            read_pairs(path, "1", "3")

    def test_the_last_column_may_be_blank(self, tmp_path: Path) -> None:
        pairs = read_pairs(self.write(tmp_path, "a\t\nb\tB\n\t\n"))
        assert pairs.place(0) == "line 2"
        assert (texts(pairs), pairs.blank) == ([("b", "B")], 2)

    @pytest.mark.parametrize("column", ["en", "0", "-1", "1.0", " 1", "", "²", "1" * 30])
    def test_a_column_that_is_no_number(self, tmp_path: Path, column: str) -> None:
        path = self.write(tmp_path, "a\tb\n")
        with pytest.raises(UserError, match=r"--target .*columns are numbers from 1"):
            read_pairs(path, "1", column)

    def test_a_column_that_is_also_the_other_ones_default(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, "a\tb\n")
        with pytest.raises(UserError, match="--source 2 is also the target column: give --target"):
            read_pairs(path, "2")
        with pytest.raises(UserError, match="--target 1 is also the source column: give --source"):
            read_pairs(path, None, "1")


class TestJsonl:
    @staticmethod
    def write(directory: Path, *lines: str) -> Path:
        path = directory / "x.jsonl"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    good = '{"source": "a", "target": "A"}'

    def test_keys(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, '{"en": "a", "de": "\\u00c4\\t", "other": [1]}')
        assert texts(read_pairs(path, "de", "en")) == [("Ä\t", "a")]

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("{", "line 2: not JSON .* at column 2"),
            ('{"source": "a"} x', "line 2: not JSON"),
            ("[1]", "line 2: a list where an object should be"),
            ('"text"', "line 2: a string where an object should be"),
            ("null", "line 2: null where an object should be"),
            ('{"source": "a"}', r'line 2: no key "target" \(there are: source\)'),
            ("{}", r'line 2: no key "source" \(there are: none\)'),
            ('{"source": 3, "target": "A"}', 'line 2: the value of "source" is a number'),
            ('{"source": "a", "target": null}', 'line 2: the value of "target" is null'),
            ('{"source": "a", "target": true}', 'line 2: the value of "target" is true or false'),
            ('{"source": ["a"], "target": "A"}', 'line 2: the value of "source" is a list'),
            ('{"source": {}, "target": "A"}', 'line 2: the value of "source" is an object'),
            (
                '{"source": "a\\nb", "target": "A"}',
                'line 2: the value of "source" holds a line break',
            ),
            ('{"source": "a\\ud800", "target": "A"}', "holds half of a surrogate pair"),
            ('{"source": ' + "1" * 5000 + "}", "line 2: "),
            ("[" * 100_000, "line 2: "),
        ],
    )
    def test_what_is_no_pair(self, tmp_path: Path, line: str, message: str) -> None:
        path = self.write(tmp_path, self.good, line)
        with pytest.raises(UserError, match=message) as caught:
            read_pairs(path)
        assert str(caught.value).startswith(str(path))

    def test_a_whole_surrogate_pair_is_a_character(self, tmp_path: Path) -> None:
        path = self.write(tmp_path, '{"source": "\\ud83d\\ude00", "target": "A"}')
        assert texts(read_pairs(path)) == [("😀", "A")]
