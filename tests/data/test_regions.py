import json
from pathlib import Path

import pytest

from regard.data.regions import read_regions
from regard.data.scenes import generate_scenes, regions
from regard.errors import UserError

STAR = {
    "image": "a.png", "word": 3, "noun": "star", "phrase": [0, 4],
    "box": [10, 20, 30, 40], "center": [20.0, 30.0],
}  # fmt: skip


def written(directory: Path, *lines: str) -> Path:
    path = directory / "x.regions.jsonl"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_what_scenes_write_is_read_back(tmp_path: Path) -> None:
    scenes = {f"{at}.png": regions(scene) for at, scene in enumerate(generate_scenes(30, 2))}
    lines = [
        json.dumps({"image": image, **vars(region)})
        for image, found in scenes.items()
        for region in found
    ]
    read = read_regions(written(tmp_path, *lines))
    assert list(read) == list(scenes)
    for image, found in scenes.items():
        assert read[image] == found


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"word": 4}, '"word" is 4, "phrase" 0 to 4'),
        ({"word": 1.5}, '"word" has a number; it takes whole numbers'),
        ({"phrase": [0]}, '"phrase" has 1 values; it must have 2'),
        ({"box": [10, 20, 10, 40]}, '"box" has no size'),
        ({"box": [1, 2, 3]}, '"box" has 3 values; it must have 4'),
        ({"box": [1, 2, "3", 4]}, '"box" has a string; it takes numbers'),
        ({"box": "1 2 3 4"}, 'the value of "box" is a string; it must be a list'),
        ({"box": [1, 2, float("nan"), 4]}, '"box" has no size'),
        ({"image": 7}, 'the value of "image" is a number'),
        ({"center": None}, 'the value of "center" is null'),
    ],
)
def test_bad_lines_are_named(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    path = written(tmp_path, json.dumps(STAR), json.dumps(STAR | changed))
    with pytest.raises(UserError) as raised:
        read_regions(path)
    assert str(raised.value).startswith(f"{path}, line 2: ")
    assert said in str(raised.value)


def test_other_bad_lines(tmp_path: Path) -> None:
    less = {key: value for key, value in STAR.items() if key != "box"}
    with pytest.raises(UserError, match='line 1: no key "box"'):
        read_regions(written(tmp_path, json.dumps(less)))
    with pytest.raises(UserError, match="line 1: not JSON"):
        read_regions(written(tmp_path, "image,word"))
    with pytest.raises(UserError, match="line 1: a list where an object should be"):
        read_regions(written(tmp_path, "[]"))
