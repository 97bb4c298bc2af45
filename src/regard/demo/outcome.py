"""What came of a task of the demo: measure, look."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from regard.api import Model, Translation, load
from regard.demo.tasks import Gold, Task
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
class Outcome:
    """What came of a task.

    error_rate, diagonal_error_rate: alignment error rate of the attention and of the
        nearest-diagonal guess, from 0 to 1, over ``aligned`` held-out pairs.
    seconds: of training, validation included.
    """

    task: Task
    evaluation: Evaluation
    error_rate: float
    diagonal_error_rate: float
    aligned: int
    parameters: int
    seconds: float
    views: tuple[AttentionView, ...]


def measure(task: Task, directory: Path) -> Outcome:
    """Measure the model in ``directory`` on the held-out pairs, and draw some of them."""
    model = load(directory)
    sources, references = task.test.references()
    answers = model.translate(sources, attention=False)
    evaluation = evaluate_texts([answer.text for answer in answers], references, names=task.metrics)
    error_rate, diagonal_error_rate = grade_attention(model, task)
    return Outcome(
        task,
        evaluation,
        error_rate,
        diagonal_error_rate,
        len(task.gold),
        sum(parameter.numel() for parameter in model.network.parameters()),
        _training_seconds(directory),
        tuple(_view(model, task.gold[i].source) for i in range(SHOWN)),
    )


def _training_seconds(directory: Path) -> float:
    last = (directory / "metrics.jsonl").read_bytes().strip().rsplit(b"\n", 1)[-1]
    return float(json.loads(last)["elapsed_seconds"])


def grade_attention(model: Model, task: Task) -> tuple[float, float]:
    """Alignment error rates of attention over the gold targets, and of the diagonal guess."""
    looked = model.score([(gold.source, gold.target) for gold in task.gold])
    split = list if task.unit == "letter" else str.split
    found = [
        _links(answer, gold, task.unit) for answer, gold in zip(looked, task.gold, strict=True)
    ]
    guessed = [diagonal(len(split(gold.source)), len(gold.target.split())) for gold in task.gold]
    sure = [gold.alignment.sure for gold in task.gold]
    possible = [gold.alignment.possible for gold in task.gold]
    return (
        alignment_error_rate(found, sure, possible),
        alignment_error_rate(guessed, sure, possible),
    )


def _links(answer: Translation, gold: Gold, unit: str) -> Links:
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
        title=source,
    )
