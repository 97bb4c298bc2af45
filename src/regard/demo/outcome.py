"""What came of a task of the demo: measure, look."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from regard.api import Model, Translation, load
from regard.data.alignment import Alignment
from regard.demo.tasks import Task
from regard.evaluation import (
    Evaluation,
    Links,
    alignment_error_rate,
    diagonal,
    evaluate_texts,
    links_from_attention,
)
from regard.views import AttentionView

#: How many outputs are drawn.
SHOWN = 4


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

    grade: over all pairs whose alignment is known. uneven: over those with fewer or more parts in
        the target than in the source, where position alone tells little; None without any.
    seconds: of training, validation included.
    """

    task: Task
    evaluation: Evaluation
    grade: Grade
    uneven: Grade | None
    parameters: int
    seconds: float
    views: tuple[AttentionView, ...]


def measure(task: Task, directory: Path) -> Outcome:
    """Measure the model in ``directory`` on the held-out pairs, and draw some of them."""
    model = load(directory)
    sources, references = task.test.references()
    answers = model.translate(sources, attention=False)
    evaluation = evaluate_texts([answer.text for answer in answers], references, names=task.metrics)
    grade, uneven = grade_attention(model, task)
    return Outcome(
        task,
        evaluation,
        grade,
        uneven,
        sum(parameter.numel() for parameter in model.network.parameters()),
        _training_seconds(directory),
        tuple(_view(model, gold.source) for gold in task.shown[:SHOWN]),
    )


def _training_seconds(directory: Path) -> float:
    last = (directory / "metrics.jsonl").read_bytes().strip().rsplit(b"\n", 1)[-1]
    return float(json.loads(last)["elapsed_seconds"])


def grade_attention(model: Model, task: Task) -> tuple[Grade, Grade | None]:
    """How well attention agrees with the gold alignments: on all pairs, and on the uneven ones."""
    looked = model.score([(gold.source, gold.target) for gold in task.gold])
    links = [
        (_links(answer, task.unit), diagonal(*gold.lengths(task.unit)), gold.alignment)
        for answer, gold in zip(looked, task.gold, strict=True)
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


def _links(answer: Translation, unit: str) -> Links:
    if unit == "word":
        return frozenset(answer.alignment)
    letters, phones = range(len(answer.source_tokens) - 1), range(len(answer.tokens) - 1)
    return links_from_attention(answer.attention, (*letters, -1), (*phones, -1))


def _view(model: Model, source: str) -> AttentionView:
    answer = model.translate([source])[0]
    return AttentionView(
        source=source,
        text=answer.text,
        source_tokens=answer.source_tokens,
        tokens=answer.tokens,
        attention=answer.attention,
        score=answer.score,
        alignment=answer.alignment,
    )
