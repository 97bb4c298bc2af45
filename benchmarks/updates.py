"""Updates of a recipe on given data, one after the other: what benchmarks of training time."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

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


def add_training(parser: argparse.ArgumentParser, recipes: str) -> None:
    """Options that say what is trained on what, as `measure_jobs` reads them."""
    add = parser.add_argument
    add("--data", required=True, help="pairs, as `regard train` takes them")
    add("--source", help="as `regard train` takes it")
    add("--target", help="as `regard train` takes it")
    add("--recipes", default=recipes, help=f"(default {recipes})")
    add("--vocabulary", type=int, default=8000, help="subwords of both sides (default 8000)")
    add("--tokens", type=int, default=4096, help="of a batch (default 4096)")


def measure_jobs(options: argparse.Namespace, measure: Callable[[Mapping[str, Job]], None]) -> int:
    """Measure the recipes that were asked for on one thread; 2 after one line if one cannot be."""
    keep_freed_memory()
    torch.set_num_threads(1)
    try:
        jobs = {name: _prepare(name, options) for name in options.recipes.split(",")}
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    measure(jobs)
    return 0


def _prepare(recipe: str, options: argparse.Namespace) -> Job:
    overrides = [f"tokenization.{side}.size={options.vocabulary}" for side in ("source", "target")]
    configuration = load_recipe(recipe, [*overrides, f"batching.tokens={options.tokens}"])
    pairs = read_pairs(options.data, options.source, options.target)
    seed = configuration.training.seed
    tokenizers = train_tokenizers(configuration.tokenization, pairs, seed)
    examples = encode_pairs(pairs, tokenizers)
    batches = bucket(examples, configuration.batching, seed, 0)
    return Job(configuration, tokenizers, examples, batches)
