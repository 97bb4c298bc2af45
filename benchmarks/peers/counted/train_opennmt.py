"""Train with OpenNMT-py, counting its batches: `train_opennmt.py CONFIGURATION RECORD THREADS`."""

import sys
from functools import partial
from pathlib import Path

import onmt.train_single
import torch
from counting import CountedBatches, Sizes, begin
from onmt.bin import train as onmt_command
from onmt.constants import CorpusTask, DefaultTokens


def sizes(item: tuple, padding: int) -> Sizes:
    """`tgt` [rows, steps, 1] starts with the start symbol, which is input and never predicted."""
    batch, _bucket = item
    target = batch["tgt"][:, 1:, 0]
    target_tokens = int(target.ne(padding).sum())
    return Sizes(
        target_tokens,
        int(batch["srclen"].sum()) + target_tokens,
        batch["src"][:, :, 0].numel() + target.numel(),
        target.shape[0],
    )


def main() -> None:
    configuration, record, threads = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    begin(record, "OpenNMT-py")
    build = onmt.train_single.build_dynamic_dataset_iter

    def build_counted(opt, transforms_cls, vocabs, **options):
        batches = build(opt, transforms_cls, vocabs, **options)
        if options.get("task") != CorpusTask.TRAIN:
            return batches
        padding = vocabs["tgt"][DefaultTokens.PAD]
        return CountedBatches(batches, partial(sizes, padding=padding), record)

    onmt.train_single.build_dynamic_dataset_iter = build_counted
    sys.argv = ["onmt_train", "-config", configuration]
    onmt_command.main()


if __name__ == "__main__":
    main()
