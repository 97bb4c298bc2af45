"""The same captions in every format are the same data."""

import gzip
import json
from pathlib import Path

import pytest

from regard.data.captions import CaptionData, read_captions, read_regions
from regard.data.scenes import generate_scenes, regions, split_scenes, write_scenes

from . import written
from .written import CAPTIONS, SPLITS, save_images, write


def contents(data: CaptionData) -> dict[str, list[str]]:
    return {example.image.name: list(example.captions) for example in data}


FILES = {
    "captions.csv": written.csv(),
    "captions.txt": written.csv(),
    "captions.CSV": written.csv(header="Filename,Text"),
    "semicolons.csv": written.csv(";"),
    "crlf.csv": written.csv().replace("\n", "\r\n"),
    "mark.csv": "\ufeff" + written.csv(),
    "Flickr8k.token.txt": written.tokens(),
    "tokens.token": written.tokens(),
    "captions.tsv": "".join(f"{name}\t{caption}\n" for name, caption in written.rows()),
    "wide.tsv": "".join("\t".join([name, *said]) + "\n" for name, said in CAPTIONS.items()),
    "header.tsv": "split\tid\timage\tcaption\n"
    + "".join(f"{SPLITS[n]}\t1\t{n}\t{c}\n" for n, c in written.rows()),
    "captions.json": written.coco(),
    "dataset_flickr8k.json": written.karpathy(),
    "metadata.jsonl": written.lines(),
    "others.jsonl": written.lines("text", "image"),
}


@pytest.mark.parametrize("name", list(FILES))
@pytest.mark.parametrize("packed", [False, True])
def test_files(tmp_path: Path, name: str, packed: bool) -> None:
    save_images(tmp_path / "images")
    path = write(tmp_path / name, FILES[name])
    if packed:
        path = path.with_name(f"{name}.gz")
        path.write_bytes(gzip.compress(FILES[name].encode()))
    data = read_captions(path)
    assert contents(data) == CAPTIONS
    assert [example.image for example in data] == [tmp_path / "images" / n for n in CAPTIONS]
    assert data.images() == [example.image for example in data]
    assert (data.origin, data.blank, data.missing) == (str(path), 0, ())
    if name == "captions.json":
        assert [example.identifier for example in data] == [7, 14, 21, 28]
    else:
        assert [example.identifier for example in data] == list(CAPTIONS)


def test_flickr30k_with_bars(tmp_path: Path) -> None:
    save_images(tmp_path, ("1.jpg", "2.jpg"))
    text = 'image_name| comment_number| comment\n1.jpg| 0| Two men , one "old" .\n2.jpg| 0|A dog\n'
    data = read_captions(write(tmp_path / "results.csv", text))
    assert contents(data) == {"1.jpg": ['Two men , one "old" .'], "2.jpg": ["A dog"]}


@pytest.mark.parametrize("name", ["header.tsv", "dataset_flickr8k.json"])
def test_splits_that_the_file_carries(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, FILES[name])
    images = save_images(tmp_path / "elsewhere")
    data = read_captions(path, images)
    assert data.splits == ("train", "valid", "test")
    assert [example.split for example in data] == list(SPLITS.values())
    for split in data.splits:
        names = [image for image in CAPTIONS if SPLITS[image] == split]
        for part in (data.split(split), read_captions(path, images, split)):
            assert list(contents(part)) == names
            assert part.origin == f"{path} ({split})"


@pytest.mark.parametrize(
    "listed", ["d.png\na.png\n", "d.png\r\n\r\na.png", " a.png\nd.png \nd.png"]
)
def test_splits_from_a_list(tmp_path: Path, listed: str) -> None:
    save_images(tmp_path)
    path = write(tmp_path / "captions.csv", written.csv())
    names = write(tmp_path / "list.txt", listed)
    data = read_captions(path, split=str(names))
    assert list(contents(data)) == ["a.png", "d.png"]
    assert data.splits == () and data.origin == f"{path} ({names})"


def test_a_list_may_name_numbers_and_last_parts(tmp_path: Path) -> None:
    save_images(tmp_path)
    names = write(tmp_path / "list.txt", "7\nc.png\n")
    data = read_captions(write(tmp_path / "coco.json", written.coco()), split=str(names))
    assert list(contents(data)) == ["a.png", "c.png"]
    path = write(tmp_path / "deep.csv", "image,caption\nfar/a.png,x\nfar/b.png,y\n")
    data = read_captions(path, split=str(write(tmp_path / "list.txt", "b.png\n")))
    assert [example.identifier for example in data] == ["far/b.png"]


def test_cocoids_and_paths_of_karpathy(tmp_path: Path) -> None:
    record = json.loads(written.karpathy())
    for number, image in enumerate(record["images"]):
        image |= {"cocoid": 100 + number, "filepath": "val2014"}
    path = write(tmp_path / "dataset_coco.json", json.dumps(record))
    save_images(tmp_path / "images" / "val2014", ("a.png", "b.png"))
    save_images(tmp_path / "images", ("c.png", "d.png"))
    data = read_captions(path)
    assert [example.identifier for example in data] == [100, 101, 102, 103]
    folders = [example.image.parent.name for example in data]
    assert folders == ["val2014", "val2014", "images", "images"]


def test_columns_and_keys_by_name(tmp_path: Path) -> None:
    save_images(tmp_path)
    table = "picture,note,caption\n" + "".join(f"{n},{n} here,not this\n" for n in CAPTIONS)
    data = read_captions(write(tmp_path / "x.csv", table), image="picture", caption="note")
    assert contents(data) == {name: [f"{name} here"] for name in CAPTIONS}
    line = '{"file_name": "a.png", "prompt": "no", "text": "yes"}\n'
    data = read_captions(write(tmp_path / "x.jsonl", line), caption="text")
    assert contents(data) == {"a.png": ["yes"]}


def test_captions_are_one_line_and_blank_ones_are_counted(tmp_path: Path) -> None:
    save_images(tmp_path)
    text = 'image,caption\na.png,"  two\r\nlines  "\na.png,\nb.png,"  "\n\nc.png,x\n'
    data = read_captions(write(tmp_path / "x.csv", text))
    assert contents(data) == {"a.png": ["two lines"], "c.png": ["x"]}
    assert data.blank == 2
    line = json.dumps({"file_name": "a.png", "caption": ["A bathroom.\n", "", "a  b\u2028c"]})
    data = read_captions(write(tmp_path / "x.jsonl", line))
    assert contents(data) == {"a.png": ["A bathroom.", "a  b\u2028c"]}


def test_where_images_are(tmp_path: Path) -> None:
    path = write(tmp_path / "captions.csv", written.csv())
    beside = save_images(tmp_path)
    assert read_captions(path)[0].image == beside / "a.png"
    inside = save_images(tmp_path / "images")
    assert read_captions(path)[0].image == inside / "a.png"
    other = save_images(tmp_path / "other")
    assert read_captions(path, other)[0].image == other / "a.png"


def test_a_text_beside_every_image(tmp_path: Path) -> None:
    save_images(tmp_path)
    for name, captions in CAPTIONS.items():
        write(tmp_path / f"{name[0]}.txt", "".join(f"{caption}\n" for caption in captions))
    write(tmp_path / ".hidden.txt", "nothing")
    data = read_captions(tmp_path)
    assert contents(data) == CAPTIONS and data.splits == ()
    elsewhere = save_images(tmp_path / "elsewhere")
    for name in CAPTIONS:
        (tmp_path / name).unlink()
    assert read_captions(tmp_path, elsewhere)[3].image == elsewhere / "d.png"


def test_texts_in_folders_that_are_called_like_splits(tmp_path: Path) -> None:
    for name, captions in CAPTIONS.items():
        folder = tmp_path / SPLITS[name].replace("valid", "validation")
        save_images(folder, (name,))
        write(folder / f"{name[0]}.txt", "\n".join(captions))
    data = read_captions(tmp_path)
    assert contents(data) == {name: CAPTIONS[name] for name in ("d.png", "a.png", "b.png", "c.png")}
    assert {example.image.name: example.split for example in data} == SPLITS
    assert data[0].identifier == "test/d.png"


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_metadata_of_a_folder_and_of_its_splits(tmp_path: Path, kind: str) -> None:
    save_images(tmp_path / "whole")
    text = written.lines("text") if kind == "jsonl" else written.csv(header="file_name,text")
    write(tmp_path / "whole" / f"metadata.{kind}", text)
    assert contents(read_captions(tmp_path / "whole")) == CAPTIONS
    for name in ("train", "test"):
        save_images(tmp_path / "parts" / name)
        write(tmp_path / "parts" / name / f"metadata.{kind}", text)
    data = read_captions(tmp_path / "parts")
    assert data.splits == ("train", "test")
    assert contents(data.split("test")) == CAPTIONS
    assert data.split("train")[1].image == tmp_path / "parts" / "train" / "b.png"


def test_scenes(tmp_path: Path) -> None:
    """Pictures, captions and the region of every noun, as `regard scenes` writes them."""
    write_scenes(tmp_path / "scenes", 40, 3)
    data = read_captions(tmp_path / "scenes")
    assert data.splits == ("train", "valid", "test") and len(data) == 40
    assert read_captions(tmp_path / "scenes" / "valid.captions.csv").examples == tuple(
        example.__class__(example.image, example.captions, example.identifier)
        for example in data.split("valid")
    )
    for split, scenes in split_scenes(generate_scenes(40, 3)).items():
        gold = read_regions(tmp_path / "scenes" / f"{split}.regions.jsonl")
        for example, scene in zip(data.split(split), scenes, strict=True):
            assert list(gold[str(example.identifier)]) == regions(scene)
            words = example.captions[0].split()
            for region in gold[str(example.identifier)]:
                assert region.noun in words[region.word]
