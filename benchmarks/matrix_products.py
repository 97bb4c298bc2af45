"""What `training.matrix_products=bfloat16` does to the time of an update, and to the loss.

    python benchmarks/matrix_products.py --data PREFIX --source en --target de

First table: processor time of one update on one thread, float32 and bfloat16 in turn on the same
batch, the median of some. Second, with `--updates N`: the mean loss of the last fifty of N updates
from the same first weights on the same batches.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

import machine
from regard.data.batches import Batch, Example, bucket, collate, encode_pairs
from regard.data.pairs import read_pairs
from regard.data.tokenizers import Tokenizers, train_tokenizers
from regard.errors import UserError
from regard.training.allocator import keep_freed_memory
from regard.training.configuration import Configuration
from regard.training.optimizer import Adam, clip_gradients
from regard.training.random_state import seed_everything
from regard.training.recipes import load_recipe
from regard.training.run import model_for
from regard.training.schedule import learning_rate
from regard.training.shards import Shards
from tables import table

KINDS = ("float32", "bfloat16")
_LAST = 50  # updates whose mean loss is told


@dataclass(frozen=True)
class Job:
    """A recipe with its data."""

    configuration: Configuration
    tokenizers: Tokenizers
    examples: Sequence[Example]
    batches: Sequence[Sequence[int]]

    def batch(self, number: int) -> Batch:
        """The batches of the first epoch, over and over."""
        return collate(self.examples, self.batches[number % len(self.batches)])


class Trainer:
    """A model from the seed, and one update of it after the other."""

    def __init__(self, job: Job, rounded: bool) -> None:
        self.training = job.configuration.training
        self.size = job.configuration.model.embedding.size
        seed_everything(self.training.seed)
        self.model = model_for(job.configuration, job.tokenizers).train()
        self.shards = Shards(self.model, 1, rounded)
        self.optimizer = Adam(self.model, self.training)

    def update(self, batch: Batch) -> float:
        """The loss before it."""
        self.optimizer.forget_gradients()
        loss = self.shards.backward(batch, self.training.label_smoothing).loss
        clip_gradients(self.model, self.training.gradient_clip)
        step = self.optimizer.updates + 1
        self.optimizer.update(learning_rate(step, self.training, 0.0, size=self.size))
        return loss.item()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 2 after one line that says what was wrong."""
    options = _parser().parse_args(arguments)
    keep_freed_memory()
    torch.set_num_threads(1)
    try:
        jobs = {name: prepare(name, options) for name in options.recipes.split(",")}
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    times = [[name, *_times(job, options.rounds)] for name, job in jobs.items()]
    print(table(("one update", *KINDS, "faster by"), times), flush=True)
    if options.updates:
        losses = [[name, *_losses(job, options.updates)] for name, job in jobs.items()]
        print("", table((f"loss after {options.updates} updates", *KINDS), losses), sep="\n")
    here = machine.describe()
    rate = machine.processor_rate() / 1e9
    print(f"\n{here.processor}, torch {here.torch}; float32 products of 2048^3: {rate:.0f} GFLOP/s")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Products of bfloat16 in training: time and loss.")
    add_training(parser, "transformer-tiny,transformer-small")
    add = parser.add_argument
    add("--rounds", type=int, default=7, help="updates of each kind that are timed (default 7)")
    add("--updates", type=int, default=0, help="for the second table (default none)")
    return parser


def add_training(parser: argparse.ArgumentParser, recipes: str) -> None:
    """Options that say what is trained on what, as `prepare` reads them."""
    add = parser.add_argument
    add("--data", required=True, help="pairs, as `regard train` takes them")
    add("--source", help="as `regard train` takes it")
    add("--target", help="as `regard train` takes it")
    add("--recipes", default=recipes, help=f"(default {recipes})")
    add("--vocabulary", type=int, default=8000, help="subwords of both sides (default 8000)")
    add("--tokens", type=int, default=4096, help="of a batch (default 4096)")


def prepare(recipe: str, options: argparse.Namespace) -> Job:
    """A recipe with the data that were named. Raises UserError for what cannot be read."""
    overrides = [f"tokenization.{side}.size={options.vocabulary}" for side in ("source", "target")]
    configuration = load_recipe(recipe, [*overrides, f"batching.tokens={options.tokens}"])
    pairs = read_pairs(options.data, options.source, options.target)
    seed = configuration.training.seed
    tokenizers = train_tokenizers(configuration.tokenization, pairs, seed)
    examples = encode_pairs(pairs, tokenizers)
    batches = bucket(examples, configuration.batching, seed, 0)
    return Job(configuration, tokenizers, examples, batches)


def _times(job: Job, rounds: int) -> list[str]:
    trainers = [Trainer(job, kind == "bfloat16") for kind in KINDS]
    taken: list[list[float]] = [[] for _ in KINDS]
    for number in range(rounds + 1):
        for trainer, times in zip(trainers, taken, strict=True):
            began = time.thread_time()
            trainer.update(job.batch(0))
            if number:  # the first one of each warms up
                times.append(time.thread_time() - began)
    exact, rounded = (statistics.median(times) for times in taken)
    return [f"{1000 * exact:,.0f} ms", f"{1000 * rounded:,.0f} ms", f"{exact / rounded:.2f}x"]


def _losses(job: Job, updates: int) -> list[str]:
    told = []
    for kind in KINDS:
        trainer = Trainer(job, kind == "bfloat16")
        losses = [trainer.update(job.batch(number)) for number in range(updates)]
        told.append(f"{statistics.mean(losses[-_LAST:]):.4f}")
    return told


if __name__ == "__main__":
    sys.exit(main())
