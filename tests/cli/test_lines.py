"""Input lines: numbered, decoded one by one, cut into chunks."""

import gzip
import io
from types import SimpleNamespace

import pytest

from regard.cli import lines
from regard.cli.lines import InputLine, chunks, input_lines
from regard.errors import UserError


def test_lines_end_at_line_feeds_alone(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes("\ufeffa\u2028b\r\n\n \t\nc\u0085d\rx".encode())
    read = list(input_lines(str(path)))
    assert [line.text for line in read] == ["a\u2028b", "", " \t", "c\u0085d\rx"]
    assert [line.number for line in read] == [0, 1, 2, 3]


def test_a_bad_line_is_named_and_stops_no_other(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"good\nb\xffd\nalso good\n")
    good, bad, also = input_lines(str(path))
    assert (good.text, also.text) == ("good", "also good")
    assert (bad.number, bad.text) == (1, "")
    assert f"{path}, line 2" in bad.problem
    assert good.problem is None and also.problem is None


def test_gzip_by_name(tmp_path):
    path = tmp_path / "in.txt.gz"
    path.write_bytes(gzip.compress("é\n".encode()))
    assert [line.text for line in input_lines(str(path))] == ["é"]
    path.write_bytes(gzip.compress(b"x" * 10000)[:-12])
    with pytest.raises(UserError, match=r"in\.txt\.gz: damaged gzip"):
        list(input_lines(str(path)))


def test_standard_input(monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(b"x\n\xff\n"), closed=False)
    monkeypatch.setattr(lines.sys, "stdin", stdin)
    first, second = input_lines("-")
    assert first.text == "x"
    assert "standard input, line 2" in second.problem


def test_a_missing_file_and_a_directory(tmp_path):
    with pytest.raises(UserError, match="nothing"):
        list(input_lines(str(tmp_path / "nothing")))
    with pytest.raises(UserError, match="directory"):
        list(input_lines(str(tmp_path)))


def test_no_standard_input(monkeypatch):
    monkeypatch.setattr(lines.sys, "stdin", None)
    with pytest.raises(UserError, match="standard input is closed"):
        list(input_lines("-"))


@pytest.mark.parametrize("count", [0, 1, 2, 7, 30])
def test_chunks_keep_every_line_in_order(count):
    given = [InputLine(number, str(number)) for number in range(count)]
    cut = list(chunks(iter(given), first=2, most=8))
    assert [line for chunk in cut for line in chunk] == given
    assert [len(chunk) for chunk in cut[:-1]] == [2, 4, 8, 8, 8][: max(0, len(cut) - 1)]


def test_chunks_do_not_read_ahead():
    taken = []

    def arriving():
        for number in range(10):
            taken.append(number)
            yield InputLine(number, "")

    cut = chunks(arriving(), first=1, most=1)
    next(cut)
    assert taken == [0]
