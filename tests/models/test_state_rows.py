"""Re-indexing: what beam search does to states and memories."""

import torch

from .matrix import batch, build, every_combination, some_combinations


def advance(model, state, inputs):  # type: ignore[no-untyped-def]
    """After all of `inputs`: the last log-probabilities, attention and state."""
    for tokens in inputs.t():
        step = model.step(tokens, state)
        state = step.state
    return step


@every_combination
@torch.no_grad()
def test_select_takes_any_rows(encoder: str, decoder: str) -> None:
    """Repeats, another order, fewer or more rows, before the first step and in the middle."""
    model = build(encoder, decoder)
    source, mask, inputs = batch()
    memory = model.encode(source, mask)
    whole = advance(model, model.start(memory), inputs)
    for rows in (torch.tensor([1, 1, 0, 2]), torch.tensor([2])):
        middle = advance(model, model.start(memory), inputs[:, :2]).state
        first = model.start(memory)
        for state, rest in (
            (middle.select(rows), inputs[rows, 2:]),
            (first.select(rows), inputs[rows]),
            (model.start(memory.select(rows)), inputs[rows]),
        ):
            found = advance(model, state, rest)
            difference = found.log_probabilities - whole.log_probabilities[rows]
            assert difference.abs().max() < 1e-10
            if whole.attention is not None:
                assert (found.attention - whole.attention[rows]).abs().max() < 1e-10


@every_combination
@torch.no_grad()
def test_reorder_moves_hypotheses_of_one_source(encoder: str, decoder: str) -> None:
    """Where each row keeps its source, reorder is select."""
    model = build(encoder, decoder)
    source, mask, _ = batch()
    twice = torch.tensor([0, 0, 1, 1, 2, 2])
    inputs = torch.randint(2, 13, (6, 4))
    start = model.start(model.encode(source, mask).select(twice))
    middle = advance(model, start, inputs[:, :2]).state
    rows = torch.tensor([1, 0, 2, 2, 5, 4])
    found = advance(model, middle.reorder(rows), inputs[:, 2:])
    expected = advance(model, middle.select(rows), inputs[:, 2:])
    assert torch.equal(found.log_probabilities, expected.log_probabilities)
    histories = torch.cat([inputs[rows, :2], inputs[:, 2:]], dim=1)
    fresh = advance(model, start, histories)
    assert (found.log_probabilities - fresh.log_probabilities).abs().max() < 1e-10


@some_combinations
@torch.no_grad()
def test_neither_changes_the_state_it_is_called_on(encoder: str, decoder: str) -> None:
    model = build(encoder, decoder)
    source, mask, inputs = batch()
    state = advance(model, model.start(model.encode(source, mask)), inputs[:, :2]).state
    before = model.step(inputs[:, 2], state).log_probabilities
    rows = torch.tensor([2, 0, 1])
    advance(model, state.select(rows), inputs[:, 2:])
    state.reorder(rows)
    assert torch.equal(model.step(inputs[:, 2], state).log_probabilities, before)
