"""`regard scenes` writes the directory it is asked for, once."""

from collections.abc import Callable
from pathlib import Path


def test_it_writes_texts_and_pictures_and_says_how_many(
    regard: Callable[..., object], tmp_path: Path
) -> None:
    done = regard("scenes", "--out", tmp_path / "s", "--pairs", 40, "--seed", 2, check=True)
    said = done.stdout.decode("utf-8")  # type: ignore[attr-defined]
    assert said == f"{tmp_path / 's'}: 40 scenes (36 train, 2 valid, 2 test)\n"
    assert len((tmp_path / "s" / "train.de").read_bytes().split(b"\n")) == 37
    assert len(list((tmp_path / "s" / "images").iterdir())) == 40


def test_it_writes_the_same_under_a_plain_locale(
    regard: Callable[..., object], tmp_path: Path
) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    regard("scenes", "--out", tmp_path / "a", "--pairs", 20, "--no-images", check=True)
    arguments = ("scenes", "--out", tmp_path / "b", "--pairs", 20, "--no-images")
    regard(*arguments, environment=plain, check=True)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "b").iterdir())
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert not (tmp_path / "a" / "images").exists()


def test_it_refuses_what_exists_and_what_cannot_be(
    regard: Callable[..., object], refused: Callable[..., None], tmp_path: Path
) -> None:
    refused(regard("scenes", "--out", tmp_path), str(tmp_path), "exists already")
    refused(regard("scenes", "--out", tmp_path / "s", "--pairs", 3), "20 or more")
    refused(regard("scenes"), "--out")
    assert list(tmp_path.iterdir()) == []
