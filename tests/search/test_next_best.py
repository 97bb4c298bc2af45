"""The most probable tokens at every step of a given target."""

import torch

from regard.search.hypothesis import NEVER_EMITTED, START
from regard.search.next_best import most_probable

from .stub import StubMemory, stub_decoder


def test_they_are_those_of_each_step_best_first():
    decoder = stub_decoder()
    memory = StubMemory(torch.tensor([3, 8]))
    inputs = torch.tensor([[START, 5, 6], [START, 6, 4]])
    values, ids = most_probable(decoder, memory, inputs, 3)
    assert values.shape == ids.shape == (2, 3, 3)
    state = decoder.start(memory)
    for number, tokens in enumerate(inputs.unbind(1)):
        step = decoder.step(tokens, state)
        state = step.state
        scores = step.log_probabilities.clone()
        scores[:, list(NEVER_EMITTED)] = -torch.inf
        order = scores.argsort(dim=1, descending=True)[:, :3]
        assert torch.equal(ids[:, number], order)
        assert torch.equal(values[:, number], step.log_probabilities.gather(1, order))


def test_no_more_than_there_are():
    decoder = stub_decoder()
    values, ids = most_probable(
        decoder, StubMemory(torch.tensor([3])), torch.tensor([[START]]), 10_000
    )
    assert sorted(ids[0, 0].tolist()) == [id for id in range(8) if id not in NEVER_EMITTED]
    assert values.isfinite().all()
