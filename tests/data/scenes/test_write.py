"""A directory of scenes is whole or not there, the same each time, and its files fit together."""

import csv
import json
import sys
from pathlib import Path

import pytest
from PIL import Image

from regard.data.pairs import read_pairs
from regard.data.scenes import LANGUAGES, generate_scenes, scene_text, write, write_scenes
from regard.data.scenes.write import split_scenes, split_sizes
from regard.errors import UserError
from regard.evaluation import read_alignments

SIZES = {"train": 180, "valid": 10, "test": 10}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("made") / "deep" / "scenes"
    write_scenes(directory, 200, 5)
    return directory


def _contents(directory: Path) -> dict[str, bytes]:
    files = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_lines_belong_together(written: Path) -> None:
    scenes = split_scenes(generate_scenes(200, 5))
    for split, size in SIZES.items():
        assert len(scenes[split]) == size
        for target in ("de", "fr"):
            pairs = read_pairs(written / split, "en", target)
            assert pairs.sources() == [scene_text(scene, "en") for scene in scenes[split]]
            assert pairs.targets() == [scene_text(scene, target) for scene in scenes[split]]
            gold = read_alignments(written / f"{split}.en-{target}.align")
            assert len(gold) == size
            for pair, links in zip(pairs, gold, strict=True):
                assert {i for i, _ in links.sure | links.possible} == set(
                    range(len(pair.source.split()))
                )
                assert max(j for _, j in links.sure) < len(pair.target.split())


def test_captions_name_pictures_and_regions_name_words(written: Path) -> None:
    for split, size in SIZES.items():
        with open(written / f"{split}.captions.csv", encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert len(rows) == size and list(rows[0]) == ["image", "caption"]
        captions = {row["image"]: row["caption"] for row in rows}
        assert list(captions.values()) == read_pairs(written / split, "en", "de").sources()
        for name in captions:
            with Image.open(written / "images" / name) as image:
                assert image.size == (128, 128)
        lines = (written / f"{split}.regions.jsonl").read_bytes().decode("utf-8").split("\n")
        assert lines.pop() == ""
        regions = [json.loads(line) for line in lines]
        assert {region["image"] for region in regions} == set(captions)
        for region in regions:
            word = captions[region["image"]].split()[region["word"]]
            assert region["noun"] in word
            left, top, right, bottom = region["box"]
            assert 0 <= left < right <= 128 and 0 <= top < bottom <= 128
            assert region["center"] == [(left + right) / 2, (top + bottom) / 2]
            assert region["phrase"][0] < region["word"] < region["phrase"][1]
    assert len(list((written / "images").iterdir())) == 200


def test_splits_share_no_description(written: Path) -> None:
    for language in LANGUAGES:
        lines = [
            (written / f"{split}.{language}").read_bytes().split(b"\n")[:-1] for split in SIZES
        ]
        everything = [line for part in lines for line in part]
        assert len(everything) == len(set(everything)) == 200


def test_the_readme_names_every_kind_of_file(written: Path) -> None:
    text = (written / "README.md").read_text(encoding="utf-8")
    assert "--pairs 200 --seed 5\n" in text
    for name in ("SPLIT.en`", "SPLIT.en-de.align`", "captions.csv`", "regions.jsonl`", "images/"):
        assert name in text
    assert max(len(line) for line in text.split("\n")) <= 100


def test_same_seed_same_bytes_and_another_seed_others(written: Path, tmp_path: Path) -> None:
    write_scenes(tmp_path / "again", 200, 5)
    assert _contents(tmp_path / "again") == _contents(written)
    write_scenes(tmp_path / "other", 200, 6)
    other = _contents(tmp_path / "other")
    assert other.keys() == _contents(written).keys()
    assert other["test.en"] != _contents(written)["test.en"]


def test_without_images_only_texts_are_written_and_pillow_is_not_needed(
    written: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    write_scenes(tmp_path / "texts", 200, 5, images=False)
    texts = _contents(tmp_path / "texts")
    readme = texts.pop("README.md").decode("utf-8")
    assert "--seed 5 --no-images\n" in readme and "images/" not in readme
    assert len(texts) == 3 * 5
    assert all(_contents(written)[name] == data for name, data in texts.items())
    with pytest.raises(UserError, match="pip install pillow"):
        write_scenes(tmp_path / "pictures", 200, 5)
    assert [path.name for path in tmp_path.iterdir()] == ["texts"]


def test_what_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("directory", "file", "link"):
        with pytest.raises(UserError, match=f"{name} exists already; choose another name"):
            write_scenes(tmp_path / name, 20)
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert not list((tmp_path / "directory").iterdir())
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_writing_leaves_nothing(
    failure: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(scene: object) -> bytes:
        raise failure

    monkeypatch.setattr(write, "png", fail)
    expected = KeyboardInterrupt if failure is KeyboardInterrupt else UserError
    with pytest.raises(expected) as raised:
        write_scenes(tmp_path / "scenes", 20)
    if expected is UserError:
        assert str(tmp_path / "scenes") in str(raised.value)
        assert "disk is full" in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(UserError, match="file is a file where a directory should be"):
        write_scenes(tmp_path / "file" / "scenes", 20)
    with pytest.raises(UserError, match="cannot write"):
        write_scenes(tmp_path / "file" / "deep" / "scenes", 20)


@pytest.mark.parametrize("pairs", [-1, 0, 19])
def test_too_few_scenes_are_refused(pairs: int, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="ask for 20 or more"):
        write_scenes(tmp_path / "scenes", pairs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("count", "sizes"), [(20, (18, 1, 1)), (39, (37, 1, 1)), (10_000, (9000, 500, 500))]
)
def test_split_sizes(count: int, sizes: tuple[int, ...]) -> None:
    assert tuple(split_sizes(count).values()) == sizes
    assert list(split_sizes(count)) == ["train", "valid", "test"]
