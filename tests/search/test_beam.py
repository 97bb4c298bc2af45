"""Beam search: what comes back, for any batch, and at the edges."""

import math
import random

import pytest
import torch

from regard.errors import UserError
from regard.search import SearchConfiguration, beam_search, greedy_search, score_targets
from regard.search.hypothesis import END, NEVER_EMITTED, START, Hypothesis

from .stub import (
    Fixed,
    StubDecoder,
    StubMemory,
    stub_attention,
    stub_decoder,
    stub_pondering,
)

A, B, C, D = 4, 5, 6, 7


def search(
    decoder: StubDecoder,
    keys: list[int],
    lengths: list[int],
    width: int = 8,
    nbest: int = 1,
    **settings: float,
) -> list[list[Hypothesis]]:
    memory = StubMemory(torch.tensor(keys, dtype=torch.long), width)
    lengths_ = torch.tensor(lengths, dtype=torch.long)
    configuration = SearchConfiguration(**{"maximum_length_extra": 5, **settings})
    return beam_search(decoder, memory, lengths_, configuration, nbest=nbest)


def hand(rows: dict[tuple[int, ...], dict[int, float]], nbest: int = 1, **settings: float):
    """One sentence through a decoder with given probabilities."""
    configuration = SearchConfiguration(**{"maximum_length_ratio": 1.0, **settings})
    length = torch.tensor([1])
    return beam_search(Fixed(rows, 8), length, length, configuration, nbest=nbest)[0]


@pytest.mark.parametrize("penalty", [0.0, 1.0, -0.5])
@pytest.mark.parametrize("minimum", [0, 4])
def test_beam_of_one_is_greedy(penalty: float, minimum: int) -> None:
    decoder = stub_decoder(vocabulary=300, end=4.0, spread=2.0)
    keys = torch.arange(40)
    lengths = keys % 8 + 1
    configuration = SearchConfiguration(
        beam=1, length_penalty=penalty, minimum_length=minimum, maximum_length_extra=9
    )
    beams = beam_search(decoder, StubMemory(keys, 8), lengths, configuration)
    greedy = greedy_search(decoder, StubMemory(keys, 8), lengths, configuration)
    assert [best for (best,) in beams] == greedy
    for (best,), other in zip(beams, greedy, strict=True):
        assert torch.equal(best.attention, other.attention)
    assert {hypothesis.ended for hypothesis in greedy} == {True, False}


def test_batch_order_and_padding_change_nothing() -> None:
    decoder = stub_decoder(vocabulary=200, end=3.0, spread=2.0)
    lengths = [1 + key % 8 for key in range(64)]
    whole = search(decoder, list(range(64)), lengths, nbest=5)
    order = list(range(64))
    random.Random(1).shuffle(order)
    for size in (1, 3, 64):
        for start in range(0, 64 if size > 1 else 8, size):
            keys = order[start : start + size]
            some = search(decoder, keys, [lengths[key] for key in keys], width=8 + size, nbest=5)
            for key, hypotheses in zip(keys, some, strict=True):
                assert hypotheses == whole[key]
                for one, other in zip(hypotheses, whole[key], strict=True):
                    assert torch.equal(one.attention, other.attention)


def test_never_emitted_and_scores_not_renormalized() -> None:
    decoder = stub_decoder(vocabulary=20, end=1.0)
    for key, hypotheses in enumerate(search(decoder, list(range(30)), [5] * 30, nbest=5)):
        for hypothesis in hypotheses:
            assert not set(hypothesis.tokens) & set(NEVER_EMITTED)
            assert hypothesis.score == pytest.approx(decoder.score(key, hypothesis.tokens))
            assert math.fsum(hypothesis.log_probabilities) == pytest.approx(hypothesis.score)
            assert len(hypothesis.log_probabilities) == len(hypothesis.tokens)
            assert (hypothesis.tokens[-1] == END) is hypothesis.ended
            assert END not in hypothesis.tokens[:-1]
            length = len(hypothesis.tokens)
            assert hypothesis.normalized_score == pytest.approx(hypothesis.score / length)


def test_nbest_is_unique_ranked_and_starts_alike() -> None:
    decoder = stub_decoder(vocabulary=20, end=1.5)
    keys, lengths = list(range(25)), [4] * 25
    lists = {nbest: search(decoder, keys, lengths, nbest=nbest, beam=6) for nbest in (1, 3, 6)}
    for first, three, six in zip(lists[1], lists[3], lists[6], strict=True):
        assert six[:3] == three
        assert three[:1] == first
        assert len({hypothesis.tokens for hypothesis in six}) == len(six) == 6
        ranks = [(hypothesis.ended, hypothesis.normalized_score) for hypothesis in six]
        assert ranks == sorted(ranks, reverse=True)


def test_attention_and_steps_belong_to_the_tokens() -> None:
    """A row per token, the one given when that token was predicted; cut to the real source."""
    decoder = stub_decoder(vocabulary=20, end=1.5)
    lengths = [1 + key % 5 for key in range(20)]
    found = search(decoder, list(range(20)), lengths, width=9, nbest=4)
    for key, hypotheses in enumerate(found):
        for hypothesis in hypotheses:
            prefixes = [hypothesis.tokens[:place] for place in range(len(hypothesis.tokens))]
            hashes = torch.tensor([decoder.read(key, prefix) for prefix in prefixes])
            expected = stub_attention(hashes, lengths[key])
            assert hypothesis.attention.device.type == "cpu"
            assert torch.equal(hypothesis.attention, expected)
            assert torch.equal(hypothesis.pondering, stub_pondering(hashes))


def test_attention_is_none_without_any_or_unwanted() -> None:
    decoder = stub_decoder()
    memory, lengths = StubMemory(torch.arange(3)), torch.tensor([2, 3, 4])
    (first, *_), *_ = beam_search(
        decoder, memory, lengths, SearchConfiguration(), need_attention=False
    )
    assert first.attention is None and first.pondering is None
    decoder.with_attention = False
    (first, *_), *_ = beam_search(decoder, memory, lengths, SearchConfiguration())
    assert first.attention is None and first.pondering is None


def test_attention_of_half_precision_comes_as_float32() -> None:
    class Half(StubDecoder):
        def step(self, tokens, state):
            step = super().step(tokens, state)
            return type(step)(step.log_probabilities, step.state, step.attention.bfloat16())

    decoder = Half(stub_decoder().table)
    (best,) = search(decoder, [1], [3])[0]
    assert best.attention.dtype == torch.float32


def test_rescoring_gives_the_score_found() -> None:
    decoder = stub_decoder(vocabulary=20, end=1.5)
    keys = torch.arange(10)
    found = [best for (best,) in search(decoder, keys.tolist(), [4] * 10)]
    steps = max(len(hypothesis.tokens) for hypothesis in found)
    outputs = torch.zeros(10, steps, dtype=torch.long)
    for row, hypothesis in enumerate(found):
        outputs[row, : len(hypothesis.tokens)] = torch.tensor(hypothesis.tokens)
    mask = outputs != 0
    inputs = torch.cat([torch.full((10, 1), START), outputs[:, :-1]], dim=1)
    memory = StubMemory(keys, 8)
    again = score_targets(decoder, memory, inputs, outputs, mask, lengths=torch.tensor([4] * 10))
    assert again == found
    for one, other in zip(again, found, strict=True):
        assert torch.equal(one.attention, other.attention)


def test_state_calls() -> None:
    """Select to widen and when sentences leave, reorder otherwise; a beam of one never reorders."""
    decoder = stub_decoder(vocabulary=12, end=-3.0)
    search(decoder, [1, 2, 3], [2, 2, 2], beam=3, maximum_length_extra=2)
    assert decoder.calls == ["select", *["reorder"] * 4]
    decoder = stub_decoder(vocabulary=12, end=-3.0)
    search(decoder, [1, 2, 3], [1, 2, 2], beam=1, maximum_length_extra=2)
    assert decoder.calls == ["select"]


def test_empty_batch() -> None:
    assert search(stub_decoder(), [], []) == []


@pytest.mark.parametrize("beam", [1, 2, 4])
def test_never_ending_is_cut_at_the_limit(beam: int) -> None:
    decoder = stub_decoder(vocabulary=20)
    decoder.table[:, END] = -torch.inf
    found = search(decoder, list(range(6)), [1, 2, 3, 4, 5, 6], nbest=beam, beam=beam)
    for length, hypotheses in zip([1, 2, 3, 4, 5, 6], found, strict=True):
        assert len(hypotheses) == beam
        assert all(len(one.tokens) == 2 * length + 5 and not one.ended for one in hypotheses)


def test_ended_rank_before_cut() -> None:
    """a-end is improbable, and still comes before every hypothesis that only the limit ended."""
    rows = {(): {A: 1.0}, (A,): {END: 0.1, A: 0.9}, (A, A): {B: 0.9, C: 0.1}}
    found = hand(rows, nbest=3, beam=3, maximum_length_extra=2)
    assert [one.tokens for one in found] == [(A, END), (A, A, B), (A, A, C)]
    assert [one.ended for one in found] == [True, False, False]
    assert found[0].normalized_score < found[1].normalized_score


def test_fewer_than_wanted_are_honest() -> None:
    rows = {(): {A: 0.75, END: 0.25}, (A,): {END: 1.0}}
    found = hand(rows, nbest=5, beam=5, length_penalty=0.0)
    assert [(one.tokens, one.ended) for one in found] == [((A, END), True), ((END,), True)]
    assert [math.exp(one.score) for one in found] == pytest.approx([0.75, 0.25])


def test_later_and_better_is_waited_for() -> None:
    """By hand, penalty 1: a-end has log(0.5)/2; b-c-d-end, certain after b, log(0.5)/4."""
    rows = {
        (): {A: 0.5, B: 0.5},
        (A,): {END: 1.0},
        (B,): {C: 1.0},
        (B, C): {D: 1.0},
        (B, C, D): {END: 1.0},
    }
    (best,) = hand(rows, beam=2, length_penalty=1.0, maximum_length_extra=8)
    assert best.tokens == (B, C, D, END)
    assert best.normalized_score == pytest.approx(math.log(0.5) / 4)
    (best,) = hand(rows, beam=2, length_penalty=-1.0, maximum_length_extra=8)
    assert best.tokens == (A, END)
    assert best.normalized_score == pytest.approx(math.log(0.5) * 2)


def test_negative_penalty_waits_for_the_improbable_short_and_the_probable_long() -> None:
    """Penalty -1 multiplies by length: 2 log 0.3 < 3 log 0.6, though the longer ends later."""
    rows = {(): {A: 0.4, B: 0.6}, (A,): {END: 0.75, D: 0.25}, (B,): {C: 1.0}, (B, C): {END: 1.0}}
    (best,) = hand(rows, beam=3, length_penalty=-1.0, maximum_length_extra=8)
    assert best.tokens == (B, C, END)
    assert best.normalized_score == pytest.approx(3 * math.log(0.6))


def test_finished_ones_free_their_places() -> None:
    """A beam of 2: when end takes one place, the other hypothesis fills both at the next step."""
    rows = {
        (): {A: 0.6, B: 0.4},
        (A,): {END: 0.9, A: 0.1},
        (B,): {B: 0.9, A: 0.1},
        (B, B): {C: 0.5, D: 0.5},
        (B, B, C): {END: 1.0},
        (B, B, D): {END: 1.0},
    }
    found = hand(rows, nbest=2, beam=2, length_penalty=2.0, maximum_length_extra=4)
    assert [one.tokens for one in found] == [(B, B, C, END), (B, B, D, END)]


def test_ties_go_to_the_earlier_and_the_lower_id() -> None:
    decoder = StubDecoder(torch.full((1009, 300), math.log(1 / 300)))
    found = search(decoder, [1], [1], nbest=3, beam=3, length_penalty=0.0, maximum_length_ratio=1)
    assert [one.tokens for one in found[0]] == [(END,), (4, END), (4, 4, END)]
    found = search(decoder, [1], [1], nbest=3, beam=3, minimum_length=2, maximum_length_extra=0)
    assert [one.tokens for one in found[0]] == [(4, 4, END), (4, 4, 4), (4, 4, 5)]


def test_minimum_length() -> None:
    decoder = stub_decoder(vocabulary=12, end=6.0)
    shortest = {
        minimum: min(
            len(one.tokens)
            for hypotheses in search(
                decoder, list(range(20)), [1] * 20, nbest=3, minimum_length=minimum
            )
            for one in hypotheses
        )
        for minimum in (0, 1, 4, 12)
    }
    assert shortest == {0: 1, 1: 2, 4: 5, 12: 13}


def test_the_decoders_own_limit() -> None:
    decoder = stub_decoder(vocabulary=12, end=-50.0)
    memory, lengths = StubMemory(torch.arange(2)), torch.tensor([2, 30])
    configuration = SearchConfiguration(maximum_length_extra=2, length_penalty=0.0)
    found = beam_search(decoder, memory, lengths, configuration, maximum_length=9)
    assert [len(best.tokens) for (best,) in found] == [6, 9]
    with pytest.raises(UserError, match=r"minimum_length is 9, .*at most 9 tokens"):
        beam_search(
            decoder, memory, lengths, SearchConfiguration(minimum_length=9), maximum_length=9
        )


def test_no_token_possible_is_cut_there() -> None:
    """A decoder that rules out everything leaves what there is, never nothing."""
    rows = {(): {A: 0.5, B: 0.5}, (A,): {C: 1.0}}
    found = hand(rows, nbest=3, beam=3)
    assert [(one.tokens, one.ended) for one in found] == [((A, C), False)]
    (nothing,) = hand({}, beam=3)
    assert (nothing.tokens, nothing.score, nothing.ended) == ((), 0.0, False)


def test_nbest_must_fit_the_beam() -> None:
    with pytest.raises(UserError, match="nbest is 6, more than the beam of 5"):
        search(stub_decoder(), [1], [1], nbest=6)
    with pytest.raises(UserError, match="nbest is 0; it must be at least 1"):
        search(stub_decoder(), [1], [1], nbest=0)


@pytest.mark.parametrize("token", [END, 4, 250])
def test_a_model_that_gives_nan_is_refused(token: int) -> None:
    decoder = stub_decoder(vocabulary=300)
    decoder.table[:, token] = torch.nan
    with pytest.raises(UserError, match="not numbers"):
        search(decoder, [1, 2], [3, 3])


def test_no_gradient_is_kept() -> None:
    decoder = stub_decoder()
    decoder.table.requires_grad_()
    (best,) = search(decoder, [1], [3])[0]
    assert not best.attention.requires_grad


def test_thousand_hypotheses_wide_on_a_tiny_vocabulary() -> None:
    """More places than continuations: the empty ones stay empty."""
    found = search(
        stub_decoder(vocabulary=5), [1], [1], nbest=1000, beam=1000, maximum_length_extra=1
    )
    assert [len(one.tokens) for one in found[0]].count(3) == 2
    assert sorted(one.tokens for one in found[0]) == [(3,), (4, 3), (4, 4, 3), (4, 4, 4)]
