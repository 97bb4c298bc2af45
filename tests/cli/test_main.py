"""The command line as a whole: help, versions, errors, signals, pipes, other locales."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

REGARD = Path(sys.executable).parent / "regard"
HEAVY = ("torch", "numpy", "pydantic", "sentencepiece", "matplotlib", "rich", "sacrebleu", "yaml")


def test_help_names_every_verb(regard):
    from regard.cli.verbs import VERBS

    shown = regard("--help", check=True).stdout.decode("ascii")
    for verb in VERBS:
        assert f"  {verb} " in shown
    assert regard(check=True).stdout.decode("ascii") == shown


def test_help_imports_nothing_heavy():
    program = (
        "import sys; sys.argv = ['regard', '--help']; from regard.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip().endswith("\n[]")


def test_help_is_quick(regard):
    def seconds() -> float:
        """Of the processor, which other programs' work does not count towards."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        regard("--help", check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 0.5


@pytest.mark.parametrize(
    "verb",
    [
        "recipes",
        "train",
        "translate",
        "evaluate",
        "score",
        "show",
        "explore",
        "info",
        "scenes",
        "demo",
    ],
)
def test_help_of_a_verb_is_ascii_and_light(regard, verb):
    done = regard(verb, "--help", check=True, environment={"PYTHONIOENCODING": "ascii"})
    assert done.stdout.isascii()
    assert f"regard {verb}".encode() in done.stdout
    assert not done.stderr


def test_version(regard):
    import regard as package

    assert regard("--version", check=True).stdout.decode() == f"regard {package.__version__}\n"
    module = [sys.executable, "-m", "regard", "--version"]
    assert subprocess.run(module, capture_output=True, check=True).stdout.startswith(b"regard ")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["tranlate"], ["`tranlate`", "`translate`"]),
        (["zzz"], ["`zzz`", "translate"]),
        (["--nonsense"], ["--nonsense", "regard --help"]),
        (["translate", "--modle", "x"], ["--modle", "regard translate --help"]),
        (["translate"], ["--model"]),
        (["translate", "--model", "x", "--beam", "many"], ["--beam", "integer"]),
        (["translate", "--model", "x", "--beam", "0"], ["--beam", "1"]),
        (["score", "--model", "x"], ["--data"]),
        (["info", "a", "b"], ["b"]),
    ],
)
def test_what_was_typed_wrong_is_told_in_one_line(regard, refused, arguments, parts):
    refused(regard(*arguments), *parts)


def test_completion_lists_verbs(regard):
    environment = {
        "_REGARD_COMPLETE": "complete_bash",
        "COMP_WORDS": "regard tra",
        "COMP_CWORD": "1",
    }
    shown = regard(environment=environment).stdout.decode().split()
    assert shown == ["train", "translate"]


def test_a_closed_pipe_is_quiet():
    command = f'"{REGARD}" recipes | true; echo "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"0\n", b"")


def test_a_full_disk_behind_standard_output(refused):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([REGARD, "recipes"], stdout=full, stderr=subprocess.PIPE, check=False)
    refused(subprocess.CompletedProcess([], done.returncode, b"", done.stderr), "standard output")


def test_a_closed_standard_output(regard, refused):
    done = subprocess.run(
        ["bash", "-c", f'"{REGARD}" recipes >&-'], capture_output=True, check=False
    )
    refused(done, "standard output is closed")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_quietly(sent, code):
    program = (
        "import sys, time, regard.cli.verbs as verbs\n"
        "class Slow:\n"
        "    def main(self, **given):\n"
        "        print('ready', flush=True); time.sleep(30)\n"
        "verbs.application = Slow\n"
        "from regard.cli import main; main()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout.readline() == b"ready\n"
    os.kill(child.pid, sent)
    _, said = child.communicate(timeout=20)
    assert (child.returncode, said) == (code, b"")


def test_a_fault_of_our_own_keeps_its_traceback():
    program = (
        "import regard.cli.verbs as verbs\n"
        "class Wrong:\n"
        "    def main(self, **given): raise ZeroDivisionError('ours')\n"
        "verbs.application = Wrong\n"
        "from regard.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"Traceback" in done.stderr and b"ZeroDivisionError: ours" in done.stderr
