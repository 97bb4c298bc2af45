"""Everything there is to be seen of a pair, beside what answers have and what search found."""

import numpy as np
import pytest
import torch

from regard.data.batches import collate_sources
from regard.data.special import END, START
from regard.errors import UserError
from regard.evaluation.looking import look_into
from regard.evaluation.translating import score_texts, translate_texts
from regard.search import Ensemble, SearchConfiguration
from regard.search.hypothesis import NEVER_EMITTED

from .small import MODELS, PAIRS, SPACE, model, tokenizers


@pytest.mark.parametrize("name", MODELS)
def test_each_model_shows_the_kinds_that_it_has(name):
    network = model(name)
    source, target = PAIRS[0]
    look = look_into(network, SPACE, source, target)
    (answer,) = score_texts(network, SPACE, [(source, target)], SearchConfiguration())
    columns, rows = len(answer.source_tokens), len(answer.tokens)
    found = {stack.kind: stack for stack in look.stacks}
    kinds = {
        "recurrent": {"cross"},
        "hard": set(),
        "never": set(),
    }.get(name, {"cross", "encoder", "decoder"})
    assert set(found) == kinds and look.left_out == ()
    sizes = {"cross": (rows, columns), "encoder": (columns, columns), "decoder": (rows, rows)}
    for kind, stack in found.items():
        steps = name in ("universal", "adaptive")
        layers = 1 if name == "recurrent" else 4 if steps else 3
        assert stack.weights.shape == (layers, 1 if name == "recurrent" else 2, *sizes[kind])
        assert stack.steps == steps and not stack.mean
        assert np.abs(stack.weights.sum(-1) - 1).max() < 1e-5
    if name in ("transformer", "copying"):
        assert look.shown == "layer 2, mean over heads"
        np.testing.assert_allclose(found["cross"].weights[1].mean(0), answer.attention, atol=1e-5)
    if name == "universal":
        assert look.shown == "step 4, mean over heads"
        np.testing.assert_allclose(found["cross"].weights[3].mean(0), answer.attention, atol=1e-5)
    if name == "recurrent":
        np.testing.assert_allclose(found["cross"].weights[0, 0], answer.attention, atol=1e-5)
    assert look.source_words == (0, 1, 2, -1) and look.words == (0, 1, 2, -1)


@pytest.mark.parametrize("name", MODELS)
def test_the_next_best_are_those_of_the_decoder(name):
    """Against all teacher-forced steps, or what the decoder gives one step at a time."""
    network = model(name)
    look = look_into(network, SPACE, *PAIRS[0], count=3)
    (answer,) = score_texts(network, SPACE, [PAIRS[0]], SearchConfiguration())
    source, mask = collate_sources([(*SPACE.source.encode(PAIRS[0][0]), END)])
    ids = [*SPACE.target.encode(PAIRS[0][1]), END]
    with torch.no_grad():
        state, read = network.start(network.encode(source, mask)), START
        for token, others, chosen in zip(ids, look.next_best, answer.token_scores, strict=True):
            step = network.step(torch.tensor([read]), state)
            probabilities = step.log_probabilities[0].double().exp()
            assert probabilities[token].log() == pytest.approx(chosen, abs=1e-5)
            probabilities[[token, *NEVER_EMITTED]] = -1
            best = probabilities.topk(3)
            told = [SPACE.target.describe([int(i)]).tokens[0] for i in best.indices]
            assert [name for name, _ in others] == told
            assert [p for _, p in others] == pytest.approx(best.values.tolist(), abs=1e-6)
            state, read = step.state, token


@pytest.mark.parametrize("kind", ["space", "subword", "character"])
def test_words_are_those_of_the_texts(kind):
    both = tokenizers(kind)
    network = model("transformer", both)
    for source, target in PAIRS:
        look = look_into(network, both, source, target)
        assert look.source_words == (*both.source.tokenize(source).words, -1)
        assert look.words == (*both.target.tokenize(target).words, -1)
    (answer,) = translate_texts(network, both, [PAIRS[0][0]], SearchConfiguration())
    look = look_into(network, both, PAIRS[0][0], answer.tokens)
    assert len(look.words) == len(look.next_best) == len(answer.tokens)
    assert max(look.words) < max(1, len(answer.text.split()))


def test_features_that_are_read_apart_attend_to_nothing():
    both = tokenizers("character", features=True)
    network = model("transformer", both)
    look = look_into(network, both, "da", "there", features="N;PL")
    stack = next(stack for stack in look.stacks if stack.kind == "encoder")
    sums = stack.weights.sum(-1)
    count = stack.weights.shape[-1]
    if network.feature_encoder is None:
        assert np.abs(sums - 1).max() < 1e-5
    else:
        assert (sums[..., : count - 3] == 0).all() and (stack.weights[..., : count - 3] == 0).all()
    with pytest.raises(UserError, match="features"):
        look_into(network, both, "da", "there")


def test_too_many_weights_are_a_mean_or_left_out():
    network = model("transformer")
    whole = {stack.kind: stack for stack in look_into(network, SPACE, *PAIRS[0]).stacks}
    look = look_into(network, SPACE, *PAIRS[0], most=3 * 16)
    for stack in look.stacks:
        assert stack.mean and stack.weights.shape == (3, 1, 4, 4)
        expected = whole[stack.kind].over_heads()
        assert expected.mean
        np.testing.assert_allclose(stack.weights, expected.weights, atol=1e-6)
    look = look_into(network, SPACE, *PAIRS[0], most=3 * 16 - 1)
    assert look.stacks == () and look.left_out == ("cross", "encoder", "decoder")


def test_several_models_show_their_mean():
    both = Ensemble([model("transformer"), model("recurrent")])
    look = look_into(both, SPACE, *PAIRS[0])
    assert look.stacks == () and look.shown == "mean over 2 models"
    assert len(look.next_best) == 4 and all(len(others) == 5 for others in look.next_best)


@pytest.mark.parametrize("pair", [(" ", "a"), ("a", " ")])
def test_a_blank_side_is_refused(pair):
    with pytest.raises(UserError, match="blank"):
        look_into(model("transformer"), SPACE, *pair)
