"""Train a job undisturbed, and again with a SIGKILL at random moments; print what was done.

Run as a program: the children are forked from here, where torch is imported and has not trained
yet, so that each is a real process that costs no start.

    cd tests; python -m training.kill_driver DIRECTORY KIND SEED KILLS UPDATES
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from regard.training.configuration import Configuration
from regard.training.train import train

from .tiny import reversals, tiny

TRAIN, VALID = reversals(80), reversals(10, seed=6)


def start(configuration: Configuration, out: Path) -> int:
    """A child that trains or goes on training; its process id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        train(configuration, TRAIN, VALID, out, resume=True, progress=False)
        code = 0
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


def finish(child: int) -> None:
    status = os.waitpid(child, 0)[1]
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit("a child failed")


def kill(child: int, delay: float) -> bool:
    """Whether the child was still at work when the signal came."""
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    exit_code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if exit_code == 1:
        sys.exit("a child failed")
    return exit_code == -signal.SIGKILL


def main(directory: Path, kind: str, seed: int, kills: int, updates: int) -> None:
    # a checkpoint after every third update or so: many of the signals fall into one being saved
    settings = {"maximum_updates": updates, "checkpoint_interval_seconds": 0.02}
    configuration = tiny(kind, **settings)
    started = time.monotonic()
    finish(start(configuration, directory / "whole"))
    whole = time.monotonic() - started
    generator = random.Random(seed)
    done = sum(
        kill(start(configuration, directory / "killed"), generator.uniform(0, whole / kills * 2))
        for _ in range(kills)
    )
    left_over = [path.name for path in (directory / "killed").rglob("*.partial")]
    finish(start(configuration, directory / "killed"))
    print(json.dumps({"kills": done, "seconds": whole, "left_over": left_over}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
