"""UTF-8 in and out, whatever the locale."""

import io
import os

import pytest

from regard.cli import streams
from regard.cli.streams import OutputClosedError, encode, line_writer, text_argument, write_lines
from regard.errors import UserError


class _Output:
    """A standard output that keeps bytes, or fails."""

    closed = False

    def __init__(self, failure: OSError | None = None) -> None:
        self.buffer = self
        self.failure = failure
        self.kept = b""

    def write(self, data: bytes) -> None:
        if self.failure is not None:
            raise self.failure
        self.kept += data

    def flush(self) -> None:
        pass


def test_lines_are_utf8_and_end_at_line_feeds(monkeypatch):
    output = _Output()
    monkeypatch.setattr(streams.sys, "stdout", output)
    write_lines(["Größe", "a\u2028b"])
    assert output.kept == "Größe\na\u2028b\n".encode()


def test_undecodable_bytes_leave_as_they_came():
    assert encode(b"\xff/x".decode("utf-8", "surrogateescape")) == b"\xff/x"
    assert encode("\ud800") == rb"\ud800"


@pytest.mark.parametrize(
    ("failure", "raised"),
    [(BrokenPipeError(32, "gone"), OutputClosedError), (OSError(28, "no space"), UserError)],
)
def test_failing_output(monkeypatch, failure, raised):
    monkeypatch.setattr(streams.sys, "stdout", _Output(failure))
    with pytest.raises(raised):
        write_lines(["x"])


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "out"
    with pytest.raises(RuntimeError), line_writer(path) as write:
        write(["half"])
        raise RuntimeError
    assert not list(tmp_path.iterdir())
    with line_writer(path) as write:
        write(["é"])
        assert not path.exists()
    assert path.read_bytes() == "é\n".encode()


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(UserError, match="nowhere"), line_writer(tmp_path / "nowhere" / "x"):
        pass


@pytest.mark.parametrize("codec", ["ascii", "latin-1", "utf-8"])
def test_text_arguments_survive_the_locale(monkeypatch, codec):
    given = "schöne Größe".encode().decode(codec, "surrogateescape")
    monkeypatch.setattr(os, "fsencode", lambda text: text.encode(codec, "surrogateescape"))
    assert text_argument(given, "TEXT") == "schöne Größe"


def test_text_arguments_that_are_not_utf8(monkeypatch):
    monkeypatch.setattr(os, "fsencode", lambda text: b"ab\xff")
    with pytest.raises(UserError, match="TEXT: not UTF-8 at byte 2"):
        text_argument("whatever", "TEXT")


def test_text_that_was_never_bytes_is_kept(monkeypatch):
    monkeypatch.setattr(os, "fsencode", lambda text: text.encode("ascii", "surrogateescape"))
    assert text_argument("ö", "TEXT") == "ö"


def test_use_utf8_reconfigures_text_streams(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(streams.sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    streams.use_utf8()
    print("ß\n", file=streams.sys.stdout, end="", flush=True)
    assert raw.getvalue() == "ß\n".encode()
