"""Runs of a benchmark: trained once, each in a directory of its own, and gone on with if stopped.

What was measured of a run is kept beside it too, so that a benchmark can be run in pieces: what is
there already is read, not done again.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

import machine
import regard
from parameters import parameters_of
from regard.data.pairs import Pairs
from regard.errors import UserError
from regard.evaluation import evaluate_texts, symbols_of
from regard.files import write_text
from regard.training.configuration import Configuration
from regard.training.continuation import check_same_settings
from regard.training.metrics import read_metrics
from regard.training.recipes import load_recipe
from regard.training.run import METRICS, load_run, read_configuration
from regard.training.train import train

ROW = "row.json"


Rows = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Job:
    """One model to train: the name of its directory, a recipe, overrides as `--set` takes them."""

    name: str
    recipe: str
    settings: tuple[str, ...]


@dataclass(frozen=True)
class Trained:
    """What training took; updates are those of the whole run, seconds those spent in updates."""

    parameters: int
    updates: int
    target_tokens: int
    seconds: float


@dataclass(frozen=True)
class Study:
    """A job, the pairs that it learns from, is chosen by and is measured on, and how.

    tests: what it is measured on, by name. metrics: of each of them.
    told: what stands at the head of its row. beam: of the search, None = the recipe's own.
    resamples: of the bootstrap intervals, 0 = none.
    """

    job: Job
    learned: Pairs
    valid: Pairs
    tests: Mapping[str, Pairs]
    metrics: tuple[str, ...]
    told: Mapping[str, Any]
    beam: int | None = None
    resamples: int = 0


def tabulate(
    studies: Iterable[Study],
    root: Path,
    minutes: float | None,
    report: Path,
    rows_table: Callable[[Rows], str],
    draw: Callable[[Rows], Mapping[str, str]] | None = None,
) -> int:
    """Run all studies and write the table of all rows; 2 after one line when something is wrong.

    draw: pictures of the rows, by the names of their files, which stand beside the report.
    """
    try:
        for study in studies:
            run(study, root, minutes)
        found = rows(root)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    whole = {"machine": asdict(machine.describe()), "minutes": minutes, "rows": found}
    write_report(report, whole, rows_table(found))
    for name, picture in (draw(found) if draw else {}).items():
        write_text(report.with_name(name), picture)
    return 0


def run(study: Study, root: Path, minutes: float | None = None) -> dict[str, Any]:
    """Train and measure, as far as that is still to be done; the row is kept as `row.json`.

    minutes: wall time of the training, None = what the settings say.
    """
    directory = root / study.job.name
    took = trained(study.job, study.learned, study.valid, directory, minutes)
    figures = {
        name: measured(
            directory, name, pairs, study.metrics, beam=study.beam, resamples=study.resamples
        )
        for name, pairs in study.tests.items()
    }
    row = {
        **study.told,
        "recipe": study.job.recipe,
        "settings": study.job.settings,
        **asdict(took),
        "figures": figures,
    }
    write_text(directory / ROW, json.dumps(row, indent=2, ensure_ascii=False) + "\n")
    return row


def rows(root: Path) -> list[dict[str, Any]]:
    """The rows of all studies under a directory, by the names of their directories."""
    paths = sorted(root.glob(f"**/{ROW}"), key=lambda path: _natural(str(path.relative_to(root))))
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def trained(
    job: Job, learned: Pairs, valid: Pairs, directory: Path, minutes: float | None = None
) -> Trained:
    """Train a job, or go on with it, or do nothing when it has ended.

    Raises UserError when its directory holds a run of other settings.
    """
    configuration = load_recipe(job.recipe, [*job.settings, "training.threads=1"])
    if not ended(directory, configuration):
        print(f"{job.name}:", flush=True)
        resume = directory.exists()
        train(configuration, learned, valid, directory, minutes=minutes, resume=resume)
    return facts(directory)


def ended(directory: Path, configuration: Configuration) -> bool:
    """Whether a run is there and its training is over; more updates than it had are yet to do.

    Raises UserError when it was started with other settings.
    """
    path = directory / METRICS
    if not path.exists() or read_metrics(path)[-1:][0]["kind"] != "end":
        return False
    saved, _, _ = read_configuration(directory)
    check_same_settings(saved, configuration, directory)
    return saved.training.maximum_updates == configuration.training.maximum_updates


def facts(directory: Path) -> Trained:
    """What a run's own record says of its training."""
    end = read_metrics(directory / METRICS)[-1]
    parameters = parameters_of(load_run(directory).model)
    return Trained(parameters, end["step"], end["target_tokens"], end["seconds"])


def measured(
    directory: Path,
    name: str,
    pairs: Pairs,
    metrics: Sequence[str],
    *,
    beam: int | None = None,
    resamples: int = 0,
) -> dict[str, Any]:
    """Figures of a run on pairs, as `Evaluation.as_dict` has them; kept as `measured/NAME.json`.

    beam: None = the run's own. resamples: of the bootstrap intervals, 0 = none.
    """
    path = directory / "measured" / f"{name}.json"
    asked = {"data": _digest(pairs), "metrics": list(metrics), "beam": beam, "resamples": resamples}
    if path.exists():
        known = json.loads(path.read_text(encoding="utf-8"))
        if known["asked"] == asked:
            found: dict[str, Any] = known["found"]
            return found
    torch.set_num_threads(1)
    model = regard.load(directory)
    sources, references = pairs.references()
    answers = model.translate(sources, beam=beam, attention=False)
    evaluation = evaluate_texts(
        [answer.text for answer in answers],
        references,
        names=metrics,
        symbols=symbols_of(model.configuration.tokenization.target.kind),
        resamples=resamples,
    )
    path.parent.mkdir(exist_ok=True)
    found = evaluation.as_dict()
    write_text(path, json.dumps({"asked": asked, "found": found}, indent=2) + "\n")
    return found


def write_report(path: Path, measured: Any, text: str) -> None:
    """`PATH.json`, everything measured; `PATH.md`, the tables; and the tables on the screen."""
    write_text(path.with_suffix(".json"), json.dumps(measured, indent=2) + "\n")
    write_text(path.with_suffix(".md"), text + "\n")
    print(text, flush=True)


def metric_head(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> list[str]:
    """The columns of `metric_cells`, for rows of one kind."""
    head = []
    for metric in metrics:
        head.append(f"{metric.replace('_', ' ')}, %")
        if rows and "interval" in metric_of(rows[0], metric):
            head.append("95 %")
    return head


def metric_cells(row: Mapping[str, Any], metrics: Sequence[str]) -> list[str]:
    """Each metric of the test data, and its interval where there is one."""
    cells = []
    for metric in metrics:
        found = metric_of(row, metric)
        cells.append(f"{found['value']:.2f}")
        if "interval" in found:
            cells.append(f"{found['interval']['low']:.1f} to {found['interval']['high']:.1f}")
    return cells


def metric_of(row: Mapping[str, Any], metric: str) -> dict[str, Any]:
    """What a row says of a metric of the test data."""
    found: dict[str, Any] = row["figures"]["test"]["metrics"][metric]
    return found


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Orders names by the numbers in them."""
    parts = re.split(r"(\d+)", name)
    return [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]


def _digest(pairs: Pairs) -> str:
    """Names the data."""
    lines = (f"{pair.source}\t{pair.target}\n" for pair in pairs)
    return hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]
