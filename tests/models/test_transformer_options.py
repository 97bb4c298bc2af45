"""What a Transformer can be made of beside the paper's parts."""

from typing import Any

import pytest
import torch
from torch import Tensor

from regard.errors import UserError
from regard.models import Model, ModelConfiguration, build_model
from regard.search import SearchConfiguration, beam_search, greedy_search, sample
from regard.training.recipes import load_recipe

from .matrix import VOCABULARY, batch

POSITIONS = ["sinusoidal", "learned", "rotary", "alibi", "relative", "none"]
every_position = pytest.mark.parametrize("positions", POSITIONS)


def make(**options: Any) -> Model:
    """A small one, both sides alike, every parameter random; in float64, in evaluation mode."""
    torch.manual_seed(3)
    both = {"kind": "transformer", "layers": 2, "heads": 2, "feed_forward_size": 9, **options}
    sections = {"embedding": {"size": 8}, "encoder": both, "decoder": both}
    model = build_model(ModelConfiguration.model_validate(sections), VOCABULARY, VOCABULARY)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.double().eval()


@every_position
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_no_gradient_comes_from_a_later_token(positions: str, norm: str) -> None:
    """Causality by autograd: what step i says has no gradient by the tokens read after it."""
    model = make(positions=positions, norm=norm)
    source, mask, _ = batch()
    inputs = torch.tensor([[2, 5, 7, 9]]).expand(3, 4)  # each token once, so that rows tell steps
    said = model(source, mask, inputs).log_probabilities
    for step in range(4):
        model.zero_grad()
        said[:, step].square().sum().backward(retain_graph=True)
        gradient = model.target_embedding.weight.grad
        assert gradient is not None
        found = [bool(gradient[token].any()) for token in inputs[0].tolist()]
        assert found == [i <= step for i in range(4)]


@every_position
@torch.no_grad()
def test_order_counts_unless_there_are_no_positions(positions: str) -> None:
    """An encoder without positions is equivariant (B6): states move with their words."""
    model = make(positions=positions)
    source = torch.tensor([[4, 9, 6, 11]])
    mask = torch.ones(1, 4, dtype=torch.bool)
    order = torch.tensor([2, 0, 1, 3])
    states = model.encode(source, mask).states
    moved = model.encode(source[:, order], mask).states
    assert ((states[:, order] - moved).abs().max() < 1e-12) == (positions == "none")


@torch.no_grad()
def test_alibi_cannot_tell_left_from_right_in_an_encoder() -> None:
    """Its bias is the distance both ways, as the page on positions warns."""
    model = make(positions="alibi")
    source, mask = torch.tensor([[4, 9, 6, 11]]), torch.ones(1, 4, dtype=torch.bool)
    states = model.encode(source, mask).states
    assert (states - model.encode(source.flip(1), mask).states.flip(1)).abs().max() < 1e-12


@pytest.mark.parametrize("positions", ["rotary", "alibi", "relative"])
@torch.no_grad()
def test_distance_alone_counts(positions: str) -> None:
    """With padding hidden before it, a sentence reads the same wherever it stands."""
    model = make(positions=positions)
    sentence = torch.tensor([[4, 9, 6, 11]])
    alone = model.encode(sentence, torch.ones(1, 4, dtype=torch.bool)).states
    moved = torch.cat([torch.zeros(1, 3, dtype=torch.long), sentence], dim=1)
    later = model.encode(moved, torch.arange(7)[None] >= 3).states[:, 3:]
    assert (alone - later).abs().max() < 1e-10


@torch.no_grad()
def test_learned_positions_end() -> None:
    model = make(positions="learned", maximum_positions=6)
    assert (model.longest_source, model.longest_target) == (6, 6)
    source, mask, _ = batch()
    with pytest.raises(ValueError, match="raise maximum_positions"):
        model(source, mask, torch.full((3, 7), 5))
    memory, lengths = model.encode(source, mask), mask.sum(1)
    never_ends = SearchConfiguration(beam=2, minimum_length=5)
    limits: dict[str, Any] = {"maximum_length": model.longest_target}
    for found in (
        [best for best, *_ in beam_search(model, memory, lengths, never_ends, **limits)],
        greedy_search(model, memory, lengths, never_ends, **limits),
        sample(model, memory, lengths, never_ends, seed=1, numbers=[0, 1, 2], **limits),
    ):
        assert all(5 <= len(each.tokens) <= 6 for each in found)


def test_others_have_no_end() -> None:
    assert make(positions="rotary").longest_source is None
    assert make().longest_target is None


def test_keys_are_shared_and_smaller() -> None:
    shared, full = make(heads=4, key_heads=1), make(heads=4)
    for model, size in ((shared, 2), (full, 8)):
        for attention in (
            model.encoder.layers[0].attention,
            model.decoder.layers[0].self_attention,
            model.decoder.layers[0].cross_attention,
        ):
            assert attention.key_projection.weight.shape == (size, 8)
            assert attention.value_projection.weight.shape == (size, 8)


def test_gated_halves_start_as_matrices_of_their_own() -> None:
    """Glorot's bound is that of each of the two, not of both together."""
    torch.manual_seed(1)
    options = {"kind": "transformer", "feed_forward_size": 300, "activation": "swiglu"}
    model = build_model(ModelConfiguration.model_validate({"encoder": options}), 30, 30)
    inner: Tensor = model.encoder.layers[0].feed_forward.inner.weight
    assert inner.shape == (600, 256)
    bound = (6 / (256 + 300)) ** 0.5
    assert 0.99 * bound < inner.abs().max() <= bound


@pytest.mark.parametrize("place", ["dropout", "attention_dropout", "feed_forward_dropout"])
@torch.no_grad()
def test_every_dropout_is_for_training_alone(place: str) -> None:
    off = {"dropout": 0.0, "attention_dropout": 0.0, "feed_forward_dropout": 0.0}
    given = batch()
    plain, model = make(**off), make(**{**off, place: 0.5})
    expected = plain(*given).log_probabilities
    assert torch.equal(model(*given).log_probabilities, expected)
    model.train()
    for part in (model.encoder, model.decoder):  # each of the two drops something
        (model.decoder if part is model.encoder else model.encoder).eval()
        assert not torch.equal(model(*given).log_probabilities, expected)
        model.train()
    assert torch.equal(plain.train()(*given).log_probabilities, expected)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["model.encoder.positions=learned"], "maximum_positions (256)"),
        (["model.decoder.positions=rotary", "model.decoder.heads=128"], "are not even"),
        (["model.encoder.key_heads=3"], "do not divide"),
    ],
)
def test_what_cannot_be_made_is_said(settings: list[str], said: str) -> None:
    with pytest.raises(UserError) as raised:
        longer = ["batching.maximum_length=300", *settings]
        build_model(load_recipe("transformer-tiny", longer).model, 50, 50)
    assert said in str(raised.value)
