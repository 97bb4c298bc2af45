"""One recipe with one setting over a folder of languages: training, and figures on the test words.

For every LANGUAGE with LANGUAGE_train.tsv, LANGUAGE_dev.tsv and LANGUAGE_test.tsv, as the shared
tasks of SIGMORPHON lay them out, through the installed ``regard`` commands. The development words
choose the weights; the test words are only answered. A run that is there is not trained again, one
that was stopped is gone on with: what its parts took is kept beside it and added up.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from regard.files import write_text
from tables import table

REGARD = (sys.executable, "-m", "regard")
METRICS = ("word_error_rate", "symbol_error_rate", "exact_match")


@dataclass(frozen=True)
class Outcome:
    """What one language gave, in percent; seconds of training, passed and of the processor.

    low, high: the 95 % bootstrap interval of the test word error rate.
    """

    language: str
    updates: int
    seconds: float
    cpu_seconds: float
    valid: float
    word_error_rate: float
    low: float
    high: float
    symbol_error_rate: float
    exact_match: float


def languages(folder: Path, chosen: Sequence[str]) -> list[str]:
    """The languages in the folder, or those that are asked for, smallest training data first."""
    found = {path.name.removesuffix("_train.tsv"): path for path in folder.glob("*_train.tsv")}
    missing = [name for name in chosen if name not in found]
    if missing or not found:
        raise SystemExit(f"{folder}: no {' '.join(missing) or 'LANGUAGE'}_train.tsv")
    kept = [name for name in found if name in chosen] if chosen else list(found)
    return sorted(kept, key=lambda name: (found[name].stat().st_size, name))


def measure(language: str, options: argparse.Namespace) -> Outcome:
    """Train, unless that was done before, and measure on the test words."""
    out = options.out / language
    facts = out.with_suffix(".json")
    if not facts.exists():
        write_text(facts, json.dumps(_train(language, options, out)) + "\n")
    spent = json.loads(facts.read_text(encoding="utf-8"))
    test = _evaluate(out, options.folder / f"{language}_test.tsv", options)
    valid = _evaluate(out, options.folder / f"{language}_dev.tsv", options)
    interval = test["word_error_rate"]["interval"]
    values = {name: test[name]["value"] for name in METRICS}
    return Outcome(
        language=language,
        valid=valid["word_error_rate"]["value"],
        low=interval["low"],
        high=interval["high"],
        **values,
        **spent,
    )


def _train(language: str, options: argparse.Namespace, out: Path) -> dict[str, float]:
    """Run ``regard train``, or go on with it, and say what it took in all.

    Raises SystemExit when it ends otherwise; what it took until then is kept for the next time.
    """
    going_on, before = out.exists(), _spent_before(out)
    command = [*REGARD, "train", options.recipe, *_columns(options), "--out", str(out), "--quiet"]
    command += ["--no-report"]
    command += ["--train", str(options.folder / f"{language}_train.tsv")]
    command += ["--valid", str(options.folder / f"{language}_dev.tsv")]
    command += ["--threads", str(options.threads), "--seed", str(options.seed)]
    command += [] if options.minutes is None else ["--minutes", str(options.minutes)]
    command += [part for each in options.set for part in ("--set", each)]
    command += ["--resume"] if going_on else []
    started = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    spent = {
        "seconds": before["seconds"] + time.perf_counter() - started,
        "cpu_seconds": before["cpu_seconds"] + usage.ru_utime + usage.ru_stime,
    }
    if process.returncode:
        if out.exists():
            write_text(_part(out), json.dumps(spent) + "\n")
        raise SystemExit(f"{language}: `{' '.join(command)}` ended with {process.returncode}")
    lines = (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    updates = max(json.loads(line).get("step", 0) for line in lines)
    return {"updates": updates, **spent}


def _spent_before(out: Path) -> dict[str, float]:
    """What the parts of a training took that was stopped; it is forgotten until the next one ends.

    So a part that nobody saw the end of, because this program was killed, is never left out in
    silence. Raises SystemExit then.
    """
    part = _part(out)
    if not out.exists():
        part.unlink(missing_ok=True)  # of a training that was deleted
        return {"seconds": 0.0, "cpu_seconds": 0.0}
    if not part.exists():
        raise SystemExit(
            f"{out}: what its training took so far is not known; when nothing trains there any "
            "more, delete it to train anew"
        )
    spent: dict[str, float] = json.loads(part.read_text(encoding="utf-8"))
    part.unlink()
    return spent


def _part(out: Path) -> Path:
    """Where it is kept what a stopped training took."""
    return out.with_suffix(".part.json")


def _evaluate(out: Path, data: Path, options: argparse.Namespace) -> dict[str, Any]:
    command = [*REGARD, "evaluate", "--model", str(out), "--data", str(data), "--json"]
    command += [*_columns(options), "--threads", str(options.threads)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    metrics: dict[str, Any] = json.loads(done.stdout)["metrics"]
    return metrics


def _columns(options: argparse.Namespace) -> list[str]:
    columns = {"source": options.source, "target": options.target, "features": options.features}
    return [part for name, at in columns.items() if at for part in (f"--{name}", str(at))]


def report(outcomes: Sequence[Outcome]) -> str:
    """A Markdown table, the mean over languages last."""
    head = ["language", "updates", "minutes", "CPU minutes", "valid WER", "test WER", "95 %"]
    head += ["symbols wrong", "right"]
    rows = [
        [
            each.language,
            f"{each.updates:,}",
            f"{each.seconds / 60:.1f}",
            f"{each.cpu_seconds / 60:.1f}",
            f"{each.valid:.2f}",
            f"{each.word_error_rate:.2f}",
            f"{each.low:.1f} - {each.high:.1f}",
            f"{each.symbol_error_rate:.2f}",
            f"{each.exact_match:.2f}",
        ]
        for each in outcomes
    ]
    mean = {
        name: statistics.mean(getattr(each, name) for each in outcomes)
        for name in ("valid", *METRICS)
    }
    longest = max(each.seconds for each in outcomes) / 60
    processor = max(each.cpu_seconds for each in outcomes) / 60
    last = ["mean", "", f"<= {longest:.1f}", f"<= {processor:.1f}", f"{mean['valid']:.2f}"]
    last += [f"{mean['word_error_rate']:.2f}", "", f"{mean['symbol_error_rate']:.2f}"]
    return table(head, [*rows, [*last, f"{mean['exact_match']:.2f}"]])


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="of LANGUAGE_{train,dev,test}.tsv")
    parser.add_argument("--out", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--recipe", default="lstm-attention")
    parser.add_argument("--languages", nargs="*", default=[], help="all by default")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--minutes", type=float, help="most time for each language")
    parser.add_argument("--source", type=int, help="column, from 1")
    parser.add_argument("--target", type=int)
    parser.add_argument("--features", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of each run")
    parser.add_argument("--jobs", type=int, default=2, help="runs side by side")
    parser.add_argument("--json", type=Path, help="keep the figures here")
    return parser.parse_args(given)


def main() -> None:
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    names = languages(options.folder, options.languages)
    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda name: measure(name, options), names):
            outcomes.append(outcome)
            print(report([outcome]).splitlines()[2], flush=True)
    outcomes.sort(key=lambda each: each.language)
    print("\n" + report(outcomes))
    if options.json is not None:
        text = json.dumps([asdict(each) for each in outcomes], indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
