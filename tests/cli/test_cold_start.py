"""A verb that answers one line starts torch without its compiler, and nobody else notices."""

import subprocess
import sys


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_torch_computes_and_its_compiler_can_still_be_had() -> None:
    said = python(
        "import gc, sys\n"
        "from regard.cli.cold_start import COMPILER_ONLY, import_torch\n"
        "import_torch()\n"
        "import torch\n"
        "assert COMPILER_ONLY not in sys.modules and gc.isenabled()\n"
        "print(torch.ones(2, 3).softmax(-1).sum().item())\n"
        "import importlib\n"
        "importlib.import_module(COMPILER_ONLY)\n"
        "print(torch.empty(2, 3, device='meta').matmul(torch.empty(3, 4, device='meta')).shape)\n"
    )
    assert said.split("\n")[:2] == ["2.0", "torch.Size([2, 4])"]


def test_torch_that_is_there_already_is_left_alone() -> None:
    python(
        "import sys, torch\n"
        "before = dict(sys.modules)\n"
        "from regard.cli.cold_start import import_torch\n"
        "import_torch()\n"
        "assert all(sys.modules[name] is module for name, module in before.items())\n"
    )


def test_leaving_flushes_and_gives_the_exit_code() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import torch\nfrom regard.cli.cold_start import leave\nprint('all said')\nleave(7)",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (7, "all said\n")
