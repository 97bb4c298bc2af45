"""Train with eole, counting its batches: `train_eole.py CONFIGURATION RECORD THREADS`."""

import sys
from functools import partial
from pathlib import Path

import eole.train_single
import torch
from counting import CountedBatches, Sizes, begin
from eole.bin.main import main as eole_command
from eole.constants import CorpusTask


def sizes(item: tuple, padding: int) -> Sizes:
    """`tgt` [rows, steps] starts with the start symbol, which is input and never predicted."""
    batch, _bucket = item
    target = batch["tgt"][:, 1:]
    target_tokens = int(target.ne(padding).sum())
    return Sizes(
        target_tokens,
        int(batch["srclen"].sum()) + target_tokens,
        batch["src"].numel() + target.numel(),
        target.shape[0],
    )


def main() -> None:
    configuration, record, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    begin(record, "eole")
    build = eole.train_single.build_dynamic_dataset_iter

    def build_counted(config, transforms, vocabs, **options):
        batches = build(config, transforms, vocabs, **options)
        if options.get("task") != CorpusTask.TRAIN:
            return batches
        padding = vocabs["tgt"][vocabs["specials"]["pad_token"]]
        return CountedBatches(batches, partial(sizes, padding=padding), record)

    eole.train_single.build_dynamic_dataset_iter = build_counted
    sys.argv = ["eole", "train", "--config", configuration]
    eole_command()


if __name__ == "__main__":
    main()
