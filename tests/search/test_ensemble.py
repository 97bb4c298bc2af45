"""An ensemble is a decoder like any other: search over it finds what its definition says."""

import math
from itertools import product

import pytest
import torch

from regard.search import Ensemble, SearchConfiguration, beam_search
from regard.search.hypothesis import END, NEVER_EMITTED

from .stub import StubDecoder, StubMemory, stub_decoder


def mean(decoders: list[StubDecoder], key: int, tokens: tuple[int, ...]) -> float:
    """Natural-log probability of the tokens under the mean of the members, by the definition."""
    total = 0.0
    for place, token in enumerate(tokens):
        shares = [
            math.exp(float(each.table[each.read(key, tokens[:place]), token])) for each in decoders
        ]
        total += math.log(sum(shares) / len(shares))
    return total


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_wide_beam_finds_the_best_of_all(count: int) -> None:
    decoders = [stub_decoder(6, seed=seed, end=0.3) for seed in range(count)]
    keys = torch.tensor([3, 8])
    configuration = SearchConfiguration(
        beam=200, length_penalty=0.0, maximum_length_ratio=0.0, maximum_length_extra=4
    )
    memory = tuple(StubMemory(keys) for _ in decoders)
    found = beam_search(Ensemble(decoders), memory, torch.tensor([5, 6]), configuration, nbest=3)
    symbols = [s for s in range(6) if s not in (*NEVER_EMITTED, END)]
    for key, hypotheses in zip(keys.tolist(), found, strict=True):
        everything = {
            (*body, END): mean(decoders, key, (*body, END))
            for length in range(4)
            for body in product(symbols, repeat=length)
        }
        best = sorted(everything.values(), reverse=True)[:3]
        ended = [each for each in hypotheses if each.ended]
        assert ended[0].tokens == max(everything, key=everything.__getitem__)
        for hypothesis in ended:
            assert hypothesis.score == pytest.approx(everything[hypothesis.tokens], abs=1e-4)
        assert [each.score for each in ended] == pytest.approx(best[: len(ended)], abs=1e-4)


def test_attention_and_steps_are_the_mean_of_those_that_have_any() -> None:
    one, two = stub_decoder(seed=1), stub_decoder(seed=2)
    without = stub_decoder(seed=3)
    without.with_attention = False
    keys, tokens = torch.tensor([4, 9]), torch.tensor([2, 2])

    def shown(*members: StubDecoder, steps: bool) -> torch.Tensor | None:
        both = Ensemble(members)
        step = both.step(tokens, both.start(tuple(StubMemory(keys) for _ in members)))
        return step.state.pondering if steps else step.attention

    for steps in (False, True):
        first, second = shown(one, steps=steps), shown(two, steps=steps)
        assert first is not None and second is not None
        assert torch.allclose(shown(one, two, without, steps=steps), (first + second) / 2)
        assert shown(without, without, steps=steps) is None


def test_nothing_is_no_ensemble() -> None:
    with pytest.raises(ValueError, match="at least one model"):
        Ensemble([])
