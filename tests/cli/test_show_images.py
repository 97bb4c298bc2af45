"""Drawing what captions look at, from the command line."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import regard.cli
from regard import load
from regard.views.labels import visible

Run = Callable[..., tuple[int, list[str], str]]

COMMON = (
    "backbone={name: patches, image_size: 16, grid: 4}",
    "tokenization.target={kind: subword, size: 90}",
    "batching.tokens=300",
    "training.maximum_updates=2",
    "training.validation_limit=2",
    "training.average.kind=none",
    "search.maximum_length_extra=9",
)
TRANSFORMER = (
    "model.embedding.size=8",
    "model.encoder={kind: grid, size: 8, layers: 2, heads: 2, feed_forward_size: 8}",
    "model.decoder={kind: transformer, layers: 3, heads: 2, feed_forward_size: 8}",
)


@pytest.fixture(scope="module")
def captioner(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Transformer over a grid, hardly trained."""
    out = tmp_path_factory.mktemp("transformer")
    settings = [part for each in COMMON + TRANSFORMER for part in ("--set", each)]
    command = ["train", "caption-transformer", "--train", data, "--out", out / "run", "--quiet"]
    command += ["--cache", out / "cache", "--threads", 1, *settings]
    assert regard.cli.run([str(each) for each in command]) == 0
    return out / "run"


@pytest.fixture(scope="module")
def image(data: Path) -> Path:
    return data / "images" / "test-000001.png"


def page_data(path: Path) -> list[dict]:
    """What each view of a page holds."""
    start, end = '<script type="application/json" class="data">', "</script>"
    parts = path.read_text(encoding="utf-8").split(start)[1:]
    return [json.loads(part.partition(end)[0]) for part in parts]


def test_every_format_holds_what_python_has(
    captioner: Path, image: Path, run: Run, tmp_path: Path
) -> None:
    model = load(captioner)
    (answer,) = model.caption([image])
    out = {suffix: tmp_path / f"a.{suffix}" for suffix in ("html", "png", "svg", "json")}
    for path in out.values():
        code, shown, said = run("show", "--model", captioner, "--image", image, "--out", path)
        assert (code, shown) == (0, [answer.text]) and f"wrote {path}" in said
    told = json.loads(out["json"].read_text(encoding="utf-8"))
    assert told["image"] == str(image) and told["size"] == [128, 128]
    assert np.array(told["attention"]) == pytest.approx(np.array(answer.attention), abs=1e-6)
    assert told["tokens"] == list(answer.tokens)
    assert out["png"].read_bytes().startswith(b"\x89PNG")
    labels = {text.text for text in ET.parse(out["svg"]).iter("{http://www.w3.org/2000/svg}text")}
    assert {visible(token) for token in answer.tokens} <= labels
    (data,) = page_data(out["html"])
    kinds = {stack["kind"]: (stack["layers"], stack["heads"]) for stack in data["stacks"]}
    assert kinds == {"cross": (3, 2), "encoder": (2, 2), "decoder": (3, 2)}
    assert data["output"]["words"] == list(answer.words)
    look = model.look_at(image, answer.tokens)
    assert [stack.weights.shape[2:] for stack in look.stacks] == [
        (len(answer.tokens), 16),
        (16, 16),
        (len(answer.tokens), len(answer.tokens)),
    ]


def test_a_layer_and_a_head(captioner: Path, image: Path, run: Run, tmp_path: Path) -> None:
    model = load(captioner)
    (answer,) = model.caption([image])
    weights = model.look_at(image, answer.tokens).stacks[0].weights
    command = ("show", "--model", captioner, "--image", image, "--out")
    path, page = tmp_path / "a.json", tmp_path / "a.html"
    for options, expected in (
        (("--layer", 1), weights[0].mean(0)),
        (("--layer", 3, "--head", 2), weights[2, 1]),
    ):
        assert run(*command, path, *options)[0] == 0
        found = np.array(json.loads(path.read_text(encoding="utf-8"))["attention"])
        assert np.abs(found.reshape(expected.shape) - expected).max() < 1e-6
    assert run(*command, page, "--layer", 3, "--head", 2)[0] == 0
    assert page_data(page)[0]["opensAt"] == {"layer": 2, "head": 1}
    for options, told in (
        (("--layer", 4), "there is no layer 4"),
        (("--layer", 1, "--head", 3), "there is no head 3"),
        (("--head", 1), "head 1 of which layer?"),
    ):
        code, _, said = run(*command, tmp_path / "none.svg", *options)
        assert code == 2 and told in said
    assert not (tmp_path / "none.svg").exists()


def test_a_caption_that_is_given(captioner: Path, image: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    command = ("show", "--model", captioner, "--image", image, "--out", path)
    code, shown, _ = run(*command, "--target", "A small red star.")
    told = json.loads(path.read_text(encoding="utf-8"))
    (scored,) = load(captioner).score_captions([(image, "A small red star.")])
    assert code == 0 and shown == ["A small red star."] == [told["text"]]
    assert told["score"] == pytest.approx(scored.score, abs=1e-5)
    assert np.array(told["attention"]) == pytest.approx(np.array(scored.attention), abs=1e-6)


def test_several_images_on_one_page(captioner: Path, data: Path, run: Run, tmp_path: Path) -> None:
    images = [data / "images" / f"test-{number:06d}.png" for number in (1, 2, 3)]
    page = tmp_path / "a.html"
    named = ("--image", f"{data}/images/test-*.png")
    code, shown, _ = run("show", "--model", captioner, *named, "--out", page)
    assert code == 0 and len(shown) == len(page_data(page)) == 3
    text = page.read_text(encoding="utf-8")
    assert [text.count(f">{image}</p>") for image in images] == [1, 1, 1]
    for options, told in (
        (("--out", tmp_path / "a.svg"), "takes one image, 3 are given"),
        (("--out", page, "--target", "a"), "--target is the caption of one image; 3 are given"),
    ):
        code, _, said = run("show", "--model", captioner, *named, *options)
        assert code == 2 and told in said
    assert not (tmp_path / "a.svg").exists()


def test_what_does_not_go_together(
    captioner: Path,
    image: Path,
    untrained_run: Callable[..., Path],
    run: Run,
    tmp_path: Path,
) -> None:
    reader = untrained_run(tmp_path / "reader", {"embedding": {"size": 8}})
    bad = tmp_path / "bad.png"
    bad.write_bytes(image.read_bytes()[:150])
    for arguments, told in (
        ((captioner, "a text"), "reads images, not texts: give --image IMAGE in place of TEXT"),
        ((reader, "--image", image), "--image is for captions, and this model reads texts"),
        ((captioner,), "there is nothing to draw: give TEXT, or --image IMAGE"),
        ((captioner, "--image", image, image), "TEXT and --image are both given"),
        ((captioner, "--image", image, "--features", "N"), "--features is for texts"),
        ((captioner, "--image", image, "--target", " "), "--target is blank"),
        ((captioner, "--image", bad), f"{bad}: damaged picture"),
        ((captioner, "--image", tmp_path / "no.png"), "no.png does not exist"),
    ):
        code, shown, said = run("show", "--model", *arguments, "--out", tmp_path / "a.html")
        assert (code, shown) == (2, []) and told in said, (arguments, said)
        assert said.count("regard: error:") == 1 and "Traceback" not in said
    assert not (tmp_path / "a.html").exists()


def test_a_captioner_without_attention(data: Path, image: Path, run: Run, tmp_path: Path) -> None:
    settings = ("model.embedding.size=8", "model.encoder.size=8", "model.decoder.size=8")
    parts = [part for each in COMMON + settings for part in ("--set", each)]
    out = tmp_path / "run"
    command = ("train", "show-tell", "--train", data, "--out", out, "--quiet", "--threads", 1)
    assert run(*command, *parts)[0] == 0
    code, _, said = run("show", "--model", out, "--image", image, "--out", tmp_path / "a.svg")
    assert code == 2 and "a model of the recipe show-tell has no attention to draw" in said
