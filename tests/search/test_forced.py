"""Scoring targets that are given."""

import pytest
import torch

from regard.errors import UserError
from regard.search import score_targets
from regard.search.hypothesis import END, PAD, START, UNKNOWN

from .stub import StubDecoder, StubMemory, stub_attention, stub_decoder, stub_pondering

TARGETS = [(5, 6, 7, END), (END,), (UNKNOWN, 7, END), (4, 4)]
KEYS = [3, 9, 9, 1]


def score(
    decoder: StubDecoder,
    keys: list[int],
    targets: list[tuple[int, ...]],
    pad: int = 0,
    **options: object,
):
    """As collated: padded by as many columns more as asked."""
    steps = max(len(target) for target in targets) + pad
    outputs = torch.full((len(targets), steps), PAD)
    for row, target in enumerate(targets):
        outputs[row, : len(target)] = torch.tensor(target, dtype=torch.long)
    mask = torch.arange(steps) < torch.tensor([len(target) for target in targets]).unsqueeze(1)
    inputs = torch.cat([torch.full((len(targets), 1), START), outputs[:, :-1]], dim=1)
    return score_targets(decoder, StubMemory(torch.tensor(keys)), inputs, outputs, mask, **options)


def test_scores_by_the_definition() -> None:
    decoder = stub_decoder()
    found = score(decoder, KEYS, TARGETS, length_penalty=0.5)
    for key, target, hypothesis in zip(KEYS, TARGETS, found, strict=True):
        assert hypothesis.tokens == target
        assert hypothesis.score == pytest.approx(decoder.score(key, target), abs=1e-9)
        assert hypothesis.normalized_score == pytest.approx(hypothesis.score / len(target) ** 0.5)
        assert hypothesis.ended is (target[-1] == END)
        assert sum(hypothesis.log_probabilities) == pytest.approx(hypothesis.score)
        prefixes = [decoder.read(key, target[:place]) for place in range(len(target))]
        assert torch.equal(hypothesis.attention, stub_attention(torch.tensor(prefixes), 6))
        assert torch.equal(hypothesis.pondering, stub_pondering(torch.tensor(prefixes)))


def test_batch_and_padding_change_nothing() -> None:
    decoder = stub_decoder()
    whole = score(decoder, KEYS, TARGETS, pad=3)
    for key, target, hypothesis in zip(KEYS, TARGETS, whole, strict=True):
        (alone,) = score(decoder, [key], [target])
        assert alone == hypothesis
        assert torch.equal(alone.attention, hypothesis.attention)
        assert torch.equal(alone.pondering, hypothesis.pondering)


def test_done_targets_leave() -> None:
    decoder = stub_decoder()
    score(decoder, KEYS, TARGETS)
    assert decoder.rows == [4, 3, 2, 1]


def test_attention_cut_to_the_source_or_left_out() -> None:
    decoder = stub_decoder()
    found = score(decoder, KEYS, TARGETS, lengths=torch.tensor([2, 6, 1, 4]))
    assert [tuple(one.attention.shape) for one in found] == [(4, 2), (1, 6), (3, 1), (2, 4)]
    found = score(decoder, KEYS, TARGETS, need_attention=False)
    assert [(one.attention, one.pondering) for one in found] == [(None, None)] * 4


def test_nothing_to_score() -> None:
    nothing = torch.zeros(0, 3, dtype=torch.long)
    memory = StubMemory(torch.zeros(0, dtype=torch.long))
    assert score_targets(stub_decoder(), memory, nothing, nothing, nothing.bool()) == []


def test_a_target_without_tokens() -> None:
    found = score(stub_decoder(), KEYS[:2], [(), (5, END)])
    assert (found[0].tokens, found[0].score, found[0].ended) == ((), 0.0, False)
    assert found[1].tokens == (5, END)


def test_a_mask_with_a_gap_is_refused() -> None:
    tokens = torch.full((1, 3), 5)
    mask = torch.tensor([[True, False, True]])
    with pytest.raises(ValueError, match="mask must be True for"):
        score_targets(stub_decoder(), StubMemory(torch.tensor([1])), tokens, tokens, mask)


def test_a_model_that_gives_nan_is_refused() -> None:
    decoder = stub_decoder()
    decoder.table[:, 6] = torch.nan
    with pytest.raises(UserError, match="not numbers"):
        score(decoder, KEYS, TARGETS)
