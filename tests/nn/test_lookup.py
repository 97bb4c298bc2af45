"""Embeddings as a table and places in it: the same numbers as vectors, with less to multiply."""

import pytest
import torch

from regard.models import ModelConfiguration, build_model
from regard.nn.embedding import Embedding, Lookup, vectors
from regard.nn.recurrent import CELLS


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("cell", CELLS)
def test_a_layer_runs_over_both_alike(cell: str, directions: int, masked: bool) -> None:
    layer = CELLS[cell](3, 4, directions).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    table = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    tokens = torch.randint(5, (2, 6))
    mask = torch.arange(6)[None] < torch.tensor([[6], [3]]) if masked else None
    results = []
    for inputs in (Lookup(table, tokens), table[tokens]):
        outputs, state = layer.run(inputs, mask=mask)
        total = (outputs * torch.arange(outputs.numel()).view_as(outputs)).sum()
        total = total + sum(part.sum() for part in state)
        gradients = torch.autograd.grad(total, [table, *layer.parameters()])
        results.append([outputs, *state, *gradients])
    for one, other in zip(*results, strict=True):
        assert one.shape == other.shape
        assert torch.allclose(one, other, atol=1e-9)


def test_part_of_the_input_is_projected_alike() -> None:
    layer = CELLS["gru"](7, 4).double()
    table, tokens = torch.randn(5, 3, dtype=torch.float64), torch.randint(5, (2, 6))
    known = layer.project(Lookup(table, tokens))
    assert known.shape == (6, 1, 2, 12)
    assert torch.allclose(known, layer.project(table[tokens]), atol=1e-12)


@pytest.mark.parametrize("vocabulary", [5, 500])
def test_one_mask_for_all_occurrences(vocabulary: int) -> None:
    """Of a small vocabulary, and of one larger than the batch."""
    torch.manual_seed(3)
    embedding = Embedding(vocabulary, 64, scale=2.0, by_symbol=True)
    tokens = torch.tensor([[1, 2, 1], [3, 1, 2]])
    read = embedding.read(tokens, 0.5, training=True)
    assert isinstance(read, Lookup) and len(read.table) <= max(5, tokens.numel())
    assert read.shape == (2, 3, 64)
    found = vectors(read)
    assert torch.equal(found[0, 0], found[0, 2]) and torch.equal(found[0, 0], found[1, 1])
    kept = found != 0
    assert not torch.equal(kept[0, 0], kept[0, 1])  # another symbol, another mask
    assert torch.allclose(found[kept], (2 * embedding(tokens))[kept])
    again = vectors(embedding.read(tokens, 0.5, training=True))
    assert not torch.equal(again != 0, kept)  # another batch, another mask


def test_by_position_each_occurrence_has_its_own() -> None:
    torch.manual_seed(3)
    embedding = Embedding(5, 64)
    read = embedding.read(torch.ones(1, 2, dtype=torch.long), 0.5, training=True)
    assert not isinstance(read, Lookup)
    assert not torch.equal(read[0, 0] != 0, read[0, 1] != 0)


@pytest.mark.parametrize("by_symbol", [False, True])
@pytest.mark.parametrize(("probability", "training"), [(0.5, False), (0.0, True)])
def test_without_dropout_nothing_is_lost(
    probability: float, training: bool, by_symbol: bool
) -> None:
    embedding = Embedding(9, 4, scale=3.0, by_symbol=by_symbol)
    tokens = torch.randint(9, (3, 5))
    found = vectors(embedding.read(tokens, probability, training))
    assert torch.equal(found, embedding(tokens))


@pytest.mark.parametrize("decoder", ["recurrent", "hard_attention", "transformer"])
@pytest.mark.parametrize("encoder", ["recurrent", "transformer"])
def test_every_model_can_drop_by_symbol(encoder: str, decoder: str) -> None:
    """It trains, and dropout reaches both sides."""
    if (encoder, decoder) == ("transformer", "hard_attention"):
        pytest.skip("hard attention reads a recurrent encoder")
    heads = {"heads": 2}
    sections = {
        "embedding": {"size": 8, "dropout": 0.9, "dropout_by": "symbol"},
        "encoder": {"kind": encoder, "dropout": 0.0, **(heads if encoder != "recurrent" else {})},
        "decoder": {"kind": decoder, "dropout": 0.0, **(heads if decoder == "transformer" else {})},
    }
    model = build_model(ModelConfiguration.model_validate(sections), 9, 9).train()
    source, mask = torch.full((2, 5), 6), torch.ones(2, 5, dtype=torch.bool)
    first, second = (model(source, mask, source).log_probabilities for _ in range(2))
    same = encoder == decoder == "transformer"  # whose dropout comes after positions
    assert torch.equal(first, second) == same
    if not same:
        (-first).sum().backward()
        assert model.source_embedding.weight.grad is not None
