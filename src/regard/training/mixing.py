"""Teacher forcing mixed with the model's own predictions (EQUATIONS A14)."""

import math

import torch
from jaxtyping import Int
from torch import Tensor

from regard.data.batches import Batch
from regard.models import Model
from regard.models.decoders import SelfAttentiveDecoder
from regard.training.configuration import TeacherForcingConfiguration


def gold_share(configuration: TeacherForcingConfiguration, updates: int) -> float:
    """The probability of the gold token, epsilon, after so many updates k.

    Bengio et al. 2015, section 2.4: linear ``max(minimum, start - slope k)``, exponential ``q^k``,
    inverse sigmoid ``m / (m + exp(k / m))``.
    """
    kind = configuration.kind
    if kind == "constant":
        return configuration.share
    if kind == "linear":
        return max(configuration.minimum, configuration.share - configuration.slope * updates)
    if kind == "exponential":
        return math.exp(updates * math.log(configuration.base))
    m = configuration.sigmoid
    return m / (m + math.exp(min(updates / m, 700.0)))


@torch.no_grad()
def mixed_inputs(model: Model, batch: Batch, share: float) -> Int[Tensor, "batch steps"]:
    """The batch's inputs, each gold token kept with probability ``share``, a coin per token.

    In place of the others stands what the model finds likeliest. A recurrent decoder makes its
    choice step by step, from the mixed tokens before it. A Transformer makes all of them in one
    pass over the gold tokens (Mihaylova and Martins 2019): the loss is that of the second pass. No
    gradient passes through a choice; the start symbol is never replaced.
    """
    if share >= 1.0 or batch.inputs.shape[1] < 2:
        return batch.inputs
    gold = batch.inputs[:, 1:]
    keep = torch.rand(gold.shape, device=gold.device) < share
    if isinstance(model.decoder, SelfAttentiveDecoder):
        decoded = model(batch.source, batch.source_mask, batch.inputs[:, :-1], need_weights=False)
        own = decoded.log_probabilities.argmax(-1)
        return torch.cat([batch.inputs[:, :1], torch.where(keep, gold, own)], dim=1)
    state = model.start(model.encode(batch.source, batch.source_mask))
    inputs = [batch.inputs[:, 0]]
    for i in range(gold.shape[1]):
        log_probabilities, state, _ = model.step(inputs[-1], state)
        inputs.append(torch.where(keep[:, i], gold[:, i], log_probabilities.argmax(-1)))
    return torch.stack(inputs, dim=1)
