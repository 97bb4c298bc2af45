"""One source explored: against what translating and looking give, begun or hidden as asked."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.data.batches import collate_sources
from regard.data.special import END
from regard.errors import UserError
from regard.evaluation.exploring import Asked, explore_text
from regard.evaluation.looking import look_into
from regard.evaluation.translating import translate_texts
from regard.search import Ensemble, SearchConfiguration, beam_search

from .small import MODELS, SPACE, model, tokenizers

SEARCH = SearchConfiguration(beam=4, maximum_length_extra=4)
TEXT = "ein roter Stern"


@pytest.mark.parametrize("name", MODELS)
def test_unasked_it_is_what_translating_gives(name: str) -> None:
    network = model(name)
    found = explore_text(network, SPACE, TEXT, SEARCH)
    (answer,) = translate_texts(network, SPACE, [TEXT], SEARCH, nbest=4)
    assert found.answer == answer
    tree = found.tree
    assert len(found.names) == len(tree.nodes)
    best = tree.answers()[0]
    assert tree.nodes[best].score == pytest.approx(answer.score)
    path = []
    while best > 0:
        path.append(found.names[best])
        best = tree.nodes[best].parent
    assert tuple(reversed(path)) == answer.tokens
    look = look_into(network, SPACE, TEXT, answer.tokens)
    assert found.look.next_best == look.next_best
    for one, other in zip(found.look.stacks, look.stacks, strict=True):
        assert np.array_equal(one.weights, other.weights)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("prefix", ["the star", ("the", "star")])
def test_the_output_begins_as_it_must(name: str, prefix: str | tuple[str, ...]) -> None:
    network = model(name)
    found = explore_text(network, SPACE, TEXT, SEARCH, Asked(prefix=prefix)).answer
    assert found.tokens[:2] == ("the", "star")
    assert found.score == pytest.approx(sum(found.token_scores), abs=1e-4)
    texts = [TEXT, "da", ""]
    free, *others = translate_texts(network, SPACE, texts, SEARCH, prefixes=[None, prefix, prefix])
    (alone,) = translate_texts(network, SPACE, [TEXT], SEARCH)
    assert free.tokens == alone.tokens and free.score == pytest.approx(alone.score, abs=1e-5)
    assert others[0].tokens[:2] == ("the", "star") and others[1].tokens == ()


@pytest.mark.parametrize("name", sorted(set(MODELS) - {"never"}))
def test_nothing_is_attended_to_where_it_is_hidden(name: str) -> None:
    network = model(name)
    found = explore_text(network, SPACE, TEXT, SEARCH, Asked(hidden=(1,)))
    weights = np.array(found.answer.attention)
    assert weights[:, 1].max() == 0 and np.allclose(weights.sum(1), 1, atol=1e-5)
    for stack in found.look.stacks:
        if stack.kind == "cross":
            assert stack.weights[..., 1].max() == 0
    source, mask = collate_sources([(*SPACE.source.encode(TEXT), END)])
    memory = network.encode(source, mask)
    seen = mask.clone()
    seen[0, 1] = False
    memory = replace(memory, key_mask=seen)
    ((best,),) = beam_search(network, memory, mask.sum(1), SEARCH)
    assert found.answer.score == pytest.approx(best.score)
    free = explore_text(network, SPACE, TEXT, SEARCH)
    assert found.answer.score != pytest.approx(free.answer.score)


def test_several_models_are_explored_as_one() -> None:
    both = Ensemble([model("transformer"), model("recurrent", seed=2)])
    found = explore_text(both, SPACE, TEXT, SEARCH, Asked(prefix="a", hidden=(0, 2)))
    assert found.answer.tokens[0] == "a"
    assert np.array(found.answer.attention)[:, [0, 2]].max() == 0


def test_features_can_be_hidden_too() -> None:
    both = tokenizers(features=True)
    network = model("recurrent", both)
    found = explore_text(network, both, "da", SEARCH, Asked(hidden=(0,)), features="N;PL")
    assert found.answer.source_tokens[0] == "N"
    assert np.array(found.answer.attention)[:, 0].max() == 0


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked(prefix="the moon"), "never writes: moon"),
        (Asked(prefix=("the", "</s>")), "special symbol"),
        (Asked(prefix="a " * 40), "begin with 40 tokens, but has at most 12"),
        (Asked(hidden=(4,)), "no position 4 in a source of 4"),
        (Asked(hidden=(-1,)), "no position -1"),
    ],
)
def test_what_cannot_be_is_said(asked: Asked, said: str) -> None:
    with pytest.raises(UserError, match=said):
        explore_text(model("recurrent"), SPACE, TEXT, SEARCH, asked)


def test_there_must_be_something_to_explore() -> None:
    with pytest.raises(UserError, match="blank text"):
        explore_text(model("recurrent"), SPACE, " ", SEARCH)
    with pytest.raises(UserError, match="no attention"):
        explore_text(model("never"), SPACE, TEXT, SEARCH, Asked(hidden=(0,)))


def test_a_prefix_that_has_no_probability_is_said() -> None:
    network = model("recurrent")
    star = SPACE.target.encode("star")[0]
    with torch.no_grad():
        network.output.bias[star] = -torch.inf
    with pytest.raises(UserError, match="gives star, token 2, no probability"):
        explore_text(network, SPACE, TEXT, SEARCH, Asked(prefix="a star"))
    (answer,) = translate_texts(network, SPACE, [TEXT], SEARCH, prefixes=["a star"])
    assert answer.problem is not None and "gives star" in answer.problem


def test_prefixes_are_one_for_each_text() -> None:
    with pytest.raises(UserError, match="1 prefixes for 2 texts"):
        translate_texts(model("recurrent"), SPACE, [TEXT, "da"], SEARCH, prefixes=["a"])
    (answer,) = translate_texts(model("recurrent"), SPACE, [TEXT], SEARCH, prefixes=["moon"])
    assert answer.problem is not None and answer.score is None
