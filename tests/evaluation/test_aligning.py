"""Alignments by forced decoding: of every family of models, in the user's own words."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.data.configuration import TokenizationConfiguration
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import Tokenizers, copy_table, train_tokenizers
from regard.errors import UserError
from regard.evaluation import links_from_attention, symmetrize
from regard.evaluation.aligning import Aligner, align_both_ways, align_texts
from regard.evaluation.attention_choice import AttentionChoice
from regard.evaluation.translating import score_texts
from regard.models import Model, ModelConfiguration, build_model
from regard.search import Ensemble, SearchConfiguration

TRANSFORMER = {"kind": "transformer", "layers": 3, "heads": 2, "feed_forward_size": 8}
GRU = {"kind": "recurrent", "size": 4}
DECODERS: dict[str, dict[str, Any]] = {
    "before": {"kind": "recurrent", "size": 6, "attend": "before", "readout_size": 5},
    "after": {
        "kind": "recurrent",
        "size": 6,
        "attend": "after",
        "attention": {"score": "general"},
        "readout": "attentional",
    },
    "transformer": TRANSFORMER,
    "universal": {
        "kind": "universal_transformer",
        "heads": 2,
        "feed_forward_size": 8,
        "adaptive": "graves",
    },
    "hard": {"kind": "hard_attention", "size": 6, "readout_size": 5, "order": 1},
}
COPYING = {**DECODERS["after"], "copying": True}
PAIRS = [
    ("ein roter Stern", "a red star"),
    ("der  Stern", "the star"),
    ("ein roter Stern steht da", "there stands a red star"),
    ("da", "there"),
    ("Stern roter Stern Stern", "star red"),
]


def tokenizers(kind: str = "space", features: bool = False) -> Tokenizers:
    size = {"size": 40} if kind == "subword" else {}
    sides: dict[str, Any] = {side: {"kind": kind, **size} for side in ("source", "target")}
    tags = ["N", "V", "N;PL", "V;PST", "N"] if features else [""] * len(PAIRS)
    pairs = Pairs(tuple(Pair(*pair, tag) for pair, tag in zip(PAIRS, tags, strict=True)), "here")
    more = {"features": {}} if features else {}
    configuration = TokenizationConfiguration.model_validate({"joint": True, **sides, **more})
    return train_tokenizers(configuration, pairs)


SPACE = tokenizers()


def model(both: Tokenizers, decoder: dict[str, Any], seed: int = 1, **encoder: Any) -> Model:
    sections = {"embedding": {"size": 6}, "encoder": encoder or GRU, "decoder": decoder}
    torch.manual_seed(seed)
    chosen = ModelConfiguration.model_validate(sections)
    copies = copy_table(both) if decoder.get("copying") else None
    features = 0 if both.features is None else both.features.size
    made = build_model(chosen, both.source.size, both.target.size, features, copies=copies)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return made.eval()


def aligner(decoder: str, both: Tokenizers = SPACE, **options: Any) -> Aligner:
    return Aligner(model(both, DECODERS[decoder]), both, **options)


@pytest.mark.parametrize("kind", ["space", "subword", "character"])
@pytest.mark.parametrize("decoder", DECODERS)
def test_links_are_those_of_the_attention_shown(decoder, kind):
    both = tokenizers(kind)
    one = aligner(decoder, both)
    scored = score_texts(one.model, both, PAIRS, SearchConfiguration())
    for pair, aligned, answer in zip(PAIRS, align_texts(one, PAIRS), scored, strict=True):
        assert aligned.problem is None and aligned.tokens == answer.tokens
        assert aligned.source_tokens == answer.source_tokens
        np.testing.assert_allclose(aligned.attention, answer.attention, atol=1e-5)
        words = [len(side.split()) for side in pair]
        assert all(i < words[0] and j < words[1] for i, j in aligned.alignment)
        read, given = both.source.tokenize(pair[0]).words, both.target.tokenize(pair[1]).words
        links = links_from_attention(aligned.attention, (*read, -1), (*given, -1))
        assert aligned.alignment == tuple(sorted(links))


@pytest.mark.parametrize("decoder", DECODERS)
def test_batches_and_order_change_nothing(decoder):
    alone = align_texts(aligner(decoder, batch_size=1), PAIRS)
    backward = align_texts(aligner(decoder, batch_size=3), PAIRS[::-1])[::-1]
    for one, other in zip(alone, backward, strict=True):
        assert one.alignment == other.alignment
        np.testing.assert_allclose(one.attention, other.attention, atol=1e-5)


def test_few_weights_at_once(monkeypatch):
    whole = align_texts(aligner("transformer"), PAIRS)
    monkeypatch.setattr("regard.evaluation.aligning.MOST_WEIGHTS", 50)
    one = aligner("transformer")
    rows, encode = [], one.model.encode
    monkeypatch.setattr(one.model, "encode", lambda s, m: rows.append(len(s)) or encode(s, m))
    parts = align_texts(one, PAIRS)
    assert [each.alignment for each in parts] == [each.alignment for each in whole]
    assert sum(rows) == len(PAIRS) and max(rows) < len(PAIRS)


def test_layers_heads_and_the_step_after():
    one = aligner("transformer")

    def attention(**choice):
        return [
            np.array(each.attention) for each in align_texts(one, PAIRS, AttentionChoice(**choice))
        ]

    shown = attention()
    for made, layer in zip(shown, attention(layer=2), strict=True):  # the last but one is shown
        np.testing.assert_allclose(made, layer, atol=1e-6)
    heads = [attention(layer=2, head=head) for head in (1, 2)]
    for made, first, second in zip(shown, *heads, strict=True):
        np.testing.assert_allclose(made, (first + second) / 2, atol=1e-6)
        assert abs(first - second).max() > 1e-3
    for here, later in zip(attention(layer=3), attention(layer=3, shift=1), strict=True):
        np.testing.assert_array_equal(here[1:], later[:-1])
        np.testing.assert_array_equal(here[-1], later[-1])


@pytest.mark.parametrize(
    ("decoder", "choice", "message"),
    [
        ("transformer", {"layer": 4}, "no layer 4: .* layers 1 to 3"),
        ("transformer", {"layer": 0}, "no layer 0"),
        ("transformer", {"layer": 1, "head": 3}, "no head 3: .* heads 1 to 2"),
        ("transformer", {"head": 1}, "head 1 of which layer"),
        ("transformer", {"shift": 2}, "shift 2 should be 0 or 1"),
        ("after", {"layer": 2}, "one layer, number 1"),
        ("hard", {"layer": 1}, "hard attention tells what each step read"),
        ("hard", {"shift": 1}, "hard attention tells what each step read"),
    ],
)
def test_what_there_is_not_is_named(decoder, choice, message):
    with pytest.raises(UserError, match=message):
        align_texts(aligner(decoder), PAIRS, AttentionChoice(**choice))


def test_a_model_without_attention():
    never = {"kind": "recurrent", "size": 6, "attend": "never", "constant_context": True}
    with pytest.raises(UserError, match="no attention"):
        align_texts(Aligner(model(SPACE, never), SPACE), PAIRS)


def test_ensembles_are_aligned_by_the_mean():
    members = [model(SPACE, DECODERS[name]) for name in ("before", "transformer")]
    each = [align_texts(Aligner(member, SPACE), PAIRS) for member in members]
    joined = align_texts(Aligner(Ensemble(members), SPACE), PAIRS)
    for one, other, both in zip(*each, joined, strict=True):
        mean = (np.array(one.attention) + np.array(other.attention)) / 2
        np.testing.assert_allclose(both.attention, mean, atol=1e-5)
    with pytest.raises(UserError, match="the mean of what each of them shows"):
        align_texts(Aligner(Ensemble(members), SPACE), PAIRS, AttentionChoice(layer=1))


def test_words_are_those_of_the_user():
    """Spaces that come twice, a word that normalization widens, and a symbol never seen."""
    sides = {
        side: {"kind": "subword", "size": 40, "normalization": "NFKC"}
        for side in ("source", "target")
    }
    pairs = Pairs(tuple(Pair(*pair) for pair in PAIRS), "here")
    both = train_tokenizers(
        TokenizationConfiguration.model_validate({"joint": True, **sides}), pairs
    )
    one = aligner("before", both)
    (aligned,) = align_texts(one, [("ein   ﬁﬁ☃  Stern", "  a ﬁ\u3000star☃ ")])
    assert {i for i, _ in aligned.alignment} <= {0, 1, 2}
    assert {j for _, j in aligned.alignment} <= {0, 1, 2}
    assert aligned.unseen and aligned.unseen_target


def test_tokens_in_place_of_words():
    both = tokenizers("character")
    aligned = align_texts(aligner("hard", both, unit="token"), PAIRS)
    for pair, each in zip(PAIRS, aligned, strict=True):
        assert each.source_tokens == (*pair[0], "</s>")
        best = np.array(each.attention)[:-1].argmax(1)
        expected = [(int(i), j) for j, i in enumerate(best) if i < len(pair[0])]
        assert each.alignment == tuple(sorted(expected))


def test_blank_sides_and_what_is_too_long():
    decoder = {**TRANSFORMER, "positions": "learned", "maximum_positions": 4}
    one = Aligner(model(SPACE, decoder), SPACE)
    texts = [("", "a"), ("da", " "), ("da", "there there there there"), ("da", "there")]
    blank, also, long, right = align_texts(one, texts)
    assert blank == also and blank.alignment == () and blank.problem is None
    assert long.alignment == () and "5 tokens with the end symbol" in long.problem
    assert right.attention and right.problem is None
    assert align_texts(one, []) == []


def test_features_and_copies():
    both = tokenizers("character", features=True)
    tags = ["N", "V", "N;PL", "V;PST", "N;N;N"]
    one = Aligner(model(both, COPYING), both, tags)
    texts = [(source + "☃", target + "☃") for source, target in PAIRS]
    aligned = align_texts(one, texts)
    for (source, _), each in zip(texts, aligned, strict=True):
        assert each.unseen == () and each.unseen_target == ()  # it can be copied
        assert all(i < len(source.split()) for i, _ in each.alignment)
    assert aligned[4].source_tokens[:3] == ("N", "N", "N")
    with pytest.raises(UserError, match="trained with features"):
        align_texts(Aligner(one.model, both), texts)


@pytest.mark.parametrize("method", ["grow-diag-final-and", "grow-diag", "intersection", "union"])
def test_both_ways(method):
    there, back = aligner("before"), Aligner(model(SPACE, TRANSFORMER, 2), SPACE)
    flipped = [(target, source) for source, target in PAIRS]
    forward, reverse = align_texts(there, PAIRS), align_texts(back, flipped, AttentionChoice(1))
    choices = (None, AttentionChoice(1))
    for one, other, both in zip(
        forward, reverse, align_both_ways(there, back, PAIRS, choices, method=method), strict=True
    ):
        turned = frozenset((i, j) for j, i in other.alignment)
        assert both.forward == one.alignment and both.reverse == tuple(sorted(turned))
        made = symmetrize(frozenset(one.alignment), turned, method)
        assert both.alignment == tuple(sorted(made))
        assert both.attention == one.attention


def test_both_ways_with_problems():
    short = {**TRANSFORMER, "positions": "learned", "maximum_positions": 3}
    there, back = aligner("before"), Aligner(model(SPACE, TRANSFORMER, 1, **short), SPACE)
    fits, long, blank = align_both_ways(there, back, [("da", "there"), PAIRS[0], ("", "")])
    assert fits.problem is None and blank.problem is None and blank.alignment == ()
    assert long.alignment == () and long.problem.startswith("in the opposite direction: 4 tokens")
    with pytest.raises(UserError, match="same tokens"):
        align_both_ways(aligner("before", unit="token"), back, PAIRS)
