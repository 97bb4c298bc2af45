"""Sampling: the right distribution, the model's own scores, a seed that means something."""

import math
from collections import Counter

import pytest
import torch

from regard.errors import UserError
from regard.search import Hypothesis, SearchConfiguration, greedy_search, sample
from regard.search.hypothesis import END, NEVER_EMITTED
from regard.search.sampling import FEW, _Sampler

from .stub import StubDecoder, StubMemory, stub_decoder

DRAWS = 4000


def draw(
    decoder: StubDecoder, keys: list[int], limit: int = 6, **options: float
) -> list[Hypothesis]:
    memory = StubMemory(torch.tensor(keys))
    configuration = SearchConfiguration(maximum_length_ratio=0, maximum_length_extra=limit)
    return sample(
        decoder, memory, torch.full((len(keys),), 4), configuration, **{"seed": 1, **options}
    )


def first_tokens(decoder: StubDecoder, **options: float) -> Counter[int]:
    """Of many samples from one source."""
    found = draw(decoder, [7] * DRAWS, limit=1, **options)
    return Counter(hypothesis.tokens[0] for hypothesis in found)


def assert_distributed(counts: Counter[int], expected: dict[int, float]) -> None:
    assert set(counts) <= set(expected)
    for token, probability in expected.items():
        slack = 4.5 * math.sqrt(probability * (1 - probability) / DRAWS)
        assert abs(counts[token] / DRAWS - probability) <= slack


def allowed(decoder: StubDecoder, temperature: float = 1.0) -> dict[int, float]:
    """What the first token's distribution must be, falling."""
    row = decoder.table[decoder.read(7, ())].double() / temperature
    row[list(NEVER_EMITTED)] = -torch.inf
    pairs = enumerate(torch.softmax(row, dim=0).tolist())
    return dict(sorted(((t, p) for t, p in pairs if p > 0), key=lambda one: -one[1]))


def cut(probabilities: dict[int, float], kept: int) -> dict[int, float]:
    some = dict(list(probabilities.items())[:kept])
    return {token: p / sum(some.values()) for token, p in some.items()}


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_temperature(temperature: float) -> None:
    decoder = stub_decoder(vocabulary=9)
    counts = first_tokens(decoder, temperature=temperature)
    assert_distributed(counts, allowed(decoder, temperature))


def test_top_k() -> None:
    decoder = stub_decoder(vocabulary=30)
    assert_distributed(first_tokens(decoder, top_k=3), cut(allowed(decoder), 3))


@pytest.mark.parametrize("vocabulary", [12, 3 * FEW])
@pytest.mark.parametrize("top_p", [0.3, 0.9])
def test_top_p(vocabulary: int, top_p: float) -> None:
    """The smallest set that reaches it, also where the first few hundred tokens do not."""
    decoder = stub_decoder(vocabulary=vocabulary, spread=0.5)
    probabilities = allowed(decoder)
    total, kept = 0.0, 0
    for probability in probabilities.values():
        if total >= top_p:
            break
        total, kept = total + probability, kept + 1
    assert (kept > FEW) is (vocabulary > 12 and top_p == 0.9)
    counts = first_tokens(decoder, top_p=top_p)
    assert_distributed(counts, cut(probabilities, kept))
    if vocabulary == 12:
        assert len(counts) == kept


def test_top_k_then_top_p() -> None:
    """Of three kept, rescaled to 1, the nucleus is taken."""
    decoder = stub_decoder(vocabulary=30)
    three = cut(allowed(decoder), 3)
    (first, second, _) = three.values()
    counts = first_tokens(decoder, top_k=3, top_p=(first + first + second) / 2)
    assert_distributed(counts, cut(three, 2))


def test_score_is_the_models_own() -> None:
    decoder = stub_decoder(vocabulary=20, end=1.0)
    keys = list(range(40))
    for key, hypothesis in zip(
        keys, draw(decoder, keys, temperature=0.7, top_k=9, top_p=0.8), strict=True
    ):
        assert hypothesis.score == pytest.approx(decoder.score(key, hypothesis.tokens), abs=1e-9)
        assert not set(hypothesis.tokens) & set(NEVER_EMITTED)
        assert len(hypothesis.attention) == len(hypothesis.tokens) <= 6
        assert (hypothesis.tokens[-1] == END) is hypothesis.ended


def test_seed_and_number_alone_decide() -> None:
    decoder = stub_decoder(vocabulary=50, end=1.0)
    keys = list(range(20))
    whole = draw(decoder, keys, seed=3)
    assert draw(decoder, keys, seed=3) == whole
    assert draw(decoder, keys, seed=4) != whole
    order = [*range(11, 20), *range(11)]
    for start in range(0, 20, 6):
        some = order[start : start + 6]
        assert draw(decoder, some, seed=3, numbers=some) == [whole[number] for number in some]
    again = draw(decoder, [7] * 20, seed=3)
    assert len({hypothesis.tokens for hypothesis in again}) > 10


def test_sharpest_is_greedy() -> None:
    decoder = stub_decoder(vocabulary=50, end=1.0)
    keys = torch.arange(20)
    configuration = SearchConfiguration(maximum_length_ratio=0, maximum_length_extra=6)
    greedy = greedy_search(decoder, StubMemory(keys), torch.full((20,), 4), configuration)
    assert draw(decoder, keys.tolist(), top_k=1) == greedy
    assert draw(decoder, keys.tolist(), top_p=1e-9) == greedy
    assert draw(decoder, keys.tolist(), temperature=1e-6) == greedy


@pytest.mark.parametrize("options", [(0, 1.0), (3, 1.0), (0, 0.5)])
@pytest.mark.parametrize("uniform", [0.0, 1 - 2**-53])
def test_extreme_draws_are_possible_tokens(options: tuple[int, float], uniform: float) -> None:
    """0 is drawn once in a while, and the banned ids lie first; the last token is impossible."""
    row = torch.tensor([[-0.1, -9.0, -9.0, -3.0, -3.0, -4.0, -torch.inf]])
    uniforms = torch.full((1, 1), uniform, dtype=torch.float64)
    zero = torch.zeros(1, dtype=torch.long)
    (token,), _ = _Sampler(uniforms, 1.0, *options).choose(row, row[:, 0], zero, 1, (0, 1, 2))
    assert token in ((3,) if uniform == 0 else (3, 4, 5))


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_the_models_tensor_is_left_alone(kind: torch.dtype) -> None:
    row = torch.randn(2, 9, dtype=kind)
    before = row.clone()
    uniforms = torch.full((2, 1), 0.5, dtype=torch.float64)
    _Sampler(uniforms, 1.0, 0, 1.0).choose(row, row[:, 0], torch.arange(2), 1, (0, 1, 2))
    assert torch.equal(row, before)


def test_no_token_possible_is_cut_there() -> None:
    decoder = stub_decoder()
    decoder.table[:, 3:] = -torch.inf
    for options in ({}, {"top_k": 2}, {"top_p": 0.5}):
        (found,) = draw(decoder, [1], **options)
        assert (found.tokens, found.score, found.ended) == ((), 0.0, False)


def test_nothing_to_sample() -> None:
    assert draw(stub_decoder(), []) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0.0}, "temperature is 0.0.*greedy"),
        ({"temperature": math.nan}, "temperature is nan"),
        ({"temperature": math.inf}, "temperature is inf"),
        ({"top_k": -1}, "top_k is -1"),
        ({"top_p": 0.0}, "top_p is 0.0"),
        ({"top_p": 1.5}, "top_p is 1.5"),
    ],
)
def test_options_out_of_range(options: dict[str, float], message: str) -> None:
    with pytest.raises(UserError, match=message):
        draw(stub_decoder(), [1], **options)


def test_a_model_that_gives_nan_is_refused() -> None:
    decoder = stub_decoder()
    decoder.table[:, 5] = torch.nan
    with pytest.raises(UserError, match="not numbers"):
        draw(decoder, [1, 2])
