"""The two tokenizers of a model: made, saved, loaded."""

import json
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from regard.data.configuration import TokenizationConfiguration, TokenizerConfiguration
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import (
    Tokenizers,
    load_tokenizer,
    load_tokenizers,
    save_tokenizers,
    train_tokenizers,
)
from regard.errors import UserError

from .texts import SENTENCES, nasty_texts

NASTY = nasty_texts(100, seed=4)
PAIRS = Pairs(tuple(Pair(text, text[::-1]) for text in NASTY), "test")


def side(kind: str, **values: object) -> TokenizerConfiguration:
    return TokenizerConfiguration.model_validate({"kind": kind, "size": 200, **values})


def make(source: str, target: str | None = None, **values: object) -> Tokenizers:
    configuration = TokenizationConfiguration(
        joint=target is None, source=side(source, **values), target=side(target or source, **values)
    )
    return train_tokenizers(configuration, PAIRS, seed=1)


MIXED = [("subword", None), ("character", "space"), ("space", "subword"), ("character", None)]


@pytest.mark.parametrize(("source", "target"), MIXED)
def test_saved_and_loaded_they_are_the_same(
    tmp_path: Path, source: str, target: str | None
) -> None:
    tokenizers = make(source, target)
    tokenizers.save(tmp_path / "run" / "tokenizer")
    (tmp_path / "run").rename(tmp_path / "moved")
    loaded = load_tokenizers(tmp_path / "moved" / "tokenizer")
    assert loaded == tokenizers
    assert loaded.joint == (target is None)
    assert (loaded.source is loaded.target) == loaded.joint
    for text in NASTY:
        for side_ in ("source", "target"):
            before, after = getattr(tokenizers, side_), getattr(loaded, side_)
            assert after.tokenize(text) == before.tokenize(text)
            assert after.decode(after.encode(text)) == before.decode(before.encode(text))


def test_saving_again_replaces(tmp_path: Path) -> None:
    make("subword").save(tmp_path)
    other = make("space", "character")
    save_tokenizers(other, tmp_path)
    assert load_tokenizers(tmp_path) == other
    assert load_tokenizer(tmp_path, "target") == other.target


@pytest.mark.parametrize("kind", ["subword", "character", "space"])
def test_a_joint_vocabulary_covers_both_sides_and_separate_ones_their_own(kind: str) -> None:
    pairs = Pairs((Pair("a a", "b b"), Pair("c", "d")), "test")
    joint = train_tokenizers(TokenizationConfiguration(source=side(kind), target=side(kind)), pairs)
    assert all(1 not in joint.source.encode(text) for text in ("a", "b", "c", "d"))
    apart = TokenizationConfiguration(joint=False, source=side(kind), target=side(kind))
    separate = train_tokenizers(apart, pairs)
    assert 1 not in separate.source.encode("a c")
    assert 1 in separate.source.encode("b")
    assert 1 in separate.target.encode("a")


def test_settings_reach_the_tokenizers() -> None:
    tokenizers = make("character", "space", lowercase=True, normalization="NFD", minimum_count=20)
    for tokenizer in (tokenizers.source, tokenizers.target):
        assert tokenizer.normalizer.lowercase  # type: ignore[attr-defined]
        assert tokenizer.normalizer.form == "NFD"  # type: ignore[attr-defined]
    every = make("character", "space", lowercase=True, normalization="NFD")
    assert tokenizers.source.size < every.source.size
    assert tokenizers.target.size < every.target.size
    assert make("subword", sampling=0.5).source.sampling == 0.5  # type: ignore[attr-defined]


def test_bpe_and_unigram_differ() -> None:
    pairs = Pairs(tuple(Pair(text, text) for text in SENTENCES), "test")

    def pieces(algorithm: str) -> object:
        one = side("subword", size=120, algorithm=algorithm)
        return train_tokenizers(TokenizationConfiguration(source=one, target=one), pairs).source

    assert pieces("bpe") != pieces("unigram")


@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_output_has_the_form_of_the_training_targets(written: str) -> None:
    other = "NFD" if written == "NFC" else "NFC"
    text = "한국어 é"
    pair = Pair(unicodedata.normalize(other, text), unicodedata.normalize(written, text))
    for normalization in ("NFC", "NFD"):
        both = side("character", normalization=normalization)
        for joint in (True, False):
            configuration = TokenizationConfiguration(joint=joint, source=both, target=both)
            target = train_tokenizers(configuration, Pairs((pair,), "test")).target
            assert target.decode(target.encode(pair.source)) == pair.target


@pytest.mark.parametrize(
    ("joint", "key"),
    [(True, r"tokenization\.source and"), (False, r"tokenization\.source\.size is 5")],
)
def test_too_small_a_size_names_the_key(joint: bool, key: str) -> None:
    one = side("subword", size=5)
    with pytest.raises(UserError, match=key):
        train_tokenizers(TokenizationConfiguration(joint=joint, source=one, target=one), PAIRS)


def overwrite(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)


def to_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": overwrite(b""),
    "no text": overwrite(b"\xff\xfe\0"),
    "other JSON": overwrite(b"[1, 2]"),
    "empty object": overwrite(b"{}"),
    "cut": cut,
    "directory": to_directory,
}


@pytest.mark.parametrize("damage", list(DAMAGE))
@pytest.mark.parametrize("file", ["sides.json", "source.json", "source.model", "target.json"])
def test_damage_names_the_file(tmp_path: Path, file: str, damage: str) -> None:
    make("subword", "space").save(tmp_path)
    DAMAGE[damage](tmp_path / file)
    with pytest.raises(UserError, match=str(tmp_path / file)):
        load_tokenizers(tmp_path)


def test_a_model_cut_or_changed_anywhere_is_noticed(tmp_path: Path) -> None:
    make("subword").save(tmp_path)
    flip(tmp_path / "joint.model")
    with pytest.raises(UserError, match=r"joint\.model is damaged"):
        load_tokenizers(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", "words"),
        ("kind", None),
        ("symbols", ["a", "a"]),
        ("symbols", ["a", 1]),
        ("symbols", ["a", ""]),
        ("symbols", "ab"),
        ("normalizer", {}),
        ("normalizer", {"form": "NFQ", "lowercase": False, "written": "NFC"}),
        ("normalizer", {"form": "NFC", "lowercase": False, "written": "NFC", "more": 1}),
        ("normalizer", {"form": ["NFC"], "lowercase": False, "written": "NFC"}),
        ("normalizer", None),
    ],
)
def test_wrong_contents_are_noticed(tmp_path: Path, key: str, value: object) -> None:
    make("space").save(tmp_path)
    path = tmp_path / "joint.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, key: value}), encoding="utf-8")
    with pytest.raises(UserError, match=rf"joint\.json is damaged: {key} should"):
        load_tokenizers(tmp_path)


def test_a_wrong_sampling_is_noticed(tmp_path: Path) -> None:
    make("subword").save(tmp_path)
    path = tmp_path / "joint.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**data, "sampling": "much"}), encoding="utf-8")
    with pytest.raises(UserError, match="sampling should be a number"):
        load_tokenizers(tmp_path)


def test_no_directory_and_a_foreign_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no does not exist: a model's tokenizer directory"):
        load_tokenizers(tmp_path / "no")
    with pytest.raises(UserError, match=r"sides\.json does not exist"):
        load_tokenizers(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UserError, match="is a file where a model's tokenizer directory"):
        load_tokenizers(tmp_path / "file")
    with pytest.raises(UserError, match="is a file where a directory should be"):
        make("space").save(tmp_path / "file")


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    (tmp_path / "joint.json").symlink_to("/dev/full")
    with pytest.raises(UserError, match=r"joint\.json: the disk is full"):
        make("space").save(tmp_path)
    shutil.rmtree(tmp_path)


def test_reading_and_tokenizing_need_no_torch() -> None:
    program = (
        "import sys, regard.data.tokenizers, regard.data.pairs, regard.data.lines\n"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
