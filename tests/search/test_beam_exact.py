"""Beam search against full enumeration and against a search that never stops early."""

import pytest
import torch

from regard.search import SearchConfiguration, beam_search
from regard.search.hypothesis import Hypothesis

from .stub import Found, StubDecoder, StubMemory, limit_of, plain_beam, stub_decoder

PENALTIES = (0.0, 1.0, 0.6, -0.5)


def search(
    decoder: StubDecoder,
    keys: list[int],
    lengths: list[int],
    configuration: SearchConfiguration,
    nbest: int,
) -> list[list[Hypothesis]]:
    memory = StubMemory(torch.tensor(keys))
    return beam_search(decoder, memory, torch.tensor(lengths), configuration, nbest=nbest)


def assert_same(found: list[Hypothesis], expected: list[Found]) -> None:
    assert [hypothesis.tokens for hypothesis in found] == [one.tokens for one in expected]
    assert [hypothesis.ended for hypothesis in found] == [one.ended for one in expected]
    for hypothesis, one in zip(found, expected, strict=True):
        assert hypothesis.score == pytest.approx(one.score, abs=1e-9)
        assert hypothesis.normalized_score == pytest.approx(one.normalized, abs=1e-9)


@pytest.mark.parametrize("penalty", [*PENALTIES, -2.0, 3.0])
@pytest.mark.parametrize("minimum", [0, 2])
def test_wide_beam_is_full_enumeration(penalty: float, minimum: int) -> None:
    """3 tokens and the end symbol, up to 5 tokens: 364 outputs per sentence, all in their order."""
    decoder = stub_decoder(vocabulary=7, seed=1)
    configuration = SearchConfiguration(
        beam=400,
        length_penalty=penalty,
        maximum_length_ratio=1.0,
        maximum_length_extra=1,
        minimum_length=minimum,
    )
    keys, lengths = [3, 8, 5, 40], [4, 3, 4, 1]
    for nbest in (1, 7, 400):
        found = search(decoder, keys, lengths, configuration, nbest)
        for hypotheses, key, length in zip(found, keys, lengths, strict=True):
            every = plain_beam(decoder, key, limit_of(length, configuration), configuration, 10**6)
            assert_same(hypotheses, every[:nbest])
    if minimum == 0:
        assert len(found[0]) == 3**5 + sum(3**n for n in range(5))


@pytest.mark.parametrize("penalty", [*PENALTIES, -3.0, 2.0])
@pytest.mark.parametrize("beam", [1, 2, 3, 5])
def test_stopping_loses_nothing(penalty: float, beam: int) -> None:
    """Going on to the limit would find the same n-best, for each n."""
    for seed in range(3):
        decoder = stub_decoder(vocabulary=12, seed=seed, end=0.5 * seed, spread=2.0)
        configuration = SearchConfiguration(
            beam=beam, length_penalty=penalty, maximum_length_ratio=1.5, maximum_length_extra=3
        )
        keys, lengths = list(range(1, 13)), [1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1]
        expected = [
            plain_beam(decoder, key, limit_of(length, configuration), configuration, beam)
            for key, length in zip(keys, lengths, strict=True)
        ]
        for nbest in range(1, beam + 1):
            found = search(decoder, keys, lengths, configuration, nbest)
            for hypotheses, every in zip(found, expected, strict=True):
                assert_same(hypotheses, every[:nbest])


def test_stopping_stops() -> None:
    """Sentences leave as soon as they are sure, and not all at once."""
    decoder = stub_decoder(vocabulary=12, end=0.5)
    configuration = SearchConfiguration(beam=3, length_penalty=0.0, maximum_length_extra=100)
    search(decoder, list(range(20)), [10] * 20, configuration, 1)
    assert len(decoder.rows) < 30
    assert decoder.rows[0] == 20
    assert len(set(decoder.rows[1:])) > 3
    assert decoder.rows[1:] == sorted(decoder.rows[1:], reverse=True)
    assert all(rows % 3 == 0 for rows in decoder.rows[1:])


def test_more_wanted_takes_longer() -> None:
    steps = []
    for nbest in (1, 5):
        decoder = stub_decoder(vocabulary=12, end=3.0)
        configuration = SearchConfiguration(beam=5, length_penalty=0.0, maximum_length_extra=100)
        search(decoder, list(range(20)), [10] * 20, configuration, nbest)
        steps.append(len(decoder.rows))
    assert steps[0] < steps[1]
