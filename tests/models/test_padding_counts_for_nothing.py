"""Padding, batch and order change nothing."""

from dataclasses import replace

import pytest
import torch

from .matrix import ENCODERS, LENGTHS, batch, build, every_combination, some_combinations


@every_combination
@pytest.mark.parametrize(
    ("dtype", "limit"), [(torch.float32, 1e-5), (torch.float64, 1e-10)], ids=["32", "64"]
)
@torch.no_grad()
def test_a_sentence_alone_is_a_sentence_in_a_batch(
    encoder: str, decoder: str, dtype: torch.dtype, limit: float
) -> None:
    model = build(encoder, decoder, dtype)
    source, mask, inputs = batch()
    together = model(source, mask, inputs)
    for row, length in enumerate(LENGTHS.tolist()):
        one = slice(row, row + 1)
        alone = model(source[one, :length], mask[one, :length], inputs[one, :3])
        difference = alone.log_probabilities - together.log_probabilities[one, :3]
        assert difference.abs().max() < limit * (1 + alone.log_probabilities.abs().max())
        if alone.attention is not None:
            assert (alone.attention - together.attention[one, :3, :length]).abs().max() < limit


@some_combinations
@torch.no_grad()
def test_what_stands_in_padding_is_never_read(encoder: str, decoder: str) -> None:
    """Bitwise; in the last layer's states too, whose padding may hold anything."""
    model = build(encoder, decoder)
    source, mask, inputs = batch()
    expected = model(source, mask, inputs)
    other = source.masked_fill(~mask, 7)
    assert torch.equal(model(other, mask, inputs).log_probabilities, expected.log_probabilities)
    memory = model.encode(source, mask)
    states = memory.states.masked_fill(~mask[..., None], torch.nan)
    dirty = replace(memory, key=states, value=states, key_mask=mask)
    one = model.step(inputs[:, 0], model.start(memory))
    two = model.step(inputs[:, 0], model.start(dirty))
    assert torch.equal(one.log_probabilities, two.log_probabilities)


@some_combinations
@torch.no_grad()
def test_order_and_wider_padding(encoder: str, decoder: str) -> None:
    model = build(encoder, decoder)
    source, mask, inputs = batch()
    expected = model(source, mask, inputs).log_probabilities
    order = torch.tensor([2, 0, 1])
    found = model(source[order], mask[order], inputs[order]).log_probabilities
    assert (found - expected[order]).abs().max() < 1e-10
    wide = torch.nn.functional.pad(source, (0, 3))
    wider = model(wide, torch.nn.functional.pad(mask, (0, 3)), inputs)
    assert (wider.log_probabilities - expected).abs().max() < 1e-10
    if wider.attention is not None:
        assert wider.attention.shape == (3, 4, 9)
        assert (wider.attention[..., 6:] == 0).all()


@pytest.mark.parametrize("encoder", [name for name in ENCODERS if "way" in name])
@torch.no_grad()
def test_recurrent_encoders_skip_padding_anywhere(encoder: str) -> None:
    """Before the sentence and inside it too: states of real words are those of the words alone."""
    model = build(encoder, "after, maxout")
    words = torch.tensor([[5, 9, 4, 11]])
    alone = model.encode(words, torch.ones(1, 4, dtype=torch.bool))
    mask = torch.tensor([[0, 1, 1, 0, 1, 0, 1, 0]]).bool()
    spread = torch.full((1, 8), 7)
    spread[mask] = words[0]
    found = model.encode(spread, mask)
    assert (found.states[mask] - alone.states[0]).abs().max() < 1e-12
    for one, other in zip(found.final, alone.final, strict=True):
        for a, b in zip(one, other, strict=True):
            assert (a - b).abs().max() < 1e-12


@some_combinations
def test_padded_targets_give_no_gradient(encoder: str, decoder: str) -> None:
    """The mean over real tokens, and its gradient, whatever is padded behind them."""
    model = build(encoder, decoder)
    source, mask, inputs = batch()
    real = torch.tensor([[1, 1, 1, 0], [1, 0, 0, 0], [1, 1, 1, 0]]).bool()
    results = []
    for fill in (0, 9):
        filled = inputs.masked_fill(~real, fill)
        model.zero_grad()
        plain, spread = model.token_losses(source, mask, filled, filled, real)
        (plain + spread).sum().backward()
        results.append([p.grad.clone() for p in model.parameters() if p.grad is not None])
    for one, other in zip(*results, strict=True):
        assert (one - other).abs().max() < 1e-9
