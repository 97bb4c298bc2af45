"""Greedy search."""

import torch

from regard.search import SearchConfiguration, greedy_search
from regard.search.hypothesis import END, NEVER_EMITTED

from .stub import StubMemory, plain_beam, stub_decoder


def test_equals_the_definition() -> None:
    decoder = stub_decoder(vocabulary=150, end=4.0, spread=2.0)
    keys, lengths = torch.arange(30), torch.arange(30) % 5 + 1
    configuration = SearchConfiguration(maximum_length_extra=4, minimum_length=1)
    found = greedy_search(decoder, StubMemory(keys), lengths, configuration)
    for key, length, hypothesis in zip(keys.tolist(), lengths.tolist(), found, strict=True):
        (expected,) = plain_beam(decoder, key, 2 * length + 4, configuration, 1)
        assert hypothesis.tokens == expected.tokens
        assert hypothesis.ended is expected.ended
        assert abs(hypothesis.score - decoder.score(key, hypothesis.tokens)) < 1e-9
        assert hypothesis.attention.shape == (len(hypothesis.tokens), min(length, 6))
        assert not set(hypothesis.tokens) & set(NEVER_EMITTED)
    assert {hypothesis.ended for hypothesis in found} == {True, False}


def test_finished_sentences_leave() -> None:
    decoder = stub_decoder(vocabulary=12, end=1.0)
    keys = torch.arange(50)
    lengths = torch.full((50,), 30)
    found = greedy_search(decoder, StubMemory(keys), lengths, SearchConfiguration())
    expected = [
        sum(len(hypothesis.tokens) > step for hypothesis in found)
        for step in range(max(len(hypothesis.tokens) for hypothesis in found))
    ]
    assert decoder.rows == expected
    assert set(decoder.calls) == {"select"}


def test_limits_and_nothing() -> None:
    decoder = stub_decoder()
    decoder.table[:, END] = -torch.inf
    configuration = SearchConfiguration(maximum_length_extra=0)
    memory, lengths = StubMemory(torch.arange(3)), torch.tensor([1, 2, 3])
    found = greedy_search(decoder, memory, lengths, configuration, maximum_length=5)
    assert [(len(one.tokens), one.ended) for one in found] == [(2, False), (4, False), (5, False)]
    nothing = torch.zeros(0, dtype=torch.long)
    assert greedy_search(decoder, StubMemory(nothing), nothing, configuration) == []


def test_no_token_possible_is_cut_there() -> None:
    decoder = stub_decoder()
    decoder.table[decoder.read(5, (4,))] = -torch.inf
    decoder.table[decoder.read(5, ())] = -torch.inf
    decoder.table[decoder.read(5, ()), 4] = -0.5
    memory, lengths = StubMemory(torch.tensor([5])), torch.tensor([3])
    (found,) = greedy_search(decoder, memory, lengths, SearchConfiguration())
    assert (found.tokens, found.score, found.ended) == ((4,), -0.5, False)
    assert len(found.attention) == 1
