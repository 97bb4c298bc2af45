"""A decoder is a step function: one token at a time gives what all at once gives."""

import pytest
import torch

from regard.models import Model
from regard.models.hard_attention_model import HardAttentionModel

from .matrix import batch, build, every_combination, some_combinations


def stepped(model: Model, source, mask, inputs):  # type: ignore[no-untyped-def]
    """Log-probabilities and attention of each step."""
    state = model.start(model.encode(source, mask))
    rows, shown = [], []
    for tokens in inputs.t():
        step = model.step(tokens, state)
        state = step.state
        rows.append(step.log_probabilities)
        shown.append(step.attention)
    attention = None if shown[0] is None else torch.stack(shown, dim=1)
    return torch.stack(rows, dim=1), attention


@every_combination
@pytest.mark.parametrize(
    ("dtype", "limit"), [(torch.float32, 1e-5), (torch.float64, 1e-10)], ids=["32", "64"]
)
@torch.no_grad()
def test_step_is_forward(encoder: str, decoder: str, dtype: torch.dtype, limit: float) -> None:
    model = build(encoder, decoder, dtype)
    source, mask, inputs = batch()
    whole = model(source, mask, inputs)
    rows, attention = stepped(model, source, mask, inputs)
    assert rows.shape == whole.log_probabilities.shape
    assert (rows - whole.log_probabilities).abs().max() < limit * (1 + rows.abs().max())
    assert whole.log_probabilities.exp().sum(-1).sub(1).abs().max() < 10 * limit
    if whole.attention is None:
        assert attention is None and decoder.startswith(("never", "seq2seq"))
        return
    assert attention is not None and attention.shape == (3, 4, 6)
    assert (attention - whole.attention).abs().max() < limit
    assert (whole.attention.transpose(1, 2)[~mask] == 0).all()
    if "local" not in decoder:  # a window may hold nothing, and local-p's weights are no shares
        assert (whole.attention.sum(-1) - 1).abs().max() < 1e-5
    # Without weights the fused path answers: the same numbers.
    fused = model(source, mask, inputs, need_weights=False)
    assert fused.attention is None
    assert (fused.log_probabilities - whole.log_probabilities).abs().max() < 10 * limit


@some_combinations
def test_gradients_are_those_of_the_steps(encoder: str, decoder: str) -> None:
    """Of all at once, by whatever kernel, and of one token at a time."""
    model = build(encoder, decoder)
    source, mask, inputs = batch()
    outward = torch.randn(3, 4, 13, dtype=torch.float64)
    results = []
    for rows in (
        model(source, mask, inputs, need_weights=False).log_probabilities,
        stepped(model, source, mask, inputs)[0],
    ):
        model.zero_grad()
        (rows * outward).sum().backward()
        gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
        results.append(gradients)
    assert results[0].keys() == results[1].keys() == dict(model.named_parameters()).keys()
    for name, gradient in results[0].items():
        limit = 1e-10 * (1 + gradient.abs().max())
        assert (gradient - results[1][name]).abs().max() < limit, name


@some_combinations
@torch.no_grad()
def test_features_are_what_the_output_layer_reads(encoder: str, decoder: str) -> None:
    model = build(encoder, decoder)
    source, mask, inputs = batch()
    real = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 1, 0]]).bool()
    if isinstance(model, HardAttentionModel):  # it reads one vector a position, not one a step
        with pytest.raises(TypeError, match="token_losses"):
            model.features(source, mask, inputs, real)
        return
    features = model.features(source, mask, inputs, real).values
    weight, bias = model.output_weights()
    assert features.shape == (8, weight.shape[1])
    if not model.fused_output:  # they are a part of what it gives: tests of its equations
        return
    expected = model(source, mask, inputs).log_probabilities[real]
    found = torch.log_softmax(features @ weight.t() + bias, dim=-1)
    assert (found - expected).abs().max() < 1e-10


@some_combinations
@torch.no_grad()
def test_nothing_is_kept_on_the_model(encoder: str, decoder: str) -> None:
    """Two requests in turn, and a state stepped twice: as each alone."""
    model = build(encoder, decoder)
    requests = [batch(), batch()]
    expected = [stepped(model, *request)[0] for request in requests]
    states = [model.start(model.encode(source, mask)) for source, mask, _ in requests]
    for i in range(4):
        for number, (_, _, inputs) in enumerate(requests):
            twice = [model.step(inputs[:, i], states[number]) for _ in range(2)]
            assert torch.equal(twice[0].log_probabilities, twice[1].log_probabilities)
            assert torch.equal(twice[0].log_probabilities, expected[number][:, i])
            states[number] = twice[1].state


@some_combinations
@torch.no_grad()
def test_evaluation_is_deterministic_and_training_drops_out(encoder: str, decoder: str) -> None:
    model = build(encoder, decoder)
    one = model(*(given := batch())).log_probabilities
    assert torch.equal(one, model(*given).log_probabilities)
    model.train()
    assert not torch.equal(model(*given).log_probabilities, model(*given).log_probabilities)


@some_combinations
def test_no_later_token_is_seen(encoder: str, decoder: str) -> None:
    """Changing inputs from step 2 on leaves steps 0 and 1 bitwise as they were."""
    model = build(encoder, decoder)
    source, mask, inputs = batch()
    changed = inputs.clone()
    changed[:, 2:] = (changed[:, 2:] + 1) % 13
    one, other = model(source, mask, inputs), model(source, mask, changed)
    assert torch.equal(one.log_probabilities[:, :2], other.log_probabilities[:, :2])
    assert not torch.equal(one.log_probabilities[:, 2:], other.log_probabilities[:, 2:])
