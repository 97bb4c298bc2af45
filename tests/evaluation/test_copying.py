"""Texts with symbols never seen, to models that copy: every way of decoding, alone and together."""

import math
from typing import Any

import pytest
import torch

from regard.data.configuration import TokenizationConfiguration
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import Tokenizers, copy_table, train_tokenizers
from regard.evaluation.searching import Sampling
from regard.evaluation.translating import score_texts, translate_texts
from regard.models import Model, ModelConfiguration, build_model
from regard.search import Ensemble, SearchConfiguration

SOURCES = ["xyx", "bax", "xay☃", "☃", "ab"]
SEARCH = SearchConfiguration(
    beam=3, maximum_length_ratio=1.0, maximum_length_extra=2, minimum_length=2
)


def tokenizers(**more: Any) -> Tokenizers:
    sides = {"source": {"kind": "character"}, "target": {"kind": "character"}, **more}
    pairs = Pairs((Pair("abc", "cab"), Pair("cb", "bcd")), "here")
    return train_tokenizers(TokenizationConfiguration.model_validate(sides), pairs)


def model(both: Tokenizers, seed: int = 1, *, copying: bool = True) -> Model:
    """Random; one that copies likes to."""
    decoder = {
        "kind": "recurrent",
        "size": 6,
        "attend": "after",
        "attention": {"score": "general"},
        "readout": "attentional",
        "copying": copying,
    }
    sections = {
        "embedding": {"size": 5},
        "encoder": {"kind": "recurrent", "size": 4},
        "decoder": decoder,
    }
    torch.manual_seed(seed)
    chosen = ModelConfiguration.model_validate(sections)
    made = build_model(chosen, both.source.size, both.target.size, copies=copy_table(both))
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    if copying:
        torch.nn.init.constant_(made.decoder.generation_gate.linear.bias, -4.0)
    return made.eval()


ONE_VOCABULARY, TWO = tokenizers(), tokenizers(joint=False)
DECODINGS: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1},
    "beam": {"beam": 4, "nbest": 3},
    "sampling": {"sampling": Sampling(seed=5, temperature=1.5)},
}


def members(both: Tokenizers, kind: str) -> Model | Ensemble:
    if kind == "one":
        return model(both)
    second = model(both, 2, copying=kind == "two that copy")
    return Ensemble([model(both), second])


@pytest.mark.parametrize("both", [ONE_VOCABULARY, TWO], ids=["joint", "apart"])
@pytest.mark.parametrize("kind", ["one", "two that copy", "one that copies and one that does not"])
@pytest.mark.parametrize("decoding", DECODINGS)
def test_what_is_decoded_scores_the_same(decoding: str, kind: str, both: Tokenizers) -> None:
    """From its tokens, as its text, and alone: a batch is as wide as its sentences need."""
    asked, options = members(both, kind), DECODINGS[decoding]
    answers = translate_texts(asked, both, SOURCES, SEARCH, **options)
    assert any(set(answer.text) & set("xy☃") for answer in answers)
    pairs = [(source, answer.tokens) for source, answer in zip(SOURCES, answers, strict=True)]
    for i, scored in enumerate(score_texts(asked, both, pairs, SEARCH)):
        answer = answers[i]
        assert set(answer.text) <= {*SOURCES[i], *"abcd"}
        assert not answer.unseen and not scored.unseen_target
        assert scored.tokens == answer.tokens and scored.text == answer.text
        assert scored.score == pytest.approx(answer.score, abs=1e-4)
        assert math.exp(answer.score or 0) <= 1
        if decoding != "sampling":  # whose numbers go by the place in the list
            alone = translate_texts(asked, both, [SOURCES[i]], SEARCH, **options)[0]
            assert alone.text == answer.text and alone.nbest[0].text == answer.text
            assert alone.score == pytest.approx(answer.score, abs=1e-4)


def test_a_symbol_that_only_the_target_knows_has_one_id() -> None:
    """Copied or written, d is d: both ways add up, and none is counted twice."""
    copying = model(TWO)
    (scored,) = score_texts(copying, TWO, [("dxd", "dx")], SEARCH)
    assert scored.tokens == ("d", "x", "</s>") and scored.score is not None
    source = torch.tensor([[TWO.source.size + TWO.target.encode("d")[0], 3]])
    log_p = copying(source, torch.ones(1, 2, dtype=torch.bool), torch.tensor([[2]]))
    assert log_p.log_probabilities.shape[2] == TWO.target.size
    assert log_p.log_probabilities.exp().sum().item() == pytest.approx(1, abs=1e-5)


def test_an_unseen_symbol_has_the_mean_of_the_members() -> None:
    """One that does not copy gives it nothing: the half of what the other gives is left."""
    pair = [("xa", "xa")]
    alone = score_texts(model(ONE_VOCABULARY), ONE_VOCABULARY, pair, SEARCH)[0]
    mixed = members(ONE_VOCABULARY, "one that copies and one that does not")
    shared = score_texts(mixed, ONE_VOCABULARY, pair, SEARCH)[0]
    assert shared.token_scores[0] == pytest.approx(alone.token_scores[0] - math.log(2), abs=1e-5)


def test_other_symbols_of_a_target_stay_unknown() -> None:
    (scored,) = score_texts(model(ONE_VOCABULARY), ONE_VOCABULARY, [("xa", "ya")], SEARCH)
    assert scored.unseen_target == ("y",) and scored.text == "ya"


def test_a_model_that_does_not_copy_reads_and_writes_as_ever() -> None:
    plain = model(ONE_VOCABULARY, copying=False)
    answers = translate_texts(plain, ONE_VOCABULARY, SOURCES, SEARCH)
    assert all(set(answer.text) <= set("abcd") for answer in answers)
    assert answers[0].unseen == ("x", "y") and answers[4].unseen == ()
