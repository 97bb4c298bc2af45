"""Train with yoyodyne, counting its batches: `train_yoyodyne.py CONFIGURATION RECORD`."""

import sys
from pathlib import Path
from typing import Any

from counting import Counter, Sizes, begin, tell
from yoyodyne.cli import main as yoyodyne_command
from yoyodyne.data import Batch
from yoyodyne.models import BaseModel


def sizes(batch: Batch) -> Sizes:
    """Sources and targets end with the end symbol; `mask` is true where there is padding."""
    source, target = batch.source, batch.target
    target_tokens = int((~target.mask).sum())
    return Sizes(
        target_tokens,
        int((~source.mask).sum()) + target_tokens,
        source.tensor.numel() + target.tensor.numel(),
        len(batch),
    )


def main() -> None:
    configuration, record = sys.argv[1], Path(sys.argv[2])
    begin(record, "yoyodyne")
    counter = Counter(record)

    def started(model: Any, batch: Batch, number: int) -> None:
        if counter.began is None:
            tell(record, parameters=model.num_parameters)
        counter.start()

    def ended(model: Any, outputs: Any, batch: Batch, number: int) -> None:
        counter.add(sizes(batch))

    BaseModel.on_train_batch_start, BaseModel.on_train_batch_end = started, ended
    yoyodyne_command.python_interface(["fit", "--config", configuration])


if __name__ == "__main__":
    main()
