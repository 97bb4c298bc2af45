"""Trains one task of the demo in a process of its own, and tells how it goes in JSON lines.

``python -m regard.demo.worker NAME DIRECTORY SEED [SETTING...]``: small models use one core
well and two badly, so the demo gives each model that it trains a core.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from regard.demo.tasks import TASKS
from regard.errors import UserError
from regard.training.progress import Glance
from regard.training.recipes import load_recipe
from regard.training.train import train


class JsonReporter:
    """A reporter whose every word is a line of JSON on standard output."""

    def message(self, text: str) -> None:
        tell(kind="message", text=text)

    def training(self, glance: Glance) -> None:
        tell(kind="progress", text=str(glance), share=glance.share or 0.0)

    def counting(self, what: str, done: int, total: int) -> None:
        tell(kind="progress", text=f"{what}: {done:,} of {total:,}", share=None)

    def close(self) -> None:
        pass


def tell(**event: Any) -> None:
    """Write one event."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def main(name: str, directory: str, seed: str, *more: str) -> int:
    """Train; 0 when done, 2 after an error that was told."""
    try:
        task = TASKS[name](int(seed))
        settings = (*task.settings, f"training.seed={seed}", "training.threads=1", *more)
        configuration = load_recipe(task.recipe, settings)
        train(
            configuration,
            task.train,
            task.valid,
            Path(directory),
            backbone=task.backbone,
            progress=JsonReporter(),
        )
    except UserError as error:
        tell(kind="error", text=str(error))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
