"""Choosing the attention to align by, among heads whose attention is known."""

import math
from types import SimpleNamespace

import pytest
import torch

from regard.data.alignment import Alignment
from regard.data.configuration import TokenizationConfiguration
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import train_tokenizers
from regard.errors import UserError
from regard.evaluation.aligning import Aligner
from regard.evaluation.alignment import word_weights
from regard.evaluation.attention_choice import AttentionChoice, candidates
from regard.evaluation.choosing import (
    choose_by_agreement,
    choose_by_gold,
    choose_by_information,
    word_information,
)

#: Word i of the source is word i of the target.
PAIRS = [("a b c d", "a b c d"), ("a b c", "a b c"), ("", "a"), ("b a", "b a")]
GOLD = [Alignment(frozenset((i, i) for i in range(len(source.split())))) for source, _ in PAIRS]
SPACES = {side: {"kind": "space"} for side in ("source", "target")}
TOKENIZERS = train_tokenizers(
    TokenizationConfiguration.model_validate({"joint": True, **SPACES}),
    Pairs((Pair("a b c d", "a b c d"),), "here"),
)


def diagonal(steps, positions, by):  # type: ignore[no-untyped-def]
    """Step i attends to position i + by, which is brought into the sentence."""
    places = (torch.arange(steps) + by).clamp(0, positions - 1)
    return torch.nn.functional.one_hot(places, positions).float()


def blurred(sharp):  # type: ignore[no-untyped-def]
    return 0.6 * sharp + 0.4 / sharp.shape[1]


def constant(steps, positions):  # type: ignore[no-untyped-def]
    """Sharp, and the same for every step."""
    return torch.nn.functional.one_hot(torch.zeros(steps).long(), positions).float()


class Heads:
    """A model with two layers of two heads; the first head of the second layer aligns.

    by: how far from the diagonal it looks: -1 is right one step later. lazy: the second layer's
    other head looks at the first word alone; else it is the same head again. Of the first layer,
    one looks two words ahead, and one nowhere.
    """

    copies, longest_source, longest_target = False, None, None
    attention_layers = attention_heads = 2

    def __init__(self, by: int = 0, lazy: bool = True) -> None:
        self.by, self.lazy = by, lazy

    def encode(self, source, mask):  # type: ignore[no-untyped-def]
        return SimpleNamespace(rows=len(source), positions=source.shape[1])

    def attention_by_layer(self, memory, inputs):  # type: ignore[no-untyped-def]
        shape = inputs.shape[1], memory.positions
        nowhere = torch.full(shape, 1 / shape[1])
        ahead = blurred(diagonal(*shape, 2))
        yield torch.stack([ahead, nowhere]).expand(memory.rows, -1, -1, -1)
        right = blurred(diagonal(*shape, self.by))
        other = constant(*shape) if self.lazy else right
        yield torch.stack([right, other]).expand(memory.rows, -1, -1, -1)

    def shown_attention(self, memory, inputs, outputs, mask):  # type: ignore[no-untyped-def]
        return next(self.attention_by_layer(memory, inputs)).mean(1)


def aligner(model) -> Aligner:  # type: ignore[no-untyped-def]
    return Aligner(model, TOKENIZERS)


def test_gold_links_find_layer_head_and_step():
    found = choose_by_gold(aligner(Heads()), PAIRS, GOLD)
    assert found.choice == AttentionChoice(2, 1, 0)
    assert found.figure == 0 and found.shown > 50 and found.measure.startswith("alignment error")
    assert choose_by_gold(aligner(Heads(by=-1)), PAIRS, GOLD).choice == AttentionChoice(2, 1, 1)


def test_the_attention_shown_is_kept_where_nothing_is_better():
    model = Heads()
    model.attention_layers = 0
    assert choose_by_gold(aligner(model), PAIRS, GOLD).choice == AttentionChoice()
    assert choose_by_information(aligner(model), PAIRS).choice == AttentionChoice()


def test_information_finds_the_layer_whose_heads_tell_something():
    """A head that always looks at one word is the sharpest of all, and tells nothing."""
    found = choose_by_information(aligner(Heads()), PAIRS)
    assert found.choice == AttentionChoice(2)
    assert found.figure > found.shown


def test_two_directions_that_agree():
    there, back = choose_by_agreement(
        aligner(Heads(lazy=False)), aligner(Heads(by=-1, lazy=False)), PAIRS
    )
    assert there.choice.shift == 0 and back.choice.shift == 1
    assert (there.choice.layer, back.choice.layer) == (2, 2)
    assert there.figure == back.figure < there.shown


def test_candidates_begin_with_what_is_shown():
    model = Heads()
    every = candidates(model, heads=True, shifts=True)
    assert every[:2] == (AttentionChoice(), AttentionChoice(shift=1))
    assert len(every) == len(set(every)) == 2 + 2 * 3 * 2
    assert candidates(model, heads=False, shifts=False) == (
        AttentionChoice(),
        AttentionChoice(1),
        AttentionChoice(2),
    )


def test_information_by_hand():
    def information(rows):  # type: ignore[no-untyped-def]
        return word_information(word_weights(rows, range(len(rows[0])), range(len(rows))))

    assert information([[1.0, 0.0], [0.0, 1.0]]) == pytest.approx(1)
    assert information([[1.0, 0.0], [1.0, 0.0]]) == pytest.approx(0)
    assert information([[0.5, 0.5], [0.5, 0.5]]) == pytest.approx(0)
    # the mean is (5/8, 3/8); the rows have 0 bits and that of (1/4, 3/4)
    entropy = [-sum(p * math.log2(p) for p in row) for row in ((5 / 8, 3 / 8), (1 / 4, 3 / 4))]
    assert information([[1.0, 0.0], [0.25, 0.75]]) == pytest.approx(entropy[0] - entropy[1] / 2)
    assert information([[0.0, 0.0], [0.0, 0.0]]) == 0
    assert word_information(word_weights([], [], [])) == 0


def test_nothing_to_choose_by():
    with pytest.raises(UserError, match="4 gold alignments for 1 pairs"):
        choose_by_gold(aligner(Heads()), PAIRS[:1], GOLD)
    for choose in (choose_by_information, lambda *given: choose_by_gold(*given, GOLD[2:3])):
        with pytest.raises(UserError, match="no pair can be read"):
            choose(aligner(Heads()), [("", "a")])
