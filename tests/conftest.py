"""What all tests share: the installed command line, a trained run, counts of tests left out."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

REGARD = Path(sys.executable).parent / "regard"
Completed = subprocess.CompletedProcess[bytes]

_slow = pytest.StashKey[int]()


@pytest.fixture(scope="session")
def regard() -> Callable[..., Completed]:
    """Runs the installed `regard`, bytes in and out: `regard("translate", ..., input=b"...")`."""
    return run_regard


def run_regard(
    *arguments: object,
    input: bytes = b"",
    environment: dict[str, str] | None = None,
    check: bool = False,
    cwd: Path | None = None,
    timeout: float = 600,
) -> Completed:
    """check: fail, showing what was said, unless the exit code is 0."""
    done = subprocess.run(
        [REGARD, *(a if isinstance(a, bytes) else str(a) for a in arguments)],
        input=input,
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})},
        cwd=cwd,
        timeout=timeout,
        check=False,
    )
    if check:
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done


def assert_one_line_error(done: Completed, *parts: str) -> None:
    """The command refused: exit 2, nothing on stdout, one line on stderr that names every part."""
    said = done.stderr.decode("utf-8")
    assert done.returncode == 2, (done.returncode, said)
    errors = [line for line in said.split("\n") if line.startswith("regard: error: ")]
    assert len(errors) == 1, said
    assert "Traceback" not in said
    assert said.endswith(errors[0] + "\n"), said
    for part in parts:
        assert part in errors[0], (part, errors[0])


@pytest.fixture(scope="session")
def refused() -> Callable[..., None]:
    """`refused(completed, "part of the message", ...)` asserts a one-line error and exit 2."""
    return assert_one_line_error


@pytest.fixture(scope="session")
def scenes_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of scenes, without pictures: `train`, `valid` and `test` in three languages."""

    def make(directory: Path) -> None:
        run_regard(
            "scenes", "--out", directory / "scenes", "--pairs", 660, "--no-images", check=True
        )

    return once(tmp_path_factory, "scenes", make) / "scenes"


@pytest.fixture(scope="session")
def trained_run(tmp_path_factory: pytest.TempPathFactory, scenes_data: Path) -> Path:
    """A small Transformer from English to German, trained by the installed command line.

    It writes sentences that end, and is no good otherwise.
    """

    def make(directory: Path) -> None:
        run_regard(
            *("train", "transformer-tiny", "--out", directory / "run", "--threads", 1),
            "--no-report",
            *("--train", scenes_data / "train", "--valid", scenes_data / "valid"),
            *("--source", "en", "--target", "de"),
            *(part for setting in SMALL for part in ("--set", setting)),
            check=True,
        )

    return once(tmp_path_factory, "trained", make) / "run"


@pytest.fixture(scope="session")
def untrained_run() -> Callable[..., Path]:
    """Writes the run directory of a model that was never trained: `untrained_run(out, {...})`."""
    return write_untrained_run


def write_untrained_run(
    out: Path, model: dict[str, Any], *, seed: int = 6, spread: float = 0.0, **sections: Any
) -> Path:
    """A model over the letters a to h, with one vocabulary for both sides.

    spread: standard deviation of every parameter; 0 = as the model starts. sections: others of the
    configuration.
    """
    import torch

    from regard.data.pairs import Pair, Pairs
    from regard.data.tokenizers import save_tokenizers, train_tokenizers
    from regard.training.problems import resolve
    from regard.training.run import (
        TOKENIZER,
        encode_model,
        model_for,
        vocabulary_of,
        write_configuration,
        write_model,
    )

    side = {"kind": "character"}
    tokenization = {"joint": True, "source": side, "target": side}
    search = {"maximum_length_ratio": 1.0, "maximum_length_extra": 2, "beam": 3}
    settings = {"tokenization": tokenization, "search": search, "model": model, **sections}
    configuration = resolve({"recipe": "untrained", **settings}, "untrained")
    pairs = Pairs((Pair("abcdefgh", "hgfedcba"),), "letters", 0)
    tokenizers = train_tokenizers(configuration.tokenization, pairs, 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = model_for(configuration, tokenizers)
        for parameter in made.parameters() if spread else ():
            torch.nn.init.normal_(parameter, std=spread)
    (out / TOKENIZER).mkdir(parents=True)
    save_tokenizers(tokenizers, out / TOKENIZER)
    write_configuration(out, configuration, vocabulary_of(tokenizers))
    write_model(out, encode_model(made))
    return out


@pytest.fixture(scope="session")
def untrained_captioner() -> Callable[[Path], Path]:
    """Writes the run directory of a captioner that was never trained."""
    return write_untrained_captioner


def write_untrained_captioner(out: Path) -> Path:
    """A model of photos, which it sees in grids of 2 by 2."""
    import torch

    from regard.data.images.backbone import load_backbone
    from regard.data.pairs import Pair, Pairs
    from regard.data.tokenizers import save_tokenizers, train_tokenizers
    from regard.models import GridShape
    from regard.training.problems import resolve
    from regard.training.run import (
        TOKENIZER,
        encode_model,
        model_for,
        vocabulary_of,
        write_configuration,
        write_model,
    )

    decoder = {"kind": "recurrent", "size": 8, "attend": "before", "start": {"from": "mean"}}
    model = {
        "embedding": {"size": 6},
        "encoder": {"kind": "grid", "size": 8, "positions": "learned"},
        "decoder": {**decoder, "readout_size": 5},
    }
    settings = {
        "recipe": "untrained",
        "backbone": {"name": "patches", "image_size": 16, "grid": 2},
        "tokenization": {"joint": True, "target": {"kind": "space"}},
        "search": {"maximum_length_extra": 6, "beam": 3},
        "model": model,
    }
    configuration = resolve(settings, "untrained")
    pairs = Pairs((Pair("", "a red star near the blue moon"),), "captions", 0)
    tokenizers = train_tokenizers(configuration.tokenization, pairs)
    assert configuration.backbone is not None
    backbone = load_backbone(configuration.backbone)
    grid = GridShape(backbone.rows, backbone.columns, backbone.size)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        made = model_for(configuration, tokenizers, grid)
        for parameter in made.parameters():
            torch.nn.init.normal_(parameter, std=0.6)
    (out / TOKENIZER).mkdir(parents=True)
    save_tokenizers(tokenizers, out / TOKENIZER)
    write_configuration(out, configuration, vocabulary_of(tokenizers, grid))
    write_model(out, encode_model(made))
    return out


#: Settings that make `transformer-tiny` learn something within seconds.
SMALL = (
    "tokenization={joint: true, source: {size: 150}, target: {size: 150}}",
    "batching.tokens=500",
    "model.embedding.size=64",
    "model.encoder={kind: transformer, layers: 1, heads: 4, feed_forward_size: 128, dropout: 0}",
    "model.decoder={kind: transformer, layers: 1, heads: 4, feed_forward_size: 128, dropout: 0}",
    "training.learning_rate=0.005",
    "training.warmup=40",
    "training.validation_interval=120",
    "training.maximum_updates=120",
    "training.average.kind=none",
)


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A directory made once for all processes of a parallel run: `make` fills it, others wait."""
    parallel = "PYTEST_XDIST_WORKER" in os.environ
    root = factory.getbasetemp().parent if parallel else factory.getbasetemp()
    directory, done = root / name, root / f"{name}.done"
    with FileLock(root / f"{name}.lock"):
        if not done.exists():
            directory.mkdir()
            make(directory)
            done.touch()
    return directory


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Count slow tests that were left out, in whichever process collects."""
    for item in items:
        if item.get_closest_marker("slow"):
            stash = item.config.stash
            stash[_slow] = stash.get(_slow, 0) + 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of a parallel run hands its count on."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["slow"] = session.config.stash.get(_slow, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    """Every worker collects all tests, so their counts are the same count."""
    output = getattr(node, "workeroutput", {})
    stash = node.config.stash  # type: ignore[attr-defined]
    stash[_slow] = max(stash.get(_slow, 0), output.get("slow", 0))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what was not run."""
    count = config.stash.get(_slow, 0)
    if count:
        tests = "slow test was" if count == 1 else "slow tests were"
        terminalreporter.write_line(f"{count} {tests} left out; run them with `make test-slow`")
    browser = [
        report
        for report in terminalreporter.getreports("skipped")
        if "browser" in getattr(report, "keywords", {})
    ]
    if browser:
        terminalreporter.write_line(
            f"tests of pages left out: {len(browser)}, for want of Chromium and its driver "
            "(Debian: chromium, chromium-driver)"
        )
