"""Whatever is malformed is one error that names file, line or key, and what would be right."""

import json
from pathlib import Path

import pytest

from regard.data.captions import CaptionData, Captioned, read_captions, read_regions
from regard.errors import UserError

from . import written
from .written import save_images, write


def refused(path: Path, message: str, **options: object) -> None:
    with pytest.raises(UserError, match=message) as caught:
        read_captions(path, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x.csv", "", "x.csv is empty; it should begin with a header such as image,caption"),
        ("x.csv", "a.png,A dog\n", "line 1: no column 'image' .there are: a.png, A dog."),
        ("x.csv", "image,label\n", "line 1: no column 'caption' .there are: image, label."),
        ("x.csv", "image,caption,text\n", "line 1: caption and text could both be the caption"),
        ("x.csv", "image,caption\n", "holds no captions; it should name at least one image"),
        ("x.csv", "image,caption\na.png\n", "line 2: 1 cell, and the header names 2 columns"),
        (
            "x.csv",
            "image,caption\na.png,A dog, alone\n",
            "line 2: 3 cells.*stands in double quotes",
        ),
        ("x.csv", 'image,caption\na.png,x\nb.png,"x"y\n', "line 3: .*in quotes ends with a quote"),
        ("x.csv", 'image,caption\na.png,x\nb.png,"x\n', "line 3: .*in quotes ends with a quote"),
        ("x.csv", "image,caption\n,x\n", "line 2: the name of the image is missing"),
        ("x.csv", "image,caption\na.png,\n", "every caption is blank; give at least one image"),
        ("x.csv", "image,caption,split\na.png,x,other\n", "line 2: there is no split 'other'"),
        (
            "x.csv",
            "image,caption,split\na.png,x,train\na.png,y,val\n",
            "line 3: a.png has split valid, and train at .*line 2; an image has one",
        ),
        ("x.tsv", "a.png\tx\nb.png\n", "line 2: no tab; a line is the name of an image, a tab"),
        ("x.tsv", "image\tcaption\na.png\tx\ty\n", "line 2: 3 cells.*cannot hold 'tab'"),
        ("x.txt", "a.png#0\tx\na.png 1\ty\n", "line 2: not NAME.jpg#NUMBER, a tab and a caption"),
        ("x.txt", "a.png#0\tx\na.png#1 y\n", "line 2: not NAME.jpg#NUMBER, a tab and a caption"),
        ("x.txt", "just words\n", "not captions that can be read; give a .csv or .tsv"),
        ("x.txt", "", "not captions that can be read"),
        ("x.jsonl", '{"file_name": "a.png"}\n', "line 1: no column 'caption'"),
        ("x.jsonl", '{"file_name": 3, "caption": "x"}', 'value of "file_name" is a number'),
        ("x.jsonl", '{"file_name": "a.png", "caption": 3}', 'value of "caption" is a number'),
        ("x.jsonl", '{"file_name": "a.png", "caption": ["x", 3]}', "an item of .* is a number"),
        ("x.jsonl", '{"file_name": "a.png", "caption": "\\ud800"}', "half of a surrogate pair"),
        ("x.jsonl", '\n{"file_name"', "line 2: not JSON .*column 13"),
        ("x.jsonl", "[]\n", "line 1: a list where an object should be"),
        ("x.json", "[]", "a list where an object should be; captions are COCO's"),
        ("x.json", "{}", 'no key "images" .there are: none.; captions are COCO'),
        ("x.json", '{"images": 1}', 'the value of "images" is a number; it must be a list'),
        ("x.json", '{\n"images": [}', "not JSON .*line 2, column 12"),
        ("x.csv.gz", "not gzip", "damaged gzip"),
    ],
)
def test_malformed_files(tmp_path: Path, name: str, text: str, message: str) -> None:
    save_images(tmp_path)
    path = write(tmp_path / name, text)
    refused(path, message)
    with pytest.raises(UserError, match=str(path)):
        read_captions(path)


def image(**changes: object) -> dict[str, object]:
    return {"id": 1, "file_name": "a.png", **changes}


def annotation(**changes: object) -> dict[str, object]:
    return {"image_id": 1, "caption": "x", **changes}


@pytest.mark.parametrize(
    ("images", "annotations", "message"),
    [
        ([1], [], r"images\[0\]: a number where an object should be; an image is"),
        ([{"id": 1}], [], r'images\[0\]: no key "file_name" .there are: id.; an image is'),
        ([image(file_name=2)], [], r'images\[0\]: the value of "file_name" is a number'),
        ([image(file_name="")], [], r"images\[0\]: the name of the image is missing"),
        ([image(id=None)], [], r'images\[0\]: the value of "id" is null; it must be a whole'),
        ([image(id=True)], [], r'images\[0\]: the value of "id" is true or false'),
        ([image(), image(file_name="b.png")], [], r"images\[1\]: id 1 is also that of a\.png"),
        ([image(), image(id=2)], [], r"images\[1\]: a\.png is also images\[0\]"),
        ([image()], [{"image_id": 1}], r'annotations\[0\]: no key "caption"'),
        ([image()], [annotation(image_id=9)], r"annotations\[0\]: no image has the id 9"),
        ([image()], [annotation(image_id="1")], r"annotations\[0\]: no image has the id 1"),
        (
            [image()],
            [annotation(caption=None)],
            r'annotations\[0\]: the value of "caption" is null',
        ),
        ([image()], [], r"images\[0\]: a\.png has no caption; give it one, or leave it out"),
    ],
)
def test_malformed_coco(
    tmp_path: Path, images: list[object], annotations: list[object], message: str
) -> None:
    save_images(tmp_path)
    text = json.dumps({"images": images, "annotations": annotations})
    refused(write(tmp_path / "x.json", text), message)


def karpathy(**changes: object) -> dict[str, object]:
    return {"filename": "a.png", "split": "val", "sentences": [{"raw": "x"}], **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"filename": None}, 'the value of "filename" is null'),
        (
            {"split": "dev2"},
            r"images\[0\]: there is no split 'dev2'; a split is train, valid, test",
        ),
        ({"sentences": []}, r"images\[0\]: a\.png has no sentences"),
        ({"sentences": ["x"]}, r"images\[0\]\.sentences\[0\]: a string where an object"),
        ({"sentences": [{}]}, r'sentences\[0\]: no key "raw" .there are: none'),
        ({"sentences": [{"tokens": "x"}]}, r'sentences\[0\]: the value of "tokens" is a string'),
        ({"sentences": [{"tokens": [1]}]}, r"sentences\[0\]: a token is a number"),
        ({"cocoid": [1]}, r'images\[0\]: the value of "cocoid" is a list'),
        ({"filepath": 1}, r'images\[0\]: the value of "filepath" is a number'),
    ],
)
def test_malformed_karpathy(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    save_images(tmp_path)
    text = json.dumps({"images": [karpathy(**changes)]})
    refused(write(tmp_path / "x.json", text), message)


def test_missing_images(tmp_path: Path) -> None:
    folder = save_images(tmp_path / "images", ("b.png", "d.png"))
    path = write(tmp_path / "x.csv", written.csv())
    refused(
        path,
        r"2 of 4 images are not in .*: a\.png, c\.png \(the first is named at .*x\.csv, line 2"
        r"\); say where the images are with --images",
    )
    data = read_captions(path, skip_missing=True)
    assert [example.image.name for example in data] == ["b.png", "d.png"]
    assert [str(each.image) for each in data.missing] == ["a.png", "c.png"]
    for name in ("b.png", "d.png"):
        (folder / name).unlink()
    refused(path, r"4 of 4 images .*: a\.png, b\.png, c\.png and 1 more", skip_missing=True)
    refused(path, "no does not exist: the folder of images", images=tmp_path / "no")
    refused(path, "is a file where the folder of images should be", images=path)
    refused(tmp_path / "no.csv", "no.csv does not exist: a file of captions should be there")


def test_only_images_of_the_split_need_be_there(tmp_path: Path) -> None:
    save_images(tmp_path, ("c.png",))
    path = write(tmp_path / "x.json", written.karpathy())
    assert len(read_captions(path, split="valid")) == 1
    refused(path, r"2 of 2 images are not in", split="train")


def test_two_names_of_one_file(tmp_path: Path) -> None:
    save_images(tmp_path)
    path = write(tmp_path / "x.csv", "image,caption\none/a.png,x\ntwo/a.png,y\n")
    refused(path, r"one/a\.png and two/a\.png are both .*a\.png; names of different images")


def test_splits_that_are_not_there(tmp_path: Path) -> None:
    save_images(tmp_path)
    path = write(tmp_path / "x.csv", written.csv())
    refused(
        path, "has no split 'train'; it carries no splits; give a file that lists", split="train"
    )
    with pytest.raises(UserError, match="no split 'train'; it carries no splits"):
        read_captions(path).split("train")
    refused(path, "trian is neither a split .train, valid, test. nor a file", split="trian")
    listed = write(tmp_path / "list.txt", "a.png\nx.png\ny.png\n")
    refused(
        path,
        r"2 of 3 images in .*list\.txt have no captions in .*: x\.png, y\.png",
        split=str(listed),
    )
    refused(path, "every caption of .* is blank", split=str(write(tmp_path / "list.txt", "\n")))
    record = json.loads(written.karpathy())
    record["images"] = record["images"][:2]
    path = write(tmp_path / "x.json", json.dumps(record))
    refused(path, "has no split 'test'; it has train", split="test")


def test_folders(tmp_path: Path) -> None:
    folder = save_images(tmp_path / "f")
    refused(folder, "holds no captions; give a captions file, or a folder with metadata.jsonl")
    write(folder / "a.txt", "x\n")
    refused(folder, r"3 of 4 have no \.txt of the same name: b\.png, c\.png, d\.png; every image")
    for name in "bcd":
        write(folder / f"{name}.txt", "x\n")
    assert len(read_captions(folder)) == 4
    write(folder / "README.txt", "x\n")
    refused(folder, r"1 of 5 have no image of the same name: README\.txt")
    (folder / "README.txt").unlink()
    save_images(folder, ("a.jpg",))
    refused(folder, r"a\.jpg and a\.png would have the same text; rename one")


def data(count: int) -> CaptionData:
    made = (Captioned(Path(f"{n}.png"), ("x",), f"{n}.png") for n in range(count))
    return CaptionData(tuple(made), "x")


def test_shares_are_by_image_and_seeded() -> None:
    shared = data(50).shared(valid=0.1, test=0.2, seed=4)
    sizes = [len(shared.split(split)) for split in ("train", "valid", "test")]
    assert sizes == [35, 5, 10]
    assert shared == data(50).shared(valid=0.1, test=0.2, seed=4)
    assert shared != data(50).shared(valid=0.1, test=0.2, seed=5)
    turned = CaptionData(tuple(reversed(data(50).examples)), "x").shared(0.1, 0.2, seed=4)
    assert {e.identifier: e.split for e in turned} == {e.identifier: e.split for e in shared}
    assert data(3).shared(valid=0.01).splits == ("train", "valid")
    assert data(3).shared(valid=0).splits == ("train",)
    with pytest.raises(
        UserError, match="2 images are too few for 1 to validate on and 1 to test on"
    ):
        data(2).shared(valid=0.1, test=0.1)


def test_chosen_examples() -> None:
    assert [example.identifier for example in data(5).chosen((4, 1))] == ["4.png", "1.png"]


def region(**changes: object) -> str:
    record = {
        "image": "a.png",
        "word": 2,
        "noun": "star",
        "phrase": [0, 3],
        "box": [1, 2, 30, 40],
        "center": [15.5, 21.0],
    }
    return json.dumps(record | changes) + "\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"image": 1}, 'the value of "image" is a number'),
        ({"word": 3}, '"word" is 3 and "phrase" .0, 3.; a phrase is'),
        ({"word": "2"}, '"word" is 2 and "phrase"'),
        ({"phrase": [0]}, '"word" is 2 and "phrase"'),
        ({"phrase": [-1, 3]}, '"word" is 2 and "phrase"'),
        ({"phrase": 3}, 'the value of "phrase" is a number; it must be a list'),
        ({"box": [1, 2, 3]}, '"box" is .1, 2, 3.; it is left, top, right and bottom in pixels'),
        ({"box": [9, 2, 3, 4]}, '"box" is'),
        ({"box": [1, 2, 3, True]}, '"box" is'),
        ({"center": [1]}, '"center" is .1.; it is x and y in pixels'),
        ({"noun": None}, 'the value of "noun" is null'),
    ],
)
def test_malformed_regions(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = write(tmp_path / "x.jsonl", region() + region(**changes))
    with pytest.raises(UserError, match=message) as caught:
        read_regions(path)
    assert str(caught.value).startswith(f"{path}, line 2: ")


def test_regions_by_image(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", region() + region(image="b.png") + region(noun="x"))
    found = read_regions(path)
    assert [len(found[name]) for name in ("a.png", "b.png")] == [2, 1]
    assert found["a.png"][1].noun == "x" and found["a.png"][0].box == (1, 2, 30, 40)
