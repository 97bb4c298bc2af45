"""What came of a task of the demo: measure, look."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from regard.api import Model, load
from regard.data.alignment import Alignment
from regard.data.scenes import regions
from regard.data.scenes.picture import png
from regard.data.scenes.scene import PICTURE_SIZE
from regard.demo.task import Task
from regard.evaluation import (
    Evaluation,
    Links,
    alignment_error_rate,
    diagonal,
    evaluate_texts,
)
from regard.evaluation.aligning import Unit
from regard.evaluation.answering import answer_pairs
from regard.evaluation.captioning import score_pictures
from regard.evaluation.pointing import Pointing, grade_pointing
from regard.evaluation.regions import grade_regions
from regard.files import make_directory, write_bytes
from regard.views import AttentionView, caption_view, translation_view

#: How many outputs are drawn of each task; of pictures more, on a page of their own.
SHOWN, SHOWN_PICTURES = 4, 12


@dataclass(frozen=True)
class Grade:
    """Alignment error rates, from 0 to 1, over ``pairs`` held-out pairs.

    attention: of the attention, read off while the true target was given.
    diagonal: of the guess by position alone.
    """

    attention: float
    diagonal: float
    pairs: int


@dataclass(frozen=True)
class Outcome:
    """What came of a task.

    grade: over all pairs whose alignment is known; None without any. uneven: over those with fewer
        or more parts in the target than in the source, where position alone tells little.
    pointing: of a captioner, whether words look at what they name.
    seconds: of training, validation included.
    """

    task: Task
    evaluation: Evaluation
    grade: Grade | None
    uneven: Grade | None
    pointing: Pointing | None
    parameters: int
    seconds: float
    views: tuple[AttentionView, ...]


def measure(task: Task, directory: Path) -> Outcome:
    """Measure the model in ``directory`` on the held-out pairs, and draw some of them."""
    model = load(directory)
    network, search = model.network, model.search_configuration()
    answers = answer_pairs(network, model.tokenizers, task.test.questions().pairs, search)
    texts = [answer.text for answer in answers]
    evaluation = evaluate_texts(texts, task.test.references()[1], names=task.metrics)
    grade, uneven = grade_attention(model, task) if task.gold else (None, None)
    pictures = task.backbone is not None
    return Outcome(
        task,
        evaluation,
        grade,
        uneven,
        grade_pictures(model, task) if pictures else None,
        sum(parameter.numel() for parameter in model.network.parameters()),
        _training_seconds(directory),
        tuple(_picture_views(model, task, directory.parent / "pictures"))
        if pictures
        else tuple(_view(model, gold.source) for gold in task.shown[:SHOWN]),
    )


def _training_seconds(directory: Path) -> float:
    last = (directory / "metrics.jsonl").read_bytes().strip().rsplit(b"\n", 1)[-1]
    return float(json.loads(last)["elapsed_seconds"])


def grade_attention(model: Model, task: Task) -> tuple[Grade, Grade | None]:
    """How well attention agrees with the gold alignments: on all pairs, and on the uneven ones."""
    pairs = [(gold.source, gold.target) for gold in task.gold]
    unit: Unit = "word" if task.unit == "word" else "token"
    links = [
        (frozenset(aligned.alignment), diagonal(*gold.lengths(task.unit)), gold.alignment)
        for aligned, gold in zip(
            model.align(pairs, unit=unit, attention=False), task.gold, strict=True
        )
    ]
    uneven = [
        each
        for each, gold in zip(links, task.gold, strict=True)
        if len(set(gold.lengths(task.unit))) == 2
    ]
    return _grade(links), _grade(uneven) if uneven else None


def _grade(links: list[tuple[Links, Links, Alignment]]) -> Grade:
    sure = [alignment.sure for _, _, alignment in links]
    possible = [alignment.possible for _, _, alignment in links]
    return Grade(
        alignment_error_rate([found for found, _, _ in links], sure, possible),
        alignment_error_rate([guess for _, guess, _ in links], sure, possible),
        len(links),
    )


def _view(model: Model, source: str) -> AttentionView:
    answer = model.translate([source])[0]
    return translation_view(source, answer.text, answer)


def grade_pictures(model: Model, task: Task) -> Pointing:
    """Whether attention is at what the words of the true captions name."""
    covered = model.needed_backbone().covered(PICTURE_SIZE, PICTURE_SIZE)
    looked = score_pictures(
        model.network,
        model.tokenizers,
        [pair.picture for pair in task.test if pair.picture is not None],
        task.test.targets(),
        model.search_configuration(),
    )
    return grade_pointing(
        [
            grade_regions(answer, regions(scene), covered)
            for answer, scene in zip(looked, task.scenes, strict=True)
        ]
    )


def _picture_views(model: Model, task: Task, folder: Path) -> Iterator[AttentionView]:
    """Some pictures, which are kept in a folder, and their captions."""
    make_directory(folder)
    for number, scene in enumerate(task.scenes[:SHOWN_PICTURES], start=1):
        image = folder / f"{number}.png"
        write_bytes(image, png(scene))
        (answer,) = model.caption([image])
        yield caption_view(image, answer, model.needed_backbone())
