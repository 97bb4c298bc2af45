"""The demo: its data, its trainings side by side, what it measures and writes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from regard.demo import LANES, TASKS, Job, Outcome, Task, measure, train_side_by_side, write_page
from regard.demo.outcome import SHOWN
from regard.demo.page import figures
from regard.errors import UserError
from regard.training.recipes import load_recipe


@pytest.fixture(scope="module")
def tasks() -> dict[str, Task]:
    return {name: make(1) for name, make in TASKS.items()}


def test_no_held_out_source_is_trained_or_chosen_on(tasks: dict[str, Task]) -> None:
    for task in tasks.values():
        seen = set(task.train.sources()) | set(task.valid.sources())
        assert not seen & set(task.test.sources())
        assert {gold.source for gold in task.gold} <= set(task.test.sources())


def test_there_are_1500_held_out_words(tasks: dict[str, Task]) -> None:
    assert len(tasks["pronouncer"].test.references()[0]) == 1500


def test_settings_fit_their_recipes(tasks: dict[str, Task]) -> None:
    for task in tasks.values():
        configuration = load_recipe(task.recipe, task.settings)
        assert configuration.recipe == task.recipe
        assert configuration.training.metric in ("word_error_rate", "exact_match")


@pytest.fixture(scope="module")
def outcomes(
    tasks: dict[str, Task], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Outcome]]:
    """All models after a few updates, measured on a few pairs."""
    out = tmp_path_factory.mktemp("demo")
    short = ("training.warmup=10", "training.maximum_updates=40", "training.validation_limit=20")
    train_side_by_side([[Job(name, out / name, short) for name in lane] for lane in LANES], seed=1)
    few = [
        replace(
            task,
            test=replace(task.test, pairs=task.test.pairs[:20]),
            gold=task.gold[:20],
            shown=task.shown[:2],
            scenes=task.scenes[:20],
        )
        for task in tasks.values()
    ]
    return out, [measure(task, out / task.name) for task in few]


def test_every_model_is_trained_and_measured(outcomes: tuple[Path, list[Outcome]]) -> None:
    out, measured = outcomes
    for outcome in measured:
        run = out / outcome.task.name
        last = json.loads((run / "metrics.jsonl").read_text(encoding="utf-8").split("\n")[-2])
        assert last["kind"] == "end" and last["step"] == 40
        assert outcome.parameters > 10_000
        names = [score.name for score in outcome.evaluation.scores]
        assert names == list(outcome.task.metrics)
    by_name = {outcome.task.name: outcome for outcome in measured}
    captioner, pronouncer = by_name.pop("captioner"), by_name["pronouncer"]
    for outcome in by_name.values():
        assert outcome.grade is not None and outcome.grade.pairs == 20
        assert 0 <= outcome.grade.attention <= 1 and 0 <= outcome.grade.diagonal <= 1
        assert outcome.uneven is not None and 0 < outcome.uneven.pairs < 20
    assert by_name["translator"].grade.diagonal > 0.5  # word order differs on purpose
    assert pronouncer.grade.diagonal < 0.2  # Italian spelling is nearly phonemic
    assert pronouncer.uneven.diagonal > pronouncer.grade.diagonal
    assert captioner.grade is None and captioner.pointing is not None
    assert captioner.pointing.captions == 20 and captioner.pointing.nouns >= 20
    assert 5 < captioner.pointing.chance < 25


def test_every_model_is_in_one_lane(tasks: dict[str, Task]) -> None:
    assert sorted(name for lane in LANES for name in lane) == sorted(tasks)


def test_the_page_holds_every_figure_and_view(outcomes: tuple[Path, list[Outcome]]) -> None:
    out, measured = outcomes
    text = write_page(measured, out).read_text(encoding="utf-8")
    for outcome in measured:
        for row in figures(outcome):
            assert row.label in text and row.value in text
        for view in outcome.views[:SHOWN]:
            assert view.source in text
    assert "http://" not in text.replace("http://www.w3.org", "") and "https://" not in text
    assert 'href="captions.html"' in text
    captions = (out / "captions.html").read_text(encoding="utf-8")
    views = measured[-1].views
    assert captions.count('<article class="attention">') == len(views) == 12
    assert all(Path(view.source).is_file() and view.source in captions for view in views)


def test_a_failing_worker_is_one_error(tmp_path: Path) -> None:
    job = Job("pronouncer", tmp_path / "run", ("training.learning_raet=1",))
    with pytest.raises(UserError, match=r"pronouncer.*learning_raet.*learning_rate"):
        train_side_by_side([[job, Job("translator", tmp_path / "later")]], seed=1)
    assert not list(tmp_path.iterdir())  # nor did what comes after it begin
