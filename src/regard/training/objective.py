"""The objective: the loss of a batch, by the route that its model allows."""

import torch

from regard.data.batches import Batch
from regard.models import Model
from regard.models.model import Features
from regard.training.attention_costs import (
    NO_COSTS,
    AttentionCosts,
    log_likelihoods,
    penalty,
    surrogate,
)
from regard.training.loss import Loss, linear_cross_entropy
from regard.training.r_drop import paired_cross_entropy, paired_loss


def batch_loss(
    model: Model,
    batch: Batch,
    smoothing: float = 0.0,
    ponder_cost: float = 0.0,
    r_drop: float = 0.0,
    source_share: float = 1.0,
    attention: AttentionCosts = NO_COSTS,
) -> Loss:
    """The mean loss over the real target tokens of a batch, END included.

    Label smoothing as in `regard.training.loss`, from the model's own `token_losses` where its
    output is not a softmax layer. Where steps are adaptive, the mean of ``N + R`` over the real
    source positions and that over the target's are added, times `ponder_cost` (Graves 2016, eq. 12;
    EQUATIONS C5). source_share: what the first is multiplied by, for a part of a batch.

    r_drop: the alpha of `regard.training.r_drop`. The model then makes two passes, each with a
    dropout of its own, and everything else is the mean of both.

    attention: what it costs, of models whose output is a softmax layer.
    """
    if not model.fused_output:
        return _unfused(model, batch, smoothing, r_drop)
    arguments = (batch.source, batch.source_mask, batch.inputs, batch.mask)
    weighed = attention.weigh(batch)
    passes = [model.features(*arguments, weighed) for _ in range(2 if r_drop else 1)]
    targets, weights = batch.outputs[batch.mask], model.output_weights()
    if r_drop:
        values = (passes[0].values, passes[1].values)
        found = paired_cross_entropy(values, *weights, targets, r_drop, smoothing)
    else:
        found = linear_cross_entropy(passes[0].values, *weights, targets, smoothing)
    for features in passes if ponder_cost else ():
        found = _with_pondering(found, features, ponder_cost / len(passes), source_share)
    for features in passes if weighed else ():
        assert features.attention is not None
        found = found.plus(penalty(features.attention, batch, attention) / len(passes))
    return _with_draws(found, model, passes[0], batch, attention)


def _with_pondering(loss: Loss, features: Features, cost: float, source_share: float) -> Loss:
    if features.source is not None:
        loss = loss.plus(cost * source_share * features.source.mean())
    if features.target is not None:
        loss = loss.plus(cost * features.target.mean())
    return loss


def _with_draws(
    loss: Loss, model: Model, features: Features, batch: Batch, costs: AttentionCosts
) -> Loss:
    """Where hard attention drew positions: with the rest of its bound."""
    if features.chosen is None:
        return loss
    with torch.no_grad():
        targets = batch.outputs[batch.mask][:, None]
        told = model.output(features.values).gather(1, targets).squeeze(1)
    likelihoods = log_likelihoods(told, batch.mask)
    return loss.plus(surrogate(features.chosen, likelihoods, batch.mask, costs))


def _unfused(model: Model, batch: Batch, smoothing: float, r_drop: float) -> Loss:
    """From the model's own losses, or for two passes from all of its log-probabilities."""
    arguments = (batch.source, batch.source_mask, batch.inputs)
    if r_drop:
        one, other = (
            model(*arguments, need_weights=False).log_probabilities[batch.mask] for _ in range(2)
        )
        vocabulary = len(model.output.bias)
        return paired_loss((one, other), batch.outputs[batch.mask], vocabulary, r_drop, smoothing)
    plain, spread = model.token_losses(
        *arguments, batch.outputs, batch.mask, need_spread=smoothing > 0
    )
    loss = (1 - smoothing) * plain + smoothing * spread if smoothing else plain
    return Loss(loss.mean(), plain.detach().mean())
