"""What a run directory may be, and what must be the same when it is resumed."""

from pathlib import Path

import pytest

from regard.data.pairs import Pair, Pairs
from regard.errors import UserError
from regard.training.checkpoint import checkpoint_path
from regard.training.configuration import Configuration
from regard.training.continuation import (
    MAY_DIFFER,
    check_same_settings,
    checkpoint_to_resume,
    fingerprint,
    flat,
)
from regard.training.keys import dotted_keys
from regard.training.problems import resolve


def configuration(**training: object) -> Configuration:
    return resolve({"recipe": "x", "training": training}, "x")


def test_a_new_directory() -> None:
    assert checkpoint_to_resume(Path("nowhere/at/all"), resume=False) is None
    assert checkpoint_to_resume(Path("nowhere/at/all"), resume=True) is None


def test_an_existing_directory_is_refused_without_resume(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="already exists; add --resume"):
        checkpoint_to_resume(tmp_path, resume=False)


def test_a_file_where_a_directory_should_be(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for resume in (True, False):
        with pytest.raises(UserError, match="is a file where a run directory should be"):
            checkpoint_to_resume(file, resume)
        with pytest.raises(UserError, match="is a file, not a directory"):
            checkpoint_to_resume(file / "run", resume)


def test_the_latest_checkpoint_is_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints"
    folder.mkdir()
    assert checkpoint_to_resume(tmp_path, resume=True) is None  # killed before the first one
    for step in (5, 40):
        checkpoint_path(folder, step).touch()
    assert checkpoint_to_resume(tmp_path, resume=True) == checkpoint_path(folder, 40)


def test_killed_while_it_was_laid_out(tmp_path: Path) -> None:
    for name in ("config.yaml", "metrics.jsonl", ".config.yaml.123.partial"):
        (tmp_path / name).touch()
    assert checkpoint_to_resume(tmp_path, resume=True) is None


def test_what_is_not_a_run_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UserError, match=r"is not a run directory: it holds thesis\.tex"):
        checkpoint_to_resume(tmp_path, resume=True)


def test_a_model_without_checkpoints_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(UserError, match="holds no checkpoint"):
        checkpoint_to_resume(tmp_path, resume=True)


def test_every_changed_setting_is_named() -> None:
    saved, now = configuration(), configuration(warmup=5, average={"count": 9}, threads=3)
    with pytest.raises(UserError) as caught:
        check_same_settings(saved, now, Path("run"))
    message = str(caught.value)
    assert "training.warmup was 1000 and is 5" in message
    assert "training.average.count was 5 and is 9" in message
    assert "training.threads was 0 and is 3" in message
    assert "seed" not in message


def test_where_training_ends_may_change() -> None:
    now = configuration(maximum_updates=5, maximum_epochs=2, patience=1, checkpoints=9)
    check_same_settings(configuration(), now, Path("run"))
    linear = {"schedule": "linear", "warmup": 1}
    saved, now = configuration(**linear), configuration(**linear, maximum_updates=5)
    with pytest.raises(UserError, match=r"training\.maximum_updates was 100000 and is 5"):
        check_same_settings(saved, now, Path("run"))


def test_another_kind_of_model_is_named() -> None:
    other = resolve({"recipe": "x", "model": {"encoder": {"kind": "transformer"}}}, "x")
    with pytest.raises(UserError, match=r"model\.encoder\.kind was recurrent and is transformer"):
        check_same_settings(configuration(), other, Path("run"))


def test_what_may_differ_exists() -> None:
    assert set(dotted_keys(Configuration, {})) >= MAY_DIFFER
    assert set(flat(configuration().as_dict())) >= MAY_DIFFER


def test_fingerprints_tell_pairs_apart() -> None:
    def of(*pairs: tuple[str, str]) -> str:
        return fingerprint(Pairs(tuple(Pair(*pair) for pair in pairs), "somewhere", 0))

    assert of(("a", "b"), ("c", "d")) == of(("a", "b"), ("c", "d"))
    different = [
        of(("a", "b"), ("c", "d")),
        of(("c", "d"), ("a", "b")),
        of(("a", "b")),
        of(("ab", "")),
        of(("a", "bc"), ("", "d")),
        of(("b", "a"), ("c", "d")),
    ]
    assert len(set(different)) == len(different)
