"""docs/formats.md names what a run directory and the printed JSON really hold."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from regard.api import load
from regard.cli.answers import steps_fields

from .documents import ROOT, inline, read

FORMATS = ROOT / "docs" / "formats.md"
NAMED = {word for code in inline(FORMATS) for word in re.findall(r"\w+", code)}
SENTENCE = "A small red star is to the left of the large blue circle."


def test_files_of_a_run(trained_run: Path) -> None:
    for path in trained_run.rglob("*"):
        name = re.sub(r"\d{8}", "NNNNNNNN", path.name)
        assert name in read(FORMATS), name


def test_metrics(trained_run: Path) -> None:
    lines = (trained_run / "metrics.jsonl").read_bytes().split(b"\n")[:-1]
    records = [json.loads(line) for line in lines]
    assert {record["kind"] for record in records} == {"start", "training", "validation", "end"}
    for record in records:
        assert record.keys() <= NAMED, record.keys() - NAMED
        assert {"kind", "step", "seconds"} <= record.keys()


def test_printed_json(regard, trained_run: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(f"{SENTENCE}\tEin Stern.\n", encoding="utf-8", newline="\n")
    model = ("--model", trained_run)
    printed = [
        regard("translate", *model, "--json", input=SENTENCE.encode(), check=True).stdout,
        regard("score", *model, "--data", pairs, "--json", check=True).stdout,
        regard("evaluate", *model, "--data", pairs, "--json", check=True).stdout,
        regard(
            "align", *model, "--data", pairs, "--reverse", trained_run, "--json", check=True
        ).stdout,
    ]
    regard("show", *model, SENTENCE, "--out", tmp_path / "x.json", check=True)
    printed.append((tmp_path / "x.json").read_bytes())
    for text in printed:
        record = json.loads(text)
        assert record.keys() <= NAMED, record.keys() - NAMED


def test_steps_where_they_are_adaptive(untrained_run: Callable[..., Path], tmp_path: Path) -> None:
    both = {"kind": "universal_transformer", "heads": 2, "adaptive": "graves"}
    sections = {"embedding": {"size": 8}, "encoder": both, "decoder": both}
    (answer,) = load(untrained_run(tmp_path / "run", sections)).translate(["face"])
    fields = steps_fields(answer)
    assert len(fields) == 4 and fields.keys() <= NAMED
