"""Captions of images whose features are ready-made, and of images that are damaged or not there."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import save_file

from regard import load
from regard.data.captions import read_captions
from regard.data.images.caching import cached_grids
from regard.training.run import read_configuration

from .small_captioner import train

Run = Callable[..., tuple[int, list[str], str]]


def ready(data: Path, captioner: Path, path: Path, split: str) -> Path:
    """The features of all images of a split, as its backbone makes them."""
    examples = read_captions(data, split=split)
    backbone = load(captioner).needed_backbone()
    grids = cached_grids(examples.images(), backbone, path.parent / "made")
    features = grids.batch(range(len(grids)))
    names = [str(example.identifier) for example in examples]
    if path.suffix == ".safetensors":
        save_file({name: features[i].half().clone() for i, name in enumerate(names)}, path)
        return path
    path.mkdir()
    for name, each in zip(names, features.half().numpy(), strict=True):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        np.save(path / f"{name}.npy", each)
    return path


@pytest.mark.parametrize("form", ["ready", "ready.safetensors"])
def test_measuring_ready_features_is_measuring_images(
    form: str, data: Path, captioner: Path, run: Run, tmp_path: Path
) -> None:
    """Captions are the same; the images need not be there."""
    grids = ready(data, captioner, tmp_path / form, "test")
    captions = tmp_path / "captions.csv"
    shutil.copy(data / "test.captions.csv", captions)
    asked = ("evaluate", "--model", captioner, "--resamples", 0, "--json")
    code, seen, _ = run(*asked, "--data", data, "--output", tmp_path / "seen.tsv")
    assert code == 0
    code, given, _ = run(
        *asked, "--data", captions, "--grids", grids, "--output", tmp_path / "given.tsv"
    )
    assert code == 0
    assert json.loads(given[0])["metrics"] == json.loads(seen[0])["metrics"]
    names = [row.split("\t")[0] for row in (tmp_path / "given.tsv").read_text().splitlines()]
    code, rows, _ = run("caption", "--model", captioner, "--grids", grids, *names)
    assert code == 0 and rows == (tmp_path / "given.tsv").read_text().splitlines()
    wrote = [(tmp_path / name).read_text(encoding="utf-8") for name in ("seen.tsv", "given.tsv")]
    assert wrote[0] == wrote[1]


def test_training_on_ready_features(data: Path, captioner: Path, run: Run, tmp_path: Path) -> None:
    """The run knows of no backbone, and says so where images are asked for."""
    folder = tmp_path / "captions"
    folder.mkdir()
    for name in ("train", "valid", "test"):
        shutil.copy(data / f"{name}.captions.csv", folder)
    grids = tmp_path / "ready"
    for split in ("train", "valid", "test"):
        ready(data, captioner, tmp_path / split, split)
        shutil.copytree(tmp_path / split, grids, dirs_exist_ok=True)
    out = tmp_path / "run"
    code, shown, said = run(*train(folder, out, "--grids", grids))
    assert code == 0 and "training on 54 captions of" in said
    assert f"evaluate --model {out} --data CAPTIONS --grids {grids}" in "\n".join(shown)
    assert f"caption --model {out} --grids {grids} NAME" in "\n".join(shown)
    assert read_configuration(out)[0].backbone is None
    code, shown, _ = run("evaluate", "--model", out, "--data", folder, "--grids", grids)
    assert code == 0 and any(line.startswith("cider_d") for line in shown)
    code, _, said = run("evaluate", "--model", out, "--data", data)
    assert code == 2 and "was trained on features that were ready-made" in said
    page = tmp_path / "page.html"
    asked = ("--data", folder, "--grids", grids, "--out", page, "--resamples", 0)
    assert run("report", "--model", out, *asked)[0] == 0 and page.stat().st_size > 10_000


def test_ready_features_that_do_not_fit(
    data: Path, captioner: Path, run: Run, tmp_path: Path
) -> None:
    grids = ready(data, captioner, tmp_path / "ready", "test")
    asked = ("evaluate", "--model", captioner, "--data", data, "--grids", grids)
    code, _, said = run(*asked, "--images", data / "images")
    assert code == 2 and "--images is for images, and --grids has their features" in said
    code, _, said = run(*asked, "--skip-unreadable")
    assert code == 2 and "--skip-unreadable is for images, and --grids" in said
    code, _, said = run(*asked, "--regions", data / "test.regions.jsonl")
    assert code == 2 and "--regions are places in images" in said
    report = ("report", *asked[1:], "--out", tmp_path / "page.html")
    code, _, said = run(*report, "--regions", data / "test.regions.jsonl")
    assert code == 2 and "--regions are places in images" in said
    code, _, said = run("caption", "--model", captioner, "--grids", grids, "other.png")
    assert code == 2 and "has no features of the image other.png" in said
    code, _, said = run(*asked, "--split", "valid")
    assert code == 2 and "has no features of the image" in said
    for path in grids.rglob("*.npy"):
        np.save(path, np.load(path)[:, :5])
    name = next(grids.rglob("*.npy")).relative_to(grids).as_posix().removesuffix(".npy")
    code, _, said = run("caption", "--model", captioner, "--grids", grids, name)
    assert code == 2 and f"{grids} has grids of 4 x 4 vectors of 5" in said
    code, _, said = run(*asked)
    assert code == 2 and f"vectors of 5, and {captioner} reads 4 x 4 of 192" in said
    other = ("--set", "training.views=[original, flipped]", "--grids", grids)
    code, _, said = run(*train(data, tmp_path / "run", *other))
    assert code == 2 and not (tmp_path / "run").exists()
    texts = ("--train", data, "--valid", data, "--out", tmp_path / "run")
    for option in (("--grids", grids), ("--skip-unreadable",)):
        code, _, said = run("train", "rnnsearch", *texts, *option)
        assert code == 2 and f"{option[0]} is for captions" in said


def test_images_that_are_left_out(data: Path, run: Run, tmp_path: Path) -> None:
    """When asked; else the first one is an error that names it."""
    folder = tmp_path / "captions"
    shutil.copytree(data, folder)
    rows = (folder / "train.captions.csv").read_text(encoding="utf-8").splitlines()[1:]
    first, second, *_ = dict.fromkeys(row.split(",")[0] for row in rows)
    images = folder / "images"
    (images / first).unlink()
    damaged = images / second
    damaged.write_bytes(damaged.read_bytes()[:100])
    code, _, said = run(*train(folder, tmp_path / "run"))
    assert code == 2 and f"1 of 60 images are not in {images}: {first}" in said
    code, _, said = run(*train(folder, tmp_path / "run", "--skip-unreadable"))
    assert code == 0 and "training on 52 captions of" in said
    assert f"(train): 2 images left out: {first} is not there, {damaged}: damaged" in said
    captions = ("--images", images, "--valid-split", "10%", "--skip-unreadable")
    code, _, said = run(*train(folder / "train.captions.csv", tmp_path / "shared", *captions))
    assert code == 0 and f"{first} is not there" in said and f"{damaged}: damaged" in said
    code, _, said = run(
        *train(folder, tmp_path / "silent", "--skip-unreadable", "--quiet", "--no-report")
    )
    assert (code, said) == (0, "")
    shutil.copy(data / "images" / first, images)
    code, _, said = run(*train(folder, tmp_path / "other"))
    assert code == 2 and f"{damaged}: damaged" in said
