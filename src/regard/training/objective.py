"""The objective: the loss of a batch, by the route that its model allows."""

from regard.data.batches import Batch
from regard.models import Model
from regard.training.loss import Loss, linear_cross_entropy


def batch_loss(model: Model, batch: Batch, smoothing: float = 0.0) -> Loss:
    """The mean loss over the real target tokens of a batch, END included.

    Label smoothing as in `regard.training.loss`, from the model's own `token_losses` where its
    output is not a softmax layer.
    """
    arguments = (batch.source, batch.source_mask, batch.inputs)
    if model.fused_output:
        features = model.features(*arguments, batch.mask)
        targets = batch.outputs[batch.mask]
        return linear_cross_entropy(features, *model.output_weights(), targets, smoothing)
    plain, spread = model.token_losses(
        *arguments, batch.outputs, batch.mask, need_spread=smoothing > 0
    )
    loss = (1 - smoothing) * plain + smoothing * spread if smoothing else plain
    return Loss(loss.mean(), plain.detach().mean())
