"""Captions from the command line: training, captioning, measuring, and what is said of mistakes."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from regard import load

from .small_captioner import train

Run = Callable[..., tuple[int, list[str], str]]


def test_training_tells_what_it_does(data: Path, run: Run, tmp_path: Path) -> None:
    cache = tmp_path / "kept"
    code, shown, said = run(*train(data, tmp_path / "run", "--cache", cache))
    assert code == 0 and any(cache.rglob("*.npy"))
    assert "training on 54 captions of" in said and "validating on 3 pictures of" in said
    assert "grids of 4 x 4 vectors of 192" in said
    assert shown[1].startswith("cider_d") and "regard caption --model" in "\n".join(shown)
    code, shown, _ = run("info", tmp_path / "run")
    table = "\n".join(shown)
    assert "grids of 4 x 4 vectors of 192, made by patches 4x4" in table
    assert code == 0 and "symbols\n" in table and "one vocabulary" not in table


def test_lists_of_images_make_splits(data: Path, run: Run, tmp_path: Path) -> None:
    captions, images = data / "train.captions.csv", data / "images"
    names = [row.split(",")[0] for row in captions.read_text(encoding="utf-8").split("\n")[1:-1]]
    for name, some in (("train.txt", names[:40]), ("valid.txt", names[40:46])):
        (tmp_path / name).write_text("\n".join(some), encoding="utf-8")
    splits = ("--train-split", tmp_path / "train.txt", "--valid-split", tmp_path / "valid.txt")
    code, _, said = run(*train(captions, tmp_path / "run", "--images", images, *splits))
    assert code == 0 and "training on 40 captions" in said and "on 6 pictures" in said
    code, _, said = run(*train(captions, tmp_path / "other", "--images", images))
    assert code == 2 and "carries no splits: give --valid, or --valid-split" in said
    assert not (tmp_path / "other").exists()


def test_a_share_of_the_images_chooses(data: Path, run: Run, tmp_path: Path) -> None:
    """Whole images at a time; a share of none or all is refused."""
    captions = data / "train.captions.csv"
    given = ("--images", data / "images", "--valid-split", "25%")
    code, _, said = run(*train(captions, tmp_path / "run", *given))
    assert code == 0 and "training on 40 captions" in said and "on 14 pictures" in said
    for wrong in ("0%", "100%", "x%"):
        code, _, said = run(*train(captions, tmp_path / "other", *given[:3], wrong))
        assert code == 2 and f"--valid-split {wrong} is no share of the images" in said
    code, _, said = run(*train(captions, tmp_path / "other", *given, "--valid", captions))
    assert code == 2 and "is a share of --train: leave out --valid" in said


def test_captions_of_files_folders_and_patterns(
    captioner: Path, data: Path, run: Run, tmp_path: Path
) -> None:
    """The directory is all that is needed; every way to name an image gives its caption."""
    moved, photos = tmp_path / "moved", tmp_path / "photos"
    shutil.copytree(captioner, moved, ignore=shutil.ignore_patterns("checkpoints", "metrics*"))
    photos.mkdir()
    for number in (1, 2, 3):
        shutil.copy(data / "images" / f"test-{number:06d}.png", photos / f"{number}.png")
    (photos / "notes.txt").write_text("no image", encoding="utf-8")
    code, alone, _ = run("caption", "--model", moved, *sorted(photos.glob("*.png")))
    assert code == 0
    assert [row.split("\t")[0] for row in alone] == [str(photos / f"{n}.png") for n in (1, 2, 3)]
    for named in (photos, f"{photos}/*.png"):
        for size in (1, 2):
            found = run("caption", "--model", moved, named, "--batch-size", size)
            assert found[:2] == (0, alone)
    output = tmp_path / "captions.tsv"
    assert run("caption", "--model", moved, photos, "--output", output)[:2] == (0, [])
    assert output.read_text(encoding="utf-8").splitlines() == alone
    answers = load(moved).caption([photos / "1.png", photos / "2.png"])
    assert [answer.text for answer in answers] == [row.split("\t")[1] for row in alone[:2]]


def test_nbest_and_json(captioner: Path, data: Path, run: Run) -> None:
    image = data / "images" / "test-000001.png"
    code, rows, _ = run("caption", "--model", captioner, image, "--nbest", 3, "--beam", 4)
    cells = [row.split("\t") for row in rows]
    assert code == 0 and 1 <= len(rows) <= 3 and {cell[0] for cell in cells} == {str(image)}
    assert len({cell[2] for cell in cells}) == len(rows)
    _, (line,), _ = run("caption", "--model", captioner, image, "--json", "--beam", 4)
    answer = json.loads(line)
    assert answer["image"] == str(image) and answer["text"] == cells[0][2]
    assert answer["score"] == pytest.approx(float(cells[0][1]), abs=1e-5)
    assert len(answer["attention"]) == len(answer["tokens"])
    for rows_of_token in answer["attention"]:
        assert [len(row) for row in rows_of_token] == [4] * 4
        assert sum(map(sum, rows_of_token)) == pytest.approx(1, abs=1e-4)
    (scored,) = load(captioner).score_captions([(image, answer["tokens"])])
    assert scored.score == pytest.approx(answer["score"], abs=1e-4)
    assert scored.attention[0][0][0] == pytest.approx(answer["attention"][0][0][0], abs=1e-4)


def test_one_bad_image_among_many(captioner: Path, data: Path, run: Run, tmp_path: Path) -> None:
    good = data / "images" / "test-000001.png"
    bad = tmp_path / "bad.png"
    bad.write_bytes(good.read_bytes()[:200])
    code, rows, said = run("caption", "--model", captioner, bad, good, tmp_path / "none.jpg")
    assert code == 2 and [bool(row.split("\t")[1]) for row in rows] == [False, True, False]
    assert f"{bad}: damaged picture" in said and f"{tmp_path / 'none.jpg'} does not exist" in said
    assert said.endswith("regard: error: 2 images could not be read; the others are captioned\n")
    _, rows, _ = run("caption", "--model", captioner, bad, good, "--json")
    answers = [json.loads(row) for row in rows]
    assert "damaged" in answers[0]["error"] and answers[0]["score"] is None
    assert "error" not in answers[1]


def test_measuring(captioner: Path, data: Path, run: Run, tmp_path: Path) -> None:
    results = tmp_path / "results.json"
    code, shown, said = run(
        *("evaluate", "--model", captioner, "--data", data, "--train", data, "--resamples", 0),
        *("--output", results),
    )
    table = "\n".join(shown)
    assert code == 0 and "3 images, 3 captions" in said
    assert "cider_d" in table and "novel %" in table and "too few" in table
    rows = json.loads(results.read_text(encoding="utf-8"))
    assert [row["image_id"] for row in rows] == [f"test-{number:06d}.png" for number in (1, 2, 3)]
    output = tmp_path / "captions.tsv"
    code, (line,), _ = run(
        *("evaluate", "--model", captioner, "--data", data, "--split", "valid", "--json"),
        *("--output", output),
    )
    assert code == 0 and json.loads(line)["images"] == 3
    assert output.read_text(encoding="utf-8").startswith("valid-000001.png\t")


def test_attention_is_graded_by_regions(
    captioner: Path, data: Path, run: Run, tmp_path: Path
) -> None:
    """Of the nouns of given captions; chance depends on the regions alone."""
    command = ("evaluate", "--model", captioner, "--data", data, "--resamples", 0)
    regions = data / "test.regions.jsonl"
    code, shown, _ = run(*command, "--regions", regions)
    table = "\n".join(shown)
    assert code == 0 and "pointing_accuracy" in table and "nouns of 3 captions" in table
    _, (line,), _ = run(*command, "--regions", regions, "--json")
    pointing = json.loads(line)["pointing"]
    assert 0 < pointing["chance"] < 50 and pointing["captions"] == 3
    assert 0 <= pointing["metrics"]["pointing_accuracy"]["value"] <= 100
    rows = [json.loads(row) for row in regions.read_text(encoding="utf-8").splitlines()]
    moved = tmp_path / "moved.jsonl"
    moved.write_text(json.dumps(rows[0] | {"word": 90, "phrase": [89, 91]}), encoding="utf-8")
    for file, told in (
        (moved, "regions of test-000001.png are not of its first caption"),
        (data / "train.regions.jsonl", "no image of"),
    ):
        code, _, said = run(*command, "--regions", file)
        assert code == 2 and told in said


def test_two_captioners_answer_together(captioner: Path, data: Path, run: Run) -> None:
    image = data / "images" / "test-000001.png"
    alone = run("caption", "--model", captioner, image)
    assert run("caption", "--model", captioner, "--model", captioner, image) == alone


def test_the_wrong_kind_of_model(
    captioner: Path, untrained_run: Callable[..., Path], data: Path, run: Run, tmp_path: Path
) -> None:
    """Whoever confuses images and texts is told what to use."""
    reader = untrained_run(tmp_path / "reader", {"embedding": {"size": 8}})
    image, pairs = data / "images" / "test-000001.png", tmp_path / "pairs.tsv"
    pairs.write_text("a\tb\n", encoding="utf-8")
    for command, told in (
        (("caption", "--model", reader, image), "reads texts, not images: use `regard translate`"),
        (("translate", "--model", captioner, pairs), "reads images, not texts: use `regard capt"),
        (("score", "--model", captioner, "--data", pairs), "reads images, not texts"),
        (("show", "--model", captioner, "a text"), "reads images, not texts"),
        (
            ("evaluate", "--model", reader, "--data", pairs, "--images", data),
            "--images is for captions of images, and this model reads texts",
        ),
        (
            ("evaluate", "--model", captioner, "--data", data, "--confusions", 3),
            "--confusions is for texts",
        ),
        (("caption", "--model", captioner, tmp_path), "holds no images"),
        (("caption", "--model", captioner, f"{tmp_path}/*.jpg"), "matches no file"),
    ):
        code, shown, said = run(*command)
        assert code == 2 and not shown and told in said, (command, said)
        assert said.count("regard: error:") == 1


def test_the_wrong_kind_of_recipe(data: Path, run: Run, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a\tb\n", encoding="utf-8")
    out = ("--out", tmp_path / "run")
    for command, told in (
        (("rnnsearch", "--train", pairs, "--valid", pairs, "--images", data), "--images is for"),
        (("rnnsearch", "--train", pairs), "--valid is missing"),
        (("show-tell", "--train", pairs, "--valid", pairs), "pairs.tsv"),
        (("show-tell", "--train", data, "--features", "3"), "--features is for texts"),
    ):
        code, _, said = run("train", *command, *out)
        assert code == 2 and told in said, (command, said)
        assert not (tmp_path / "run").exists()


def test_rewards_go_on_from_a_run(captioner: Path, data: Path, run: Run, tmp_path: Path) -> None:
    rewarded = ("--set", "training.objective=self_critical", "--set", "training.maximum_updates=2")
    rewarded += ("--set", "training.validation_interval=2", "--no-report")
    code, _, said = run(*train(data, tmp_path / "alone", *rewarded))
    assert code == 2 and "(--from RUN)" in said and not (tmp_path / "alone").exists()
    code, shown, _ = run(*train(data, tmp_path / "run", *rewarded, "--from", captioner))
    assert code == 0 and shown[1].startswith("cider_d")
    assert load(tmp_path / "run").configuration.training.objective == "self_critical"


def test_training_leaves_a_report(captioner: Path) -> None:
    text = (captioner / "report.html").read_bytes().decode("utf-8")
    headings = re.findall(r"<h2>(.*?)</h2>", text)
    assert "Pointing" in headings and "How far to trust attention" in headings
    assert not {"By source length", "Most confused symbols", "Word alignment"} & set(headings)
    assert "all 3 validation images" in text and "no regions of nouns were given" in text
    assert "cider_d" in text and "data:image/png;base64," in text
    assert "hidden from attention" in text and "removed from the source" not in text


def test_the_report_has_the_figures_of_evaluate(
    captioner: Path, data: Path, run: Run, tmp_path: Path
) -> None:
    asked = ("--model", captioner, "--data", data, "--regions", data / "test.regions.jsonl")
    more = (*asked, "--resamples", 20, "--threads", 1)
    code, _, said = run("report", *more, "--out", tmp_path / "r.html")
    assert code == 0, said
    _, shown, _ = run("evaluate", *more, "--trust", "--json")
    figures = json.loads(shown[0])
    assert set(figures["trust"]) >= {"hidden", "sources"} and "removed" not in figures["trust"]
    assert figures["trust"]["attention_at_end"] is None
    text = (tmp_path / "r.html").read_bytes().decode("utf-8")
    rows = re.findall(r'<td dir="auto">([\w-]+)</td><td class="number">([\d.]+)</td>', text)
    told = dict(rows)
    for name, each in figures["metrics"].items():
        assert told[name] == f"{each['value']:.2f}"
    for name, each in figures["pointing"]["metrics"].items():
        assert told[name] == f"{each['value']:.2f}"
    code, _, said = run("report", *asked, "--alignments", "x", "--out", tmp_path / "x.html")
    assert code == 2 and "--alignments is for texts" in said


def test_views_are_made_and_kept(data: Path, run: Run, tmp_path: Path) -> None:
    """Of pictures to learn from alone; what is captioned is the picture as it is."""
    cache, views = tmp_path / "kept", "training.views=[original, flipped]"
    plain = run(*train(data, tmp_path / "plain", "--cache", cache))
    before = kept(cache)
    seen = run(*train(data, tmp_path / "seen", "--cache", cache, "--set", views))
    assert plain[0] == seen[0] == 0 and kept(cache) == before + 54
    code, _, said = run(*train(data, tmp_path / "other", "--set", "training.views=[flipped]"))
    assert code == 2 and "training.views" in said and "the first must be 'original'" in said
    code, rows, _ = run(
        "caption", "--model", tmp_path / "seen", data / "images" / "test-000001.png"
    )
    assert code == 0 and len(rows) == 1


def kept(cache: Path) -> int:
    """How many grids there are in all."""
    return sum(
        len(json.loads(path.read_text())["keys"])
        for path in cache.rglob("*.json")
        if path.name != "about.json"
    )
