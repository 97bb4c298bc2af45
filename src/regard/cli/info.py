"""The info verb: what a model is, how it was trained, how good it is."""

from pathlib import Path
from typing import Annotated, Any

import typer

from regard.cli.options import AsJson


def info(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")],
    as_json: AsJson = False,
) -> None:
    """What a model is, how it was trained, how good it is."""
    from regard.cli.answers import json_line
    from regard.cli.streams import write_lines

    facts = collect(run)
    write_lines([json_line(facts)] if as_json else _table(facts))


def collect(run: Path) -> dict[str, Any]:
    """What config.yaml and metrics.jsonl tell about a run, in JSON's terms.

    Raises UserError for a directory that is no run, or damaged.
    """
    from regard.training.metrics import read_metrics
    from regard.training.run import METRICS, read_configuration

    read_configuration(run)  # whether it is a run at all comes first
    return collect_from(run, read_metrics(run / METRICS))


def collect_from(run: Path, lines: list[dict[str, Any]]) -> dict[str, Any]:
    """The same where the lines of metrics.jsonl are known; without any of them, None for what they
    would tell."""
    from regard.evaluation import better
    from regard.training.run import read_configuration

    configuration, vocabulary, version = read_configuration(run)
    metric = configuration.training.metric
    start, end = _last(lines, "start"), _last(lines, "end")
    resumed = _last(lines, "resume")
    # a run that was resumed after its end goes on: that end was not the last word
    ended = bool(end) and not (resumed and lines.index(resumed) > lines.index(end))
    latest = lines[-1] if lines else {}
    return {
        "run": str(run),
        "recipe": configuration.recipe,
        "description": configuration.description,
        "regard": version,
        "parameters": start.get("parameters"),
        "vocabulary": {**vocabulary.as_dict(), "joint": configuration.tokenization.joint},
        "grid": None if vocabulary.grid is None else vocabulary.grid._asdict(),
        "backbone": start.get("backbone"),
        "data": {key: start.get(key) for key in _DATA},
        "padding": start.get("padding"),
        "training": {
            "ended": end.get("reason") if ended else None,
            "updates": latest.get("step"),
            "epochs": end.get("epochs") if ended else _last(lines, "training").get("epoch"),
            "target_tokens": _latest(lines, "target_tokens"),
            "training_seconds": latest.get("seconds"),
            "elapsed_seconds": _latest(lines, "elapsed_seconds"),
            "threads": start.get("threads"),
        },
        "metric": metric,
        "model": _model(lines, metric, better(metric), end if ended else {}),
        "baseline": start.get("baseline"),
        "versions": start.get("versions"),
    }


#: What the first line of metrics.jsonl says about the data.
_DATA = (
    "pairs",
    "blank",
    "too_long",
    "validation_pairs",
    "validation_sources",
    "validation_blank",
    "validation_seen",
    "validation_unseen",
    "validation_unreachable",
)


def _last(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next((line for line in reversed(lines) if line.get("kind") == kind), {})


def _latest(lines: list[dict[str, Any]], key: str) -> Any:
    return next((line[key] for line in reversed(lines) if key in line), None)


def _model(
    lines: list[dict[str, Any]], metric: str, better: str, end: dict[str, Any]
) -> dict[str, Any] | None:
    """The figures of the model that the run holds: the best validated one, or their average."""
    validations = [line for line in lines if line.get("kind") == "validation" and metric in line]
    single = [line for line in validations if "average_of" not in line]
    if not single:
        return None
    sign = -1 if better == "higher" else 1
    best = min(single, key=lambda line: sign * line[metric])  # the first of equal ones
    averaged = end.get("averaged") or []
    kept = next((line for line in validations if line.get("average_of") == averaged), best)
    return {
        metric: kept[metric],
        "perplexity": kept.get("perplexity"),
        "step": best["step"],
        "averaged": averaged,
        "validations": len(single),
    }


def _table(facts: dict[str, Any]) -> list[str]:
    from regard.cli.table import table

    return table(information(facts))


def information(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values of what is known, as a person reads them; the description has no name."""
    rows = [
        ("recipe", facts["recipe"]),
        ("", facts["description"]),
        ("parameters", _number(facts["parameters"])),
        ("vocabulary", _vocabulary(facts["vocabulary"])),
        ("pictures", _pictures(facts)),
        ("training data", _data(facts["data"])),
        ("validation data", _validation_data(facts["data"])),
        ("padding", "" if facts["padding"] is None else f"{facts['padding']:.1%}"),
        ("training", _training(facts["training"])),
        ("time", _time(facts["training"])),
        ("model", _figures(facts["model"], facts["metric"])),
        ("baseline", _baseline(facts)),
        ("made by", f"regard {facts['regard']}"),
    ]
    return [(name, value) for name, value in rows if value]


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _vocabulary(sizes: dict[str, Any]) -> str:
    if "source" not in sizes:
        return f"{sizes['target']:,} symbols"
    features = sizes.get("features", 0)
    more = f", {features:,} of features" if features else ""
    if sizes["joint"]:
        return f"{sizes['target']:,} symbols, one vocabulary for both sides{more}"
    source = sizes["source"] - features
    return f"{source:,} source symbols, {sizes['target']:,} target symbols{more}"


def _pictures(facts: dict[str, Any]) -> str:
    """What is read of images, and what makes it of them."""
    grid = facts["grid"]
    if grid is None:
        return ""
    shape = f"grids of {grid['rows']} x {grid['columns']} vectors of {grid['size']:,}"
    return f"{shape}, made by {facts['backbone'] or 'something else'}"


def _data(data: dict[str, Any]) -> str:
    if data["pairs"] is None:
        return ""
    left_out = [
        f"{data[key]:,} {why}"
        for key, why in (("too_long", "too long, left out"), ("blank", "blank, dropped"))
        if data[key]
    ]
    return ", ".join([f"{data['pairs']:,} pairs", *left_out])


def _validation_data(data: dict[str, Any]) -> str:
    if data["validation_pairs"] is None:
        return ""
    known = [
        f"{data[key]:,} {what}"
        for key, what in (
            ("validation_blank", "blank, dropped"),
            ("validation_seen", "in the training data too"),
            ("validation_unseen", "with symbols never seen in training"),
            ("validation_unreachable", "whose targets cannot be written"),
        )
        if data[key]
    ]
    sizes = [
        f"{data['validation_pairs']:,} pairs",
        f"{data['validation_sources']:,} sources used",
    ]
    return ", ".join([*sizes, *known])


def _training(training: dict[str, Any]) -> str:
    if training["updates"] is None:
        return "not begun"
    ended = training["ended"]
    how = f"ended by {ended}" if ended else "not ended: under way, or to be resumed"
    return f"{training['updates']:,} updates, {how}"


def _time(training: dict[str, Any]) -> str:
    from regard.cli.reading import counted
    from regard.training.progress import clock

    seconds, elapsed = training["training_seconds"], training["elapsed_seconds"]
    if not seconds:
        return ""
    speed = f", {training['target_tokens'] / seconds:,.0f} target tokens/s"
    whole = "" if elapsed is None else f", {clock(elapsed)} in all"
    rate = speed if training["target_tokens"] else ""
    return f"{clock(seconds)} in updates{whole}{rate}, {counted(training['threads'], 'thread')}"


def _figures(model: dict[str, Any] | None, metric: str) -> str:
    if model is None:
        return "none yet: nothing has been validated"
    which = f"after {model['step']:,} updates"
    if model["averaged"]:
        which = f"the average of {len(model['averaged'])} models"
    perplexity = "" if model["perplexity"] is None else f", perplexity {model['perplexity']:,.2f}"
    return f"{metric} {model[metric]:.2f}{perplexity} on the validation data ({which})"


def _baseline(facts: dict[str, Any]) -> str:
    """What copying and memorizing reaches; nothing for a run that was made before it was kept."""
    from regard.training.selection import beats_baseline

    value, metric, model = facts["baseline"], facts["metric"], facts["model"]
    if value is None:
        return ""
    worse = model is not None and not beats_baseline(model[metric], value, metric)
    verdict = ": the model is no better" if worse else ""
    return f"{metric} {value:.2f} by copying or memorizing alone{verdict}"
