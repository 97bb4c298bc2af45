"""Word dropout: whole vectors are zero, each place by itself, and the others scaled."""

from typing import Any

import pytest
import torch

from regard.models import ModelConfiguration, build_model
from regard.nn.embedding import Embedding, Lookup, drop_words, vectors
from regard.nn.randomness import drawing_from

SHARE = 0.25


@pytest.mark.parametrize("looked_up", [False, True])
def test_whole_tokens_are_dropped_each_place_by_itself(looked_up: bool) -> None:
    torch.manual_seed(3)
    table = torch.randn(7, 16, dtype=torch.float64)
    tokens = torch.randint(7, (40, 100))
    read: Any = Lookup(table, tokens) if looked_up else table[tokens]
    found = vectors(drop_words(read, SHARE, training=True))
    assert found.shape == (40, 100, 16)
    dropped = (found == 0).all(-1)
    assert torch.equal(dropped, (found == 0).any(-1))
    torch.testing.assert_close(found[~dropped], table[tokens][~dropped] / (1 - SHARE))
    assert dropped.double().mean().item() == pytest.approx(SHARE, abs=0.03)
    for symbol in range(7):  # neither all nor none of a symbol's occurrences
        assert 0 < dropped[tokens == symbol].double().mean() < 1


def test_the_gradient_is_that_of_the_kept_ones() -> None:
    tokens = torch.randint(7, (4, 9))
    gradients = []
    for looked_up in (False, True):
        table = torch.ones(7, 2, dtype=torch.float64, requires_grad=True)
        read: Any = Lookup(table, tokens) if looked_up else table[tokens]
        torch.manual_seed(5)
        found = vectors(drop_words(read, SHARE, training=True))
        gradients.append(torch.autograd.grad(found.sum(), table)[0])
    torch.manual_seed(5)
    kept = drop_words(torch.ones(4, 9, 1, dtype=torch.float64), SHARE, training=True)[..., 0]
    counts = torch.zeros(7, dtype=torch.float64).index_add(0, tokens.flatten(), kept.flatten())
    for gradient in gradients:
        torch.testing.assert_close(gradient, counts[:, None].expand(7, 2))


def test_all_tokens_dropped() -> None:
    read = drop_words(Lookup(torch.ones(3, 2), torch.zeros(1, 1, dtype=torch.long)), 0.9999, True)
    assert not vectors(read).any()


@pytest.mark.parametrize(("probability", "training"), [(0.5, False), (0.0, True)])
def test_otherwise_it_is_left_alone(probability: float, training: bool) -> None:
    read = Embedding(5, 4).read(torch.randint(5, (2, 3)), 0.0, training)
    state = torch.get_rng_state()
    assert drop_words(read, probability, training) is read
    assert torch.equal(torch.get_rng_state(), state)


def test_it_draws_from_the_generator_of_its_thread() -> None:
    ones = torch.ones(20, 20, 1)
    found = []
    for seed in (1, 1, 2):
        with drawing_from(torch.Generator().manual_seed(seed)):
            found.append(drop_words(ones, 0.5, training=True))
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


@pytest.mark.parametrize("by", ["position", "symbol"])
@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("kind", ["recurrent", "hard_attention", "transformer"])
def test_every_model_drops_words_of_either_side(kind: str, side: str, by: str) -> None:
    """Of the source the encoder's memory differs from pass to pass, of the target the rest."""
    heads = {"heads": 2} if kind == "transformer" else {}
    encoder = "transformer" if kind == "transformer" else "recurrent"
    chosen = {"dropout": 0.0, "dropout_by": by, "word_dropout": {side: 0.5}}
    sections = {
        "embedding": {"size": 8, **chosen},
        "encoder": {"kind": encoder, "dropout": 0.0, **heads},
        "decoder": {"kind": kind, "dropout": 0.0, **heads},
    }
    model = build_model(ModelConfiguration.model_validate(sections), 9, 9).train()
    source, mask = torch.randint(4, 9, (3, 6)), torch.ones(3, 6, dtype=torch.bool)
    memories = [model.encode(source, mask) for _ in range(2)]
    assert torch.equal(memories[0].key, memories[1].key) == (side == "target")
    passes = [model(source, mask, source).log_probabilities for _ in range(2)]
    assert not torch.equal(*passes)
    (-passes[0]).sum().backward()
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding is not None and embedding.weight.grad is not None
    model.eval()
    assert torch.equal(*(model(source, mask, source).log_probabilities for _ in range(2)))


def test_a_step_of_training_drops_words_too() -> None:
    """Scheduled sampling goes step by step, with the dropout of training."""
    sections = {
        "embedding": {"size": 8, "dropout": 0.0, "word_dropout": {"target": 0.5}},
        "encoder": {"kind": "recurrent", "dropout": 0.0},
        "decoder": {"kind": "recurrent", "dropout": 0.0},
    }
    model = build_model(ModelConfiguration.model_validate(sections), 9, 9).train()
    source, mask = torch.randint(4, 9, (30, 3)), torch.ones(30, 3, dtype=torch.bool)
    state = model.start(model.encode(source, mask))
    steps = [model.step(source[:, 0], state).log_probabilities for _ in range(2)]
    assert not torch.equal(*steps)
