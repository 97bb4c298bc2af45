"""The objective: the loss of a batch, by the route that its model allows."""

from regard.data.batches import Batch
from regard.models import Model
from regard.training.loss import Loss, linear_cross_entropy


def batch_loss(
    model: Model,
    batch: Batch,
    smoothing: float = 0.0,
    ponder_cost: float = 0.0,
    source_share: float = 1.0,
) -> Loss:
    """The mean loss over the real target tokens of a batch, END included.

    Label smoothing as in `regard.training.loss`, from the model's own `token_losses` where its
    output is not a softmax layer. Where steps are adaptive, the mean of ``N + R`` over the real
    source positions and that over the target's are added, times `ponder_cost` (Graves 2016, eq. 12;
    EQUATIONS C5). source_share: what the first is multiplied by, for a part of a batch.
    """
    arguments = (batch.source, batch.source_mask, batch.inputs)
    if model.fused_output:
        features = model.features(*arguments, batch.mask)
        targets = batch.outputs[batch.mask]
        found = linear_cross_entropy(features.values, *model.output_weights(), targets, smoothing)
        if ponder_cost and features.source is not None:
            found = found.plus(ponder_cost * source_share * features.source.mean())
        if ponder_cost and features.target is not None:
            found = found.plus(ponder_cost * features.target.mean())
        return found
    plain, spread = model.token_losses(
        *arguments, batch.outputs, batch.mask, need_spread=smoothing > 0
    )
    loss = (1 - smoothing) * plain + smoothing * spread if smoothing else plain
    return Loss(loss.mean(), plain.detach().mean())
