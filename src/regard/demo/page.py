"""The demo's pages: what came out, attention to look into, and what to try next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from regard.data.scenes.picture import png
from regard.demo.outcome import SHOWN, Grade, Outcome
from regard.evaluation.pointing import Pointing
from regard.files import write_text
from regard.views import (
    Figure,
    Link,
    Picture,
    Report,
    Section,
    Step,
    attention_html,
    write_report,
)

#: The page of pictures beside the report.
CAPTIONS = "captions.html"
NAMES = {
    "word_error_rate": ("Word error rate", "share of held-out words with any wrong phone"),
    "symbol_error_rate": ("Phone error rate", "wrong, missing and extra phones, per phone"),
    "bleu": ("BLEU", "overlap with the one right description, 100 at best"),
    "exact_match": ("Exact match", "share of descriptions right to the letter"),
}


def figures(outcome: Outcome) -> list[Figure]:
    """The rows of an outcome's table: label, value, explanation."""
    rows = [
        Figure(NAMES[score.name][0], _value(score.name, score.value), NAMES[score.name][1])
        for score in outcome.evaluation.scores
    ]
    if outcome.grade is not None:
        unit = "letters and phones" if outcome.task.unit == "letter" else "words"
        rows += _grades("", outcome.grade, f"held-out pairs of {unit}")
    if outcome.uneven is not None and outcome.task.unit == "letter":
        rows += _grades(
            ", uneven words", outcome.uneven, "words of more or fewer phones than letters"
        )
    if outcome.pointing is not None:
        rows += _pointing(outcome.pointing)
    return [
        *rows,
        Figure("Training", f"{outcome.seconds:.0f} s", f"{outcome.parameters:,} parameters"),
    ]


def _grades(which: str, grade: Grade, of: str) -> list[Figure]:
    """Attention's alignment error rate beside that of a guess by position alone."""
    return [
        Figure(
            f"Alignment error rate{which}",
            f"{100 * grade.attention:.1f} %",
            f"attention against the true links of {grade.pairs:,} {of}, which training never saw",
        ),
        Figure(
            f"The same of the diagonal{which}",
            f"{100 * grade.diagonal:.1f} %",
            "what a guess by position alone gets",
        ),
    ]


def _pointing(pointing: Pointing) -> list[Figure]:
    """How often words look at what they name, beside a random place."""
    return [
        Figure(
            "Pointing accuracy",
            f"{pointing.accuracy.value:.1f} %",
            f"of {pointing.nouns:,} things named, those where attention is highest; training was "
            "never told where they are",
        ),
        Figure(
            "The same by chance",
            f"{pointing.chance:.1f} %",
            "what a random place in the picture gets",
        ),
    ]


def next_steps(directory: Path) -> tuple[Step, ...]:
    """What to try once the demo is over."""
    word, scene = directory / "pronouncer", directory / "translator"
    return (
        Step("Pronounce a word:", f"echo chiacchierata | regard translate --model {word}"),
        Step(
            "Look at what it attends to:",
            f"regard show --model {scene} "
            '"A small red star is to the left of the large blue circle." --out attention.html',
        ),
        Step(
            "Look at where it looks in a picture:",
            f"regard show --model {directory / 'captioner'} "
            f"--image {directory / 'pictures' / '1.png'} --out looked.html",
        ),
        Step(
            "Train on your own pairs:",
            "regard train rnnsearch --train train.tsv --valid valid.tsv --out runs/mine",
        ),
        Step("See the other recipes:", "regard recipes"),
    )


def write_page(outcomes: Sequence[Outcome], directory: Path) -> Path:
    """Write ``report.html`` into ``directory``, and beside it ``captions.html``, to which it links.

    Each is one file that needs nothing else.
    """
    report = Report(
        title="regard: three models, and what they attend to",
        introduction=(
            "All were trained on this computer in the last minutes. Point at a word of the output "
            "to see what the model looked at when it wrote it.",
        ),
        sections=tuple(_section(outcome) for outcome in outcomes),
        steps=next_steps(directory),
    )
    path = directory / "report.html"
    write_report(report, path)
    for outcome in outcomes:
        if outcome.pointing is not None:
            write_text(directory / CAPTIONS, attention_html(*outcome.views))
    return path


def _section(outcome: Outcome) -> Section:
    pictures = tuple(
        Picture(png(scene), caption=gold.source, alternative=gold.source)
        for scene, gold in zip(outcome.task.scenes, outcome.task.shown, strict=False)
    )
    return Section(
        heading=outcome.task.heading,
        paragraphs=(outcome.task.about,),
        figures=tuple(figures(outcome)),
        pictures=pictures,
        links=(Link("All pictures, word by word", CAPTIONS),) if outcome.pointing else (),
        views=outcome.views[:SHOWN],
    )


def _value(name: str, value: float) -> str:
    return f"{value:.1f}" if name == "bleu" else f"{value:.1f} %"
