"""Outputs that are made to begin with given tokens."""

import math

import pytest
import torch

from regard.search import SearchConfiguration, beam_search, greedy_search, sample
from regard.search.hypothesis import END, UNKNOWN
from regard.search.prefix import PrefixDecoder

from .stub import Fixed, StubMemory, plain_beam, stub_decoder

CPU = torch.device("cpu")
PREFIXES = [(), (5,), (7, 4, 4), (6, 6), (4, 5, 6, 7)]
LENGTHS = torch.tensor([2, 3, 4, 5, 6])
SETTINGS = SearchConfiguration(beam=4, maximum_length_extra=5)


def forced_alone(vocabulary: int = 12):
    """Each prefix forced by itself, beside all of them in one batch."""
    decoder = stub_decoder(vocabulary, end=1.0, spread=2.0)
    keys = torch.arange(len(PREFIXES))
    whole = PrefixDecoder(decoder, PREFIXES, CPU)
    together = beam_search(whole, StubMemory(keys), LENGTHS, SETTINGS, nbest=4)
    for row, prefix in enumerate(PREFIXES):
        some = slice(row, row + 1)
        one = PrefixDecoder(decoder, [prefix], CPU)
        (alone,) = beam_search(one, StubMemory(keys[some]), LENGTHS[some], SETTINGS, nbest=4)
        yield decoder, row, prefix, together[row], alone


def test_outputs_begin_with_the_prefix_and_keep_the_models_scores() -> None:
    for decoder, key, prefix, found, alone in forced_alone():
        assert found == alone  # whatever else is in the batch
        for hypothesis in found:
            assert hypothesis.tokens[: len(prefix)] == prefix
            assert hypothesis.score == pytest.approx(decoder.score(key, hypothesis.tokens))
            assert math.fsum(hypothesis.log_probabilities) == pytest.approx(hypothesis.score)
            assert (hypothesis.tokens[-1] == END) is hypothesis.ended


def test_the_rest_is_what_a_search_of_the_rest_finds() -> None:
    """By a decoder of plain lists that rules out, by hand, all but the prefix."""
    for decoder, key, prefix, found, _ in forced_alone():
        table = decoder.table.clone()
        for place in range(len(prefix)):
            row = table[decoder.read(key, prefix[:place])]
            ruled_out = torch.arange(len(row)) != prefix[place]
            row[ruled_out] = -torch.inf
        ruled = type(decoder)(table)
        limit = int(2.0 * LENGTHS[key]) + 5
        expected = plain_beam(ruled, key, limit, SETTINGS, SETTINGS.beam)[: len(found)]
        assert [each.tokens for each in found] == [each.tokens for each in expected]


def test_the_models_own_beginning_changes_nothing() -> None:
    decoder = stub_decoder(20, end=1.0, spread=3.0)
    keys, lengths = torch.arange(6), torch.full((6,), 4)
    free = greedy_search(decoder, StubMemory(keys), lengths, SETTINGS)
    begun = [each.tokens[: len(each.tokens) // 2] for each in free]
    again = greedy_search(PrefixDecoder(decoder, begun, CPU), StubMemory(keys), lengths, SETTINGS)
    assert again == free
    for one, other in zip(again, free, strict=True):
        assert torch.equal(one.attention, other.attention)
        assert torch.equal(one.pondering, other.pondering)


def test_sampling_is_forced_too() -> None:
    decoder = stub_decoder(12, end=1.0)
    memory = StubMemory(torch.arange(len(PREFIXES)))
    forced = PrefixDecoder(decoder, PREFIXES, CPU)
    drawn = sample(forced, memory, LENGTHS, SETTINGS, seed=3, top_k=2)
    for key, (prefix, hypothesis) in enumerate(zip(PREFIXES, drawn, strict=True)):
        assert hypothesis.tokens[: len(prefix)] == prefix
        assert hypothesis.score == pytest.approx(decoder.score(key, hypothesis.tokens))


def test_a_token_without_probability_ends_the_search_before_it() -> None:
    rows = {(): {4: 1.0}, (4,): {5: 1.0}, (4, 5): {END: 1.0}}
    length = torch.tensor([1])
    (found,) = beam_search(PrefixDecoder(Fixed(rows, 8), [(4, 6)], CPU), length, length, SETTINGS)
    assert [each.tokens for each in found] == [(4,)]


@pytest.mark.parametrize("token", [END, UNKNOWN])
def test_what_is_never_written_cannot_be_forced(token: int) -> None:
    with pytest.raises(ValueError, match="no output goes on after"):
        PrefixDecoder(stub_decoder(), [(4, token)], CPU)
