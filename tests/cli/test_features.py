"""Features on the command line: learned, used by every verb, refused where wrong.

What is learned goes through the installed `regard`; all else through the same program in this
process, which has torch already.
"""

import io
import json
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import pytest

from regard.cli import run

Command = Callable[..., "CompletedProcess[bytes]"]

SETTINGS = (
    "tokenization={joint: false, source: {kind: character}, target: {kind: character}}",
    "batching.tokens=200",
    "model.initialization=glorot",
    "model.features=encoder",
    "model.embedding={size: 16, dropout: 0.0}",
    "model.encoder={kind: recurrent, size: 16, dropout: 0.0}",
    "model.decoder={kind: recurrent, size: 24, attention: {size: 16}, readout_size: 16}",
    "training.learning_rate=0.02",
    "training.warmup=10",
    "training.maximum_updates=120",
    "training.validation_interval=120",
    "training.metric=exact_match",
)
ENDINGS = {"N;SG": "", "N;DAT(PL)": "en", "V;PST;NOM(1,SG)": "te", "V;PST;NOM(1,PL)": "ten"}
WORDS = ["".join(word) for word in product("abc", "iou")]
COLUMNS = ("--source", 1, "--features", 2, "--target", 3)
THREADS = ("--threads", 1)


def write(path: Path, rows: list[tuple[str, ...]]) -> Path:
    path.write_bytes("".join("\t".join(row) + "\n" for row in rows).encode())
    return path


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Command:
    """As the fixture `regard`, in this process."""

    def call(*arguments: object, input: bytes = b"", check: bool = False) -> Any:
        stdin = SimpleNamespace(buffer=io.BytesIO(input), closed=False, isatty=lambda: False)
        monkeypatch.setattr(sys, "stdin", stdin)
        capsysbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        done = CompletedProcess(arguments, code, *capsysbinary.readouterr())
        assert not check or code == 0, done.stderr
        return done

    return call


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [(word, tag, word + end) for word in WORDS for tag, end in ENDINGS.items()]
    return write(tmp_path_factory.mktemp("forms") / "forms.tsv", rows)


@pytest.fixture(scope="module")
def model(regard: Any, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / "forms"
    settings = [part for setting in SETTINGS for part in ("--set", setting)]
    trained = ("train", "rnnsearch", "--train", data, "--valid", data, "--out", out)
    done = regard(*trained, *COLUMNS, *THREADS, *settings, check=True)
    assert b"of features" in done.stderr and b"--features 2" in done.stdout
    return out


@pytest.fixture(scope="module")
def plain(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model without features, which has learned nothing."""
    out = tmp_path_factory.mktemp("plain") / "run"
    settings = [*SETTINGS, "training.maximum_updates=1", "training.validation_limit=1"]
    sets = [part for setting in settings for part in ("--set", setting)]
    files = ["--train", data, "--valid", data, "--out", out, "--source", 1, "--target", 3]
    assert run(["train", "rnnsearch", *map(str, files), "--threads", "1", "--quiet", *sets]) == 0
    return out


def test_each_source_is_asked_with_its_features(command: Command, model: Path, data: Path) -> None:
    out = model.parent / "outputs.txt"
    evaluate = ("evaluate", "--model", model, "--data", data, *COLUMNS, *THREADS)
    done = command(*evaluate, "--json", "--output", out, check=True)
    figures = json.loads(done.stdout)
    assert (figures["sources"], figures["references"]) == (36, 36)
    assert figures["metrics"]["exact_match"]["value"] > 90
    assert len(out.read_bytes().split(b"\n")) == 37
    targets = [row.split(b"\t")[2] for row in data.read_bytes().split(b"\n")[:-1]]
    assert sum(map(bytes.__eq__, out.read_bytes().split(b"\n"), targets)) > 32


def test_rows_are_translated(regard: Any, command: Command, model: Path) -> None:
    rows = b"ai\tN;DAT(PL)\tx\n\n\tN;SG\nbu\tN;SG\nco\tV;PST;NOM(1,SG)\n"
    lines = (
        regard("translate", "--model", model, "--features", 2, *THREADS, input=rows, check=True)
        .stdout.decode()
        .split("\n")
    )
    assert lines[1:3] == ["", ""] and len(lines) == 6
    assert [lines[0], *lines[3:5]] == ["aien", "bu", "cote"]
    turned = command(
        *("translate", "--model", model, "--features", 1, "--source", 2, "--json", *THREADS),
        input=b"N;DAT(PL)\tai\n",
        check=True,
    )
    answer = json.loads(turned.stdout)
    assert (answer["source"], answer["features"]) == ("ai", "N;DAT(PL)")
    assert answer["source_tokens"] == ["N", "DAT", "(", "PL", ")", "a", "i", "</s>"]
    assert all(len(row) == 8 for row in answer["attention"])
    assert answer["alignment"] in ([], [[0, 0]])  # one word; features are none


def test_bad_rows_are_named_and_stop_no_other(command: Command, model: Path) -> None:
    rows = b"ai\tN;SG\nbu\nbu\tN;DAT(PL\nbu\t\n\xff\tN;SG\nbu\tN;SG;XYZ\n"
    done = command("translate", "--model", model, "--features", 2, *THREADS, input=rows)
    said = done.stderr.decode()
    assert done.returncode == 2 and "Traceback" not in said
    answers = done.stdout.split(b"\n")
    assert answers[:5] == [b"ai", b"", b"", b"", b""] and answers[5] and len(answers) == 7
    assert "line 2: 1 column, but column 2 with the features" in said
    assert "line 3: features with a bracket that is not closed" in said
    assert "line 4: no features" in said and "line 5: not UTF-8" in said
    assert "never seen in training" in said and "XYZ" in said
    assert said.endswith(
        "4 lines of the input could not be answered and stayed blank; the others are\n"
    )


def test_scores(command: Command, model: Path, data: Path, tmp_path: Path) -> None:
    score = ("score", "--model", model, *THREADS)
    lines = command(*score, "--data", data, *COLUMNS, check=True).stdout.decode().split("\n")
    assert len(lines) == 37 and lines[1].split("\t")[2:] == ["ai", "N;DAT(PL)", "aien"]
    translate = ("translate", "--model", model, "--features", 2, "--json", *THREADS)
    answers = command(*translate, input=data.read_bytes())
    path = tmp_path / "answers.jsonl"
    path.write_bytes(answers.stdout)
    scored = command(*score, "--data", path, "--features", "features", "--json", check=True)
    given = [json.loads(line) for line in answers.stdout.split(b"\n")[:-1]]
    found = [json.loads(line) for line in scored.stdout.split(b"\n")[:-1]]
    assert [one["features"] for one in found] == [one["features"] for one in given]
    for one, other in zip(found, given, strict=True):
        assert one["score"] == pytest.approx(other["score"], abs=1e-4)
        assert one["source_tokens"] == other["source_tokens"]
    path.write_text('{"source": "ai", "tokens": ["a", "</s>"]}\n', encoding="utf-8")
    done = command(*score, "--data", path, "--features", "features")
    assert done.returncode == 2 and b'line 1: no key "features"' in done.stderr


def test_show(command: Command, model: Path, tmp_path: Path) -> None:
    show = ("show", "--model", model, "ai", "--features", "N;DAT(PL)", *THREADS, "--out")
    for name, more in (("x.json", ()), ("y.json", ("--target", "aien"))):
        done = command(*show, tmp_path / name, *more, check=True)
        assert done.stdout == b"aien\n"
        shown = json.loads((tmp_path / name).read_bytes())
        assert shown["source_tokens"] == ["N", "DAT", "(", "PL", ")", "a", "i", "</s>"]
    assert command(*show, tmp_path / "z.svg", check=True).returncode == 0


def test_the_python_face(model: Path) -> None:
    import regard as package
    from regard.errors import UserError

    loaded = package.load(model)
    answers = loaded.translate(["ai", "ai", " "], features=["N;DAT(PL)", "N;SG", ""])
    assert [answer.text for answer in answers] == ["aien", "ai", ""]
    bad, unseen = loaded.translate(["ai", "ai"], features=["N;(", "N;SG;XYZ;XYZ"])
    assert bad.problem is not None and bad.text == "" and "bracket" in bad.problem
    assert unseen.unseen_features == ("XYZ",) and unseen.problem is None
    right, wrong = loaded.score([("ai", "aien")] * 2, features=["N;DAT(PL)", "N;SG"])
    assert right.score > wrong.score
    for features in (["N;SG", "N;SG"], "N;SG", []):
        with pytest.raises(UserError, match="give a list, one for each"):
            loaded.translate(["ai"], features=features)
    with pytest.raises(UserError, match="trained with features"):
        loaded.translate(["ai"])


def test_info(command: Command, model: Path) -> None:
    facts = json.loads(command("info", model, "--json", check=True).stdout)
    assert facts["vocabulary"]["features"] == 11
    assert b"11 of features" in command("info", model, check=True).stdout


NEEDED = "the model was trained with features"
REFUSED: list[tuple[tuple[Any, ...], str]] = [
    (("translate",), NEEDED),
    (("translate", "--source", 1), "--source is a column of rows"),
    (("translate", "--features", "tags"), "numbers from 1"),
    (("translate", "--features", 1), "also the source column"),
    (("show", "ai"), NEEDED),
    (("show", "ai", "--features", " "), "TEXT has no features"),
    (("show", "ai", "--features", "N("), "TEXT has features with a bracket"),
]


@pytest.mark.parametrize(("arguments", "told"), REFUSED)
def test_refused(
    command: Command, refused: Any, model: Path, arguments: tuple[Any, ...], told: str
) -> None:
    verb, *rest = arguments
    refused(command(verb, "--model", model, *rest, *THREADS, input=b"ai\tN;SG\n"), told)


@pytest.mark.parametrize("verb", ["evaluate", "score"])
def test_data_without_features_are_refused(
    command: Command, refused: Any, model: Path, data: Path, verb: str
) -> None:
    columns = ("--source", 1, "--target", 3)
    refused(command(verb, "--model", model, "--data", data, *columns, *THREADS), NEEDED)
    damaged = write(data.parent / "damaged.tsv", [("ai", "N;SG", "ai"), ("bu", "", "bu")])
    refused(
        command(verb, "--model", model, "--data", damaged, *COLUMNS, *THREADS),
        "damaged.tsv, line 2: no features",
    )


@pytest.mark.parametrize("verb", ["translate", "evaluate", "score", "show"])
def test_a_model_without_features_refuses_them(
    command: Command, refused: Any, plain: Path, data: Path, verb: str
) -> None:
    given: dict[str, tuple[Any, ...]] = {
        "translate": ("--features", 2),
        "evaluate": ("--data", data, *COLUMNS),
        "score": ("--data", data, *COLUMNS),
        "show": ("ai", "--features", "N;SG"),
    }
    done = command(verb, "--model", plain, *given[verb], *THREADS, input=b"ai\tN;SG\n")
    refused(done, "features are given, but the model was trained without any")


def test_training_refuses_half_of_the_features(
    command: Command, refused: Any, data: Path, tmp_path: Path
) -> None:
    half = write(tmp_path / "half.tsv", [("ai", "N;SG", "ai"), ("bu",), ("co", "", "co")])
    train = ("train", "rnnsearch", "--train", half, "--valid", data, "--out", tmp_path / "run")
    refused(command(*train, *COLUMNS), "half.tsv, line 2: 1 column, but column 2")
    assert not (tmp_path / "run").exists()
