"""A tagger of one attention layer, trained for the same updates however it attends."""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from parameters import parameters_of
from regard.attention import Attention, sinusoidal_positions
from regard.training.configuration import TrainingConfiguration
from regard.training.optimizer import Adam
from word_forms import PADDING, Forms, Task

_BATCH = 64
_RATE = 4e-3
_WARMUP, _COOLDOWN = 0.1, 0.3  # shares of the updates


@dataclass(frozen=True)
class Way:
    """How it attends: score, and what is projected."""

    score: str
    project: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """One training, measured on sentences that it did not see.

    accuracy: share of the words with several German forms that got the right one.
    perplexity: of all German words.
    on_itself: mean weight that a word gives to itself.
    """

    seed: int
    parameters: int
    accuracy: float
    perplexity: float
    on_itself: float


class FormTagger(nn.Module):
    """``p(form of word i) = softmax(FFN([x_i; c_i]))``, c_i from self-attention over all x.

    x_i is the word's embedding plus its sinusoidal position.
    """

    def __init__(self, task: Task, size: int, way: Way) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(task.vocabulary) + 1, size)
        self.attention = Attention(size, score=way.score, project=way.project)
        self.inner = nn.Linear(2 * size, 2 * size)
        self.outer = nn.Linear(2 * size, len(task.answers) + 1)

    def forward(
        self, words: Int[Tensor, "batch positions"], mask: Bool[Tensor, "batch positions"]
    ) -> tuple[Float[Tensor, "batch positions forms"], Float[Tensor, "batch positions positions"]]:
        """Logits of every word's form, and the weights."""
        size = self.embedding.embedding_dim
        read = self.embedding(words) + sinusoidal_positions(words.shape[1], size)
        context, weights = self.attention(read, key_mask=mask, need_weights=True)
        assert weights is not None
        hidden = F.relu(self.inner(torch.cat([read, context], dim=-1)))
        return self.outer(hidden), weights[:, 0]


def train_tagger(task: Task, way: Way, size: int, updates: int, seed: int) -> FormTagger:
    """Adam, batches of 64 sentences, warm-up and cooldown; everything from the seed."""
    torch.manual_seed(seed)
    tagger = FormTagger(task, size, way)
    optimizer = Adam(tagger, TrainingConfiguration(optimizer="adam"))
    generator = torch.Generator().manual_seed(seed)
    for update in range(1, updates + 1):
        rows = torch.randint(len(task.train.words), (_BATCH,), generator=generator)
        share = min(update / (_WARMUP * updates), (updates + 1 - update) / (_COOLDOWN * updates))
        mask = task.train.mask[rows]
        longest = int(mask.sum(1).max())
        logits, _ = tagger(task.train.words[rows, :longest], mask[:, :longest])
        optimizer.forget_gradients()
        _loss(logits, task.train.forms[rows, :longest]).backward()
        optimizer.update(_RATE * min(1.0, share))
    return tagger


@torch.no_grad()
def grade(tagger: FormTagger, forms: Forms, seed: int) -> Outcome:
    """Measure a trained tagger."""
    tagger.eval()
    logits, weights = tagger(forms.words, forms.mask)
    right = logits.argmax(-1) == forms.forms
    return Outcome(
        seed=seed,
        parameters=parameters_of(tagger),
        accuracy=right[forms.open].double().mean().item(),
        perplexity=_loss(logits, forms.forms).exp().item(),
        on_itself=weights.diagonal(dim1=1, dim2=2)[forms.mask].mean().item(),
    )


def run(
    task: Task, ways: Collection[Way], size: int, updates: int, seeds: Collection[int]
) -> dict[Way, list[Outcome]]:
    """Every way with every seed."""
    return {
        way: [
            grade(train_tagger(task, way, size, updates, seed), task.test, seed) for seed in seeds
        ]
        for way in ways
    }


def _loss(
    logits: Float[Tensor, "batch positions forms"], forms: Int[Tensor, "batch positions"]
) -> Float[Tensor, ""]:
    return F.cross_entropy(logits.flatten(0, 1), forms.flatten(), ignore_index=PADDING)
