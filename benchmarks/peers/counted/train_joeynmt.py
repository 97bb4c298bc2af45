"""Train with JoeyNMT, counting its batches: `train_joeynmt.py CONFIGURATION RECORD THREADS`."""

import sys
from pathlib import Path

import torch
from counting import CountedBatches, Sizes, begin
from joeynmt import __main__ as joeynmt_command
from joeynmt.batch import Batch
from joeynmt.datasets import BaseDataset


def sizes(batch: Batch) -> Sizes:
    """`batch.trg` is shifted past the start symbol and ends with the end symbol."""
    target_tokens = int(batch.trg_mask.sum())
    return Sizes(
        target_tokens,
        int(batch.src_length.sum()) + target_tokens,
        batch.src.numel() + batch.trg.numel(),
        batch.trg.shape[0],
    )


def main() -> None:
    configuration, record, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    begin(record, "joeynmt")
    make_iter = BaseDataset.make_iter

    def make_counted_iter(dataset, *arguments, **options):
        loader = make_iter(dataset, *arguments, **options)
        return CountedBatches(loader, sizes, record) if dataset.split == "train" else loader

    BaseDataset.make_iter = make_counted_iter
    sys.argv = ["joeynmt", "train", configuration, "--skip-test"]
    joeynmt_command.main()


if __name__ == "__main__":
    main()
