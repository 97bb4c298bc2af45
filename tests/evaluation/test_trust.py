"""How far to trust attention: by hand, on models whose attention is known to be right, wrong or
nothing, and on every kind of model there is."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import Memory
from regard.data.batches import Example, collate
from regard.data.special import END
from regard.errors import UserError
from regard.evaluation.attention_choice import AttentionChoice
from regard.evaluation.leave_one_out import each_token, leave_out
from regard.evaluation.translating import translate_texts
from regard.evaluation.trust import SMALLEST, attention_to_sources, measure_trust, trust_in_answers
from regard.search import SearchConfiguration

from .small import MODELS, PAIRS, SPACE, model

WRITTEN, OTHER, SYMBOLS = 5, 6, 60


@dataclass(frozen=True)
class Counting:
    """A model whose probability of WRITTEN is the sum of a weight of each position it can see.

    So a position that is left out changes every step by its weight, exactly. `sign` and `even` say
    what it claims to have attended to: these weights, their opposite, or all alike.
    """

    sign: float = 1.0
    even: bool = False
    attention_layers = 0
    attention_heads = 1
    copies = False
    longest_source = longest_target = None

    def encode(self, source: torch.Tensor, mask: torch.Tensor) -> Memory:
        key = source[..., None].float() / (100 * SYMBOLS)
        return Memory(key, key, mask)

    def start(self, memory: Memory) -> Memory:
        return memory

    def step(self, tokens: torch.Tensor, state: Memory) -> Any:
        seen = (state.key[..., 0] * state.key_mask).sum(1)
        shares = torch.zeros(len(tokens), 8)
        shares[:, WRITTEN], shares[:, OTHER] = seen, 1 - seen
        return type("Step", (), {"log_probabilities": shares.log(), "state": state})

    def shown_attention(self, memory, inputs, outputs, mask) -> torch.Tensor:
        weights = self.sign * memory.key[..., 0] + (self.sign < 0)
        if self.even:
            weights = torch.ones_like(weights)
        weights = weights * memory.key_mask
        weights = weights / weights.sum(1, keepdim=True)
        return weights[:, None].expand(-1, inputs.shape[1], -1)


def sources(count: int = 60, longest: int = 9) -> list[Example]:
    """Sources of different symbols in no order; every step writes WRITTEN."""
    generator = np.random.default_rng(3)
    examples = []
    for _ in range(count):
        length = int(generator.integers(2, longest))
        symbols = generator.choice(np.arange(4, SYMBOLS), length, replace=False)
        examples.append(
            Example((*symbols.tolist(), END), (WRITTEN,) * int(generator.integers(1, 4)))
        )
    return examples


@pytest.mark.parametrize("how", ["hidden", "removed"])
def test_attention_that_is_the_effect(how):
    trust = measure_trust(Counting(), sources(), resamples=200)
    right, random = trust.attention[how], trust.random[how]
    assert right.correlation.value == pytest.approx(1)
    assert right.same.value == pytest.approx(100)
    assert abs(random.correlation.value) < 0.15
    assert random.correlation.interval.low < 0 < random.correlation.interval.high
    chance = np.mean([1 / (len(each.source) - 1) for each in sources() for _ in each.target])
    assert random.same.interval.low < 100 * chance < random.same.interval.high


def test_attention_that_is_the_opposite():
    trust = measure_trust(Counting(sign=-1), sources())
    assert trust.attention["hidden"].correlation.value == pytest.approx(-1)
    assert trust.attention["hidden"].same.value == 0


def test_even_attention_ranks_nothing():
    trust = measure_trust(Counting(even=True), sources())
    agreement = trust.attention["removed"]
    assert agreement.correlation.value == 0
    chance = np.mean([1 / (len(each.source) - 1) for each in sources() for _ in each.target])
    assert agreement.same.value == pytest.approx(100 * chance)


def test_by_hand():
    """Two sources of three symbols and END; of the second two symbols are the same."""
    examples = [Example((10, 30, 20, END), (WRITTEN, WRITTEN)), Example((8, 8, 9, END), (WRITTEN,))]
    trust = measure_trust(Counting(), examples, seed=2)
    assert (trust.sources, trust.steps, trust.single) == (2, 3, 0)
    end = (2 * END / (60 + END) + END / (25 + END)) / 3
    assert trust.at_end == pytest.approx(100 * end)
    assert trust.attention["hidden"].correlation.value == pytest.approx(1)
    assert trust.attention["hidden"].same.value == pytest.approx(100)


def test_sources_of_one_symbol_are_counted():
    trust = measure_trust(Counting(), [*sources(4), Example((9, END), (WRITTEN,))])
    assert (trust.sources, trust.single) == (4, 1)
    with pytest.raises(UserError, match="nothing to rank"):
        measure_trust(Counting(), [Example((9, END), (WRITTEN,))])


def test_the_same_again():
    one, other = (measure_trust(Counting(), sources(), resamples=50).as_dict() for _ in range(2))
    assert one == other
    drawn = measure_trust(Counting(), sources(), resamples=50, seed=2).as_dict()
    assert drawn["hidden"]["random"] != one["hidden"]["random"]
    assert drawn["hidden"]["attention"] == one["hidden"]["attention"]


def naive(network, example: Example, how) -> tuple[float, float]:
    """The mean over steps of tau-b and of whether the peaks are the same, pair by pair."""
    batch = collate([example], [0])
    with torch.no_grad():
        memory = network.encode(batch.source, batch.source_mask)
        weights = network.shown_attention(memory, batch.inputs, batch.outputs, batch.mask)[0]
    (found,) = leave_out(network, [example], [each_token(example)], how)
    effects = (found.distances.double() / SMALLEST).round().T
    taus, peaks = [], []
    for weight, effect in zip(weights[:, :-1].double(), effects, strict=True):
        signs = [torch.sign(each[:, None] - each[None, :]) for each in (weight, effect)]
        untied = ((signs[0] != 0).sum() * (signs[1] != 0).sum()).sqrt()
        taus.append(float((signs[0] * signs[1]).sum() / untied) if untied else 0.0)
        peaks.append(float(weight.argmax() == effect.argmax()))
    return float(np.mean(taus)), float(np.mean(peaks))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "never"])
def test_every_model_with_attention(name):
    network = model(name)
    example = Example(
        (*SPACE.source.encode(PAIRS[0][0]), END), (*SPACE.target.encode(PAIRS[0][1]), END)
    )
    trust = measure_trust(network, [example])
    for how, agreement in trust.attention.items():
        tau, peak = naive(network, example, how)
        assert agreement.correlation.value == pytest.approx(tau, abs=1e-6)
        assert agreement.same.value == pytest.approx(100 * peak, abs=1e-6)
    assert set(trust.as_dict()) >= {"hidden", "removed", "sources", "steps", "attention_at_end"}


def test_a_model_without_attention_says_so():
    example = Example((*SPACE.source.encode("der Stern"), END), (5, END))
    with pytest.raises(UserError, match="no attention"):
        measure_trust(model("never"), [example])


def test_of_texts_and_answers():
    network, texts = model("recurrent"), ["ein roter Stern", " ", "der Stern", "da"]
    answers = translate_texts(network, SPACE, texts, SearchConfiguration(maximum_length_extra=2))
    trust = trust_in_answers(network, SPACE, texts, answers)
    assert (trust.sources, trust.single) == (2, 1)
    assert trust.steps == len(answers[0].tokens) + len(answers[2].tokens)


def test_attention_is_what_answers_show():
    network, texts = model("transformer"), [pair[0] for pair in PAIRS]
    answers = translate_texts(network, SPACE, texts, SearchConfiguration(maximum_length_extra=2))
    examples = [
        Example((*SPACE.source.encode(text), END), tuple(SPACE.target.token_ids(answer.tokens)))
        for text, answer in zip(texts, answers, strict=True)
    ]
    for found, answer in zip(attention_to_sources(network, examples), answers, strict=True):
        np.testing.assert_allclose(found, answer.attention, atol=1e-5)


def test_a_chosen_layer_and_head():
    """The layer that answers show is the second; any head of any layer can be asked for."""
    network = model("transformer")
    example = Example(
        (*SPACE.source.encode(PAIRS[0][0]), END), (*SPACE.target.encode(PAIRS[0][1]), END)
    )
    shown = measure_trust(network, [example]).as_dict()
    assert measure_trust(network, [example], choice=AttentionChoice(2)).as_dict() == shown
    batch = collate([example], [0])
    with torch.no_grad():
        memory = network.encode(batch.source, batch.source_mask)
        layers = list(network.attention_by_layer(memory, batch.inputs))
    choice = AttentionChoice(3, 2)
    (found,) = attention_to_sources(network, [example], choice)
    np.testing.assert_allclose(found, layers[2][0, 1], atol=1e-6)
    with pytest.raises(UserError, match="no layer 4"):
        measure_trust(network, [example], choice=AttentionChoice(4))
