"""The loss of a batch: the same by the output layer and by the model's own token losses."""

import pytest
import torch
from torch import Tensor

from regard.data.batches import Batch, collate, encode_pairs
from regard.data.tokenizers import train_tokenizers
from regard.models import Model, build_model
from regard.training.objective import batch_loss
from regard.training.shards import Shards
from regard.training.validation import mean_negative_log_likelihood

from .tiny import reversals, tiny

PAIRS = reversals(12)
TOKENIZERS = train_tokenizers(tiny().tokenization, PAIRS, 1)
EXAMPLES = encode_pairs(PAIRS, TOKENIZERS)


def job(kind: str) -> tuple[Model, Batch]:
    torch.manual_seed(2)
    model = build_model(tiny(kind).model, TOKENIZERS.source.size, TOKENIZERS.target.size)
    return model.double().eval(), collate(EXAMPLES, range(len(EXAMPLES)))


def by_token_losses(model: Model) -> Model:
    """The same model, no longer trusted to be a softmax layer on top."""
    model.fused_output = False
    return model


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_both_routes_give_the_same_loss_and_gradients(kind: str, smoothing: float) -> None:
    model, batch = job(kind)
    found = []
    for one in (model, by_token_losses(model)):
        losses = Shards(one, 1).backward(batch, smoothing)
        gradients: list[Tensor | None] = [parameter.grad for parameter in one.parameters()]
        found.append((losses.loss, losses.negative_log_likelihood, gradients))
    torch.testing.assert_close(found[0], found[1], rtol=1e-9, atol=1e-12)


@torch.no_grad()
def test_token_losses_are_those_of_forward() -> None:
    model, batch = job("recurrent")
    losses = model.token_losses(
        batch.source, batch.source_mask, batch.inputs, batch.outputs, batch.mask
    )
    log_probabilities = model(batch.source, batch.source_mask, batch.inputs).log_probabilities
    number = 0
    for row, step in batch.mask.nonzero().tolist():
        each = log_probabilities[row, step]
        target = int(batch.outputs[row, step])
        assert losses.negative_log_likelihood[number] == pytest.approx(-each[target].item())
        assert losses.spread[number] == pytest.approx(-each.mean().item())
        number += 1
    assert len(losses.negative_log_likelihood) == len(losses.spread) == number


def test_the_plain_mean_carries_no_gradient() -> None:
    model, batch = job("recurrent")
    losses = batch_loss(by_token_losses(model), batch, 0.1)
    assert losses.loss.requires_grad and not losses.negative_log_likelihood.requires_grad


def test_validation_asks_the_same_route() -> None:
    model, _ = job("recurrent")
    batches = [list(range(5)), list(range(5, len(EXAMPLES)))]
    fused = mean_negative_log_likelihood(model, EXAMPLES, batches)
    own = mean_negative_log_likelihood(by_token_losses(model), EXAMPLES, batches)
    assert own == pytest.approx(fused, rel=1e-9)
