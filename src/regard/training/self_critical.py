"""Self-critical sequence training (Rennie et al. 2017, "Self-critical Sequence Training for Image
Captioning", equations 5 to 8).

For a picture, w^s is a caption drawn from the model, w^ the one that greedy search finds, r their
rewards. The gradient of minus the expected reward is estimated, with the greedy caption's reward as
its baseline, as

    - (r(w^s) - r(w^)) sum_t grad log q(w^s_t | w^s_<t)

averaged over the batch. q is what captions are drawn from: the model's distribution over the
symbols that an output may have. The estimate is exact: its mean over all draws is the gradient. So
that it is that of the model as it is used, drawing, searching and the gradient go without dropout.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.batches import Batch
from regard.data.special import END, PAD, START
from regard.models import Model
from regard.search import Hypothesis, SearchConfiguration, greedy_search, sample
from regard.search.hypothesis import NEVER_EMITTED
from regard.training.loss import Loss
from regard.training.rewards import CaptionRewards

#: More captions than any batch has: the draws of each update are numbered from its multiples.
MOST_ROWS = 1 << 20


@dataclass(frozen=True)
class Drawn:
    """Captions that were drawn, in place of a batch's targets.

    advantages: the reward of each less that of the greedy caption. reward: their mean reward.
    """

    batch: Batch
    advantages: Float[Tensor, " batch"]
    reward: float


def self_critical_gradients(
    model: Model,
    batch: Batch,
    pictures: Sequence[int],
    rewards: CaptionRewards,
    search: SearchConfiguration,
    *,
    seed: int,
    step: int,
) -> tuple[Loss, Batch]:
    """Set the gradients of the estimate for a batch; its loss, and the batch of drawn captions.

    pictures: the number of each row's picture. seed, step: draws follow them alone. The value of
    the loss is minus the mean reward of the drawn captions. Leaves the model in training mode.
    """
    with _as_used(model):
        drawn = draw_captions(model, batch, pictures, rewards, search, seed=seed, step=step)
        loss = self_critical_loss(model, drawn, search)
        parameters = [each for each in model.parameters() if each.requires_grad]
        gradients = torch.autograd.grad(loss.loss, parameters, allow_unused=True)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = None if gradient is None else gradient.contiguous()
    return Loss(loss.loss.detach(), loss.negative_log_likelihood), drawn.batch


@torch.no_grad()
def draw_captions(
    model: Model,
    batch: Batch,
    pictures: Sequence[int],
    rewards: CaptionRewards,
    search: SearchConfiguration,
    *,
    seed: int,
    step: int,
) -> Drawn:
    """Draw a caption for each row of a batch, and reward it beside the greedy one."""
    memory: Any = model.encode(batch.source, batch.source_mask)
    lengths = batch.source_mask.sum(1)
    options: Any = {"maximum_length": model.longest_target, "need_attention": False}
    greedy = greedy_search(model, memory, lengths, search, **options)
    numbers = range(step * MOST_ROWS, step * MOST_ROWS + len(lengths))
    drawn = sample(model, memory, lengths, search, seed=seed, numbers=numbers, **options)
    found = rewards.of_captions(pictures, drawn)
    advantages = found - rewards.of_captions(pictures, greedy)
    return Drawn(with_targets(batch, drawn), advantages, float(found.mean()))


def with_targets(batch: Batch, captions: Sequence[Hypothesis]) -> Batch:
    """The batch with other targets, END included where they have ended."""
    longest = max(len(caption.tokens) for caption in captions)
    outputs = torch.full((len(captions), longest), PAD)
    mask = torch.zeros(outputs.shape, dtype=torch.bool)
    for row, caption in enumerate(captions):
        outputs[row, : len(caption.tokens)] = torch.tensor(caption.tokens)
        mask[row, : len(caption.tokens)] = True
    inputs = torch.cat([torch.full((len(captions), 1), START), outputs[:, :-1]], dim=1)
    device = batch.mask.device
    inputs = inputs.masked_fill(~mask, PAD).to(device)
    return replace(batch, inputs=inputs, outputs=outputs.to(device), mask=mask.to(device))


def self_critical_loss(model: Model, drawn: Drawn, search: SearchConfiguration) -> Loss:
    """What has the estimate as its gradient, and minus the mean reward as its value."""
    batch = drawn.batch
    decoded = model(batch.source, batch.source_mask, batch.inputs, need_weights=False)
    log_q = _allowed(decoded.log_probabilities, search.minimum_length)
    chosen = log_q.gather(2, batch.outputs[..., None]).squeeze(2)[batch.mask]
    advantages = drawn.advantages.to(chosen)[:, None].expand_as(batch.mask)[batch.mask]
    loss = -(advantages * chosen).sum() / len(batch.mask)
    value = torch.full_like(loss, -drawn.reward)
    return Loss(loss + (value - loss).detach(), -chosen.detach().mean())


def _allowed(
    log_probabilities: Float[Tensor, "batch steps vocabulary"], minimum_length: int
) -> Float[Tensor, "batch steps vocabulary"]:
    """Over the symbols that an output may have, as `regard.search` draws from them."""
    steps, vocabulary = log_probabilities.shape[1:]
    banned = torch.zeros(steps, vocabulary, dtype=torch.bool, device=log_probabilities.device)
    banned[:, list(NEVER_EMITTED)] = True
    banned[:minimum_length, END] = True
    return log_probabilities.masked_fill(banned, -torch.inf).log_softmax(-1)


@contextmanager
def _as_used(model: Model) -> Iterator[None]:
    """Without dropout; in training mode again afterwards."""
    model.eval()
    try:
        yield
    finally:
        model.train()
