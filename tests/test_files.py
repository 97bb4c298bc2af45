import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from regard.errors import UserError
from regard.files import (
    append_line,
    make_directory,
    replacing,
    require_directory,
    require_file,
    write_bytes,
    write_text,
)

as_a_user = pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_text_is_utf8_and_line_ends_stay(tmp_path: Path) -> None:
    write_text(tmp_path / "x", "é\r\nb\n\u2028")
    assert (tmp_path / "x").read_bytes() == "é\r\nb\n\u2028".encode()
    assert names(tmp_path) == ["x"]


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old and longer")
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "x", "x")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there" / "x")
    write_text(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "there" / "x").read_text(encoding="utf-8") == "text"


def test_half_a_surrogate_pair_is_refused_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"x: cannot write U\+D800"):
        write_text(tmp_path / "x", "a\ud800")
    assert names(tmp_path) == []


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as stream:
        stream.write(b"new")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x"]


def test_a_killed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    program = (
        "import os, signal; from pathlib import Path; from regard.files import replacing\n"
        f"with replacing(Path({str(path)!r})) as stream:\n"
        "    stream.write(b'new'); stream.flush(); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"


def test_a_full_disk_is_told_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(UserError, match=f"cannot write {path}: .*larger"):
            write_bytes(path, b"x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_device_is_written_to_directly() -> None:
    write_text(Path("/dev/null"), "x")
    assert not Path("/dev/null").is_file()
    with pytest.raises(UserError, match="cannot write /dev/full: the disk is full"):
        write_text(Path("/dev/full"), "x")
    with pytest.raises(UserError, match="cannot write /dev/full: the disk is full"):
        append_line(Path("/dev/full"), "x")


def test_a_directory_in_the_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a directory; name a file"):
        write_text(tmp_path, "x")


def test_a_missing_parent_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"the directory {tmp_path}/no does not exist"):
        write_text(tmp_path / "no" / "x", "x")


def test_a_file_as_parent_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for write in (write_text, append_line):
        with pytest.raises(UserError, match=f"{tmp_path}/file is a file, not a directory"):
            write(tmp_path / "file" / "x", "x")


@as_a_user
def test_permission_denied_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UserError, match="permission denied"):
            write_text(tmp_path / "x", "x")
    finally:
        tmp_path.chmod(0o700)


def test_lines_are_appended(tmp_path: Path) -> None:
    append_line(tmp_path / "x", '{"a": "é"}')
    append_line(tmp_path / "x", "b")
    assert (tmp_path / "x").read_bytes() == '{"a": "é"}\nb\n'.encode()


def test_make_directory(tmp_path: Path) -> None:
    made = make_directory(tmp_path / "a" / "b")
    assert made.is_dir()
    assert make_directory(made) == made
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="is a file where a directory should be"):
        make_directory(tmp_path / "file")
    with pytest.raises(UserError, match="is a file, not a directory"):
        make_directory(tmp_path / "file" / "below")


def test_require(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert require_file(tmp_path / "file") == tmp_path / "file"
    assert require_directory(tmp_path) == tmp_path
    with pytest.raises(UserError, match="is a directory where a list should be"):
        require_file(tmp_path, "a list")
    with pytest.raises(UserError, match="no does not exist: a list should be there"):
        require_file(tmp_path / "no", "a list")
    with pytest.raises(UserError, match="is a file where a run directory should be"):
        require_directory(tmp_path / "file", "a run directory")
    with pytest.raises(UserError, match="no does not exist: a run directory should be there"):
        require_directory(tmp_path / "no", "a run directory")
