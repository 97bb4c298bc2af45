"""The train verb through the installed command line: stopping, going on, refusing."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

REGARD = Path(sys.executable).parent / "regard"

TINY = (
    "tokenization={joint: false, source: {kind: character}, target: {kind: character}}",
    "model.embedding={size: 16, share: false, tie_output: false}",
    "model.encoder={kind: transformer, layers: 1, heads: 2, feed_forward_size: 16}",
    "model.decoder={kind: transformer, layers: 1, heads: 2, feed_forward_size: 16}",
    "batching.tokens=300",
    "training.metric=exact_match",
    "training.average.kind=none",
)
SETTINGS = [part for setting in TINY for part in ("--set", setting)]


@pytest.fixture(scope="module")
def copies(tmp_path_factory) -> Path:
    """Words that translate to themselves."""
    path = tmp_path_factory.mktemp("copies") / "words.tsv"
    words = [f"{a}{b}{c}" for a in "abcde" for b in "fghij" for c in "klmno"]
    path.write_text("".join(f"{word}\t{word}\n" for word in words), encoding="utf-8")
    return path


def command(data, out, *more) -> list[object]:
    return [
        *("train", "transformer-tiny", "--train", data, "--valid", data, "--out", out),
        *("--threads", 1, *SETTINGS, *more),
    ]


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_the_same_command_goes_on(regard, copies, tmp_path, sent, code):
    out = tmp_path / "run"
    child = subprocess.Popen(
        [REGARD, *map(str, command(copies, out))], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    deadline = time.monotonic() + 600
    while (
        not (out / "metrics.jsonl").exists()
        or b'"training"' not in (out / "metrics.jsonl").read_bytes()
    ):
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    child.send_signal(sent)
    shown, said = child.communicate(timeout=600)
    assert (child.returncode, shown) == (code, b"")
    assert b"everything is saved" in said and b"Traceback" not in said
    facts = json.loads(regard("info", out, "--json", check=True).stdout)
    assert facts["training"]["ended"] is None
    stopped = facts["training"]["updates"]
    more = ("--set", f"training.maximum_updates={stopped + 60}", "--resume")
    done = regard(*command(copies, out, *more), check=True)
    assert b"exact_match" in done.stdout and b"regard translate --model" in done.stdout
    facts = json.loads(regard("info", out, "--json", check=True).stdout)
    assert facts["training"]["ended"] == "maximum_updates"
    assert facts["training"]["updates"] == stopped + 60


def test_minutes_end_well_and_quietly(regard, copies, tmp_path):
    out = tmp_path / "run"
    done = regard(*command(copies, out, "--minutes", 0.05, "--quiet"), check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    facts = json.loads(regard("info", out, "--json", check=True).stdout)
    assert facts["training"]["ended"] == "minutes"
    assert facts["model"] is not None


def test_progress_is_told_in_ascii_locales(regard, copies, tmp_path):
    environment = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    data = tmp_path / "größe.tsv"
    data.write_bytes(copies.read_bytes())
    out = tmp_path / "run"
    done = regard(
        *command(data.as_posix().encode(), out, "--set", "training.maximum_updates=2"),
        environment=environment,
        check=True,
    )
    assert "größe.tsv" in done.stderr.decode("utf-8")
    assert "125 pairs" in done.stderr.decode("utf-8")


def test_a_full_disk_leaves_nothing(copies, tmp_path):
    out = tmp_path / "run"
    quoted = " ".join(f"'{part}'" for part in command(copies, out))
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 8; '{REGARD}' {quoted}"],
        capture_output=True,
        check=False,
        timeout=600,
    )
    said = done.stderr.decode()
    assert done.returncode == 2, said
    assert said.split("\n")[-2].startswith("regard: error: cannot write "), said
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())
