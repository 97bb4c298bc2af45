import gzip
import io
from pathlib import Path

import pytest

from regard.data.lines import decode_line, iterate_lines, read_lines
from regard.errors import UserError


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data) if path.name.lower().endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["x", "x.gz", "X.GZ"])
@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"\n", [""]),
        (b"a\r\nb\r\r\n\rc\rd\r", ["a", "b\r", "\rc\rd"]),
        (
            "a\u2028b\u0085c\u2029d\x0be\x0cf\x1cg\n".encode(),
            ["a\u2028b\u0085c\u2029d\x0be\x0cf\x1cg"],
        ),
        ("\ufeffa\n\ufeffb\n".encode(), ["a", "\ufeffb"]),
        ("\ufeff".encode(), [""]),
        ("  \u00a0a\t \n".encode(), ["  \u00a0a\t "]),
        (b"a\0b\n", ["a\0b"]),
    ],
)
def test_lines_end_at_line_feeds_alone(
    tmp_path: Path, name: str, data: bytes, lines: list[str]
) -> None:
    assert read_lines(write(tmp_path / name, data)) == lines
    assert read_lines(io.BytesIO(data)) == lines


def test_bad_utf8_names_file_line_and_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"good\nab\xe9c\n")
    with pytest.raises(UserError, match=rf"^{path}, line 2: not UTF-8 at byte 3 .*\(0xe9\)"):
        read_lines(path)


@pytest.mark.parametrize("raw", [b"\xed\xa0\x80", b"\xc0\x80", b"\xf5\x80\x80\x80", b"\xc3"])
def test_what_only_looks_like_utf8_is_refused(raw: bytes) -> None:
    with pytest.raises(UserError, match="standard input, line 1: not UTF-8"):
        read_lines(io.BytesIO(raw))


def test_other_encodings_are_recognized(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="looks like UTF-16"):
        read_lines(write(tmp_path / "x", "hello\n".encode("utf-16")))
    with pytest.raises(UserError, match=r"its name should end in \.gz"):
        read_lines(write(tmp_path / "y", gzip.compress(b"hello\n")))


@pytest.mark.parametrize("damage", ["cut", "flipped", "none", "body"])
def test_damaged_gzip_names_the_file(tmp_path: Path, damage: str) -> None:
    data = gzip.compress(b"".join(b"line %d\n" % number for number in range(1000)))
    middle = len(data) // 2
    damaged = {
        "cut": data[:middle],
        "flipped": data[:-6] + bytes([data[-6] ^ 1]) + data[-5:],
        "none": b"plain text\n",
        "body": data[:middle] + b"\xff" * 40 + data[middle + 40 :],
    }[damage]
    path = tmp_path / "x.gz"
    path.write_bytes(damaged)
    with pytest.raises(UserError, match=rf"^{path}: damaged gzip data"):
        read_lines(path)


def test_a_missing_file_and_a_directory(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no does not exist: a text file should be there"):
        read_lines(tmp_path / "no")
    with pytest.raises(UserError, match="is a directory where a text file should be"):
        read_lines(tmp_path)


def test_lines_arrive_one_by_one() -> None:
    lines = iterate_lines(io.BytesIO(b"a\n\xff\n"), "standard input")
    assert next(lines) == "a"
    with pytest.raises(UserError, match="standard input, line 2"):
        next(lines)


def test_one_line() -> None:
    assert decode_line("\ufeffé\r\n".encode(), "x", 1) == "é"
    assert decode_line("\ufeffé".encode(), "x", 2) == "\ufeffé"
