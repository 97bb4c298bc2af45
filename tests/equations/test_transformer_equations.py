"""B1-B5, B9, C1-C3: attention as a layer, positions, Transformer layers, the whole Transformer."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from regard.attention import Attention, sinusoidal_positions
from regard.nn.feed_forward import FeedForward
from regard.nn.transformer import DecoderLayer, EncoderLayer, LayerOptions

from . import transformer as reference
from .build import INPUTS, SOURCES, TARGET_VOCABULARY, assert_close, batch, build, randomize
from .recurrent import affine


def random(*shape: int, seed: int = 5) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def rows(tensor: torch.Tensor) -> list[np.ndarray]:
    return list(tensor.detach().numpy())


@pytest.mark.parametrize(("score", "scale"), [("dot", 1.0), ("scaled_dot", 1 / math.sqrt(6))])
@pytest.mark.parametrize("causal", [False, True])
def test_queries_keys_values(score: str, scale: float, causal: bool) -> None:
    """B1, B2: Q [i, d_k], K [j, d_k], V [j, d_v], nothing projected."""
    attention = Attention(6, 6, 7, score=score)
    assert not list(attention.parameters())
    q, k, v = random(2, 4, 6), random(2, 4, 6, seed=6), random(2, 4, 7, seed=7)
    context, weights = attention(q, k, v, causal=causal, need_weights=True)
    fused = attention(q, k, v, causal=causal).context
    for row in range(2):
        expected, shares = reference.attention(
            rows(q[row]), rows(k[row]), rows(v[row]), scale=scale, causal=causal
        )
        assert_close(context[row], expected)
        assert_close(fused[row], expected)
        assert_close(weights[row, 0], shares)


def test_separate_projections_of_one_sequence() -> None:
    """B4: keys X W_K and values X W_V of one X, many queries, scaled dot product."""
    attention = randomize(Attention(4, 5, hidden_size=4, project=["key", "value"])).double()
    q, x = random(2, 3, 4), random(2, 5, 5, seed=6)
    context = attention(q, x).context
    for row in range(2):
        keys = [affine(attention.key_projection, vector) for vector in rows(x[row])]
        values = [affine(attention.value_projection, vector) for vector in rows(x[row])]
        assert_close(context[row], reference.attention(rows(q[row]), keys, values)[0])


@pytest.mark.parametrize("causal", [False, True])
def test_multi_head(causal: bool) -> None:
    """B5 against the equation, cross-attention over vectors of another size."""
    attention = randomize(Attention(6, 9, heads=3)).double()
    x, memory = random(2, 4, 6), random(2, 4, 9, seed=6)
    context, weights = attention(x, memory, causal=causal, need_weights=True)
    for row in range(2):
        expected, shares = reference.multi_head(
            attention, rows(x[row]), rows(memory[row]), causal=causal
        )
        assert_close(context[row], expected)
        assert_close(weights[row], shares)


@pytest.mark.parametrize("need_weights", [True, False])
def test_multi_head_is_that_of_torch(need_weights: bool) -> None:
    """Copied weights, a random mask and padding; torch's masks mean the opposite."""
    ours = randomize(Attention(8, 5, 7, heads=4, hidden_size=8)).double()
    theirs = nn.MultiheadAttention(8, 4, kdim=5, vdim=7, batch_first=True).double()
    with torch.no_grad():
        theirs.q_proj_weight.copy_(ours.query_projection.weight)
        theirs.k_proj_weight.copy_(ours.key_projection.weight)
        theirs.v_proj_weight.copy_(ours.value_projection.weight)
        three = (ours.query_projection, ours.key_projection, ours.value_projection)
        theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in three]))
        theirs.out_proj.load_state_dict(ours.output_projection.state_dict())
    q, k, v = random(3, 4, 8), random(3, 6, 5, seed=6), random(3, 6, 7, seed=7)
    key_mask = torch.arange(6)[None] < torch.tensor([6, 4, 2])[:, None]
    mask = random(4, 6, seed=8) > -0.5
    mask[:, 0] = True
    found = ours(q, k, v, mask=mask, key_mask=key_mask, need_weights=need_weights)
    expected, weights = theirs(
        q, k, v, key_padding_mask=~key_mask, attn_mask=~mask, average_attn_weights=False
    )
    assert_close(found.context, expected.detach())
    if need_weights:
        assert_close(found.weights, weights.detach())


def test_a_grid_is_a_memory() -> None:
    """B8: H x W vectors attended over; the weights fold back to H x W."""
    attention = randomize(Attention(6, 4, score="additive", hidden_size=5)).double()
    grid, q = random(2, 3, 5, 4), random(2, 1, 6, seed=6)
    context, weights = attention(q, grid.flatten(1, 2), need_weights=True)
    folded = weights[:, 0, 0].unflatten(-1, (3, 5))
    assert_close(context[:, 0], torch.einsum("bhw,bhwd->bd", folded, grid).detach())


def test_positions() -> None:
    assert_close(
        sinusoidal_positions(9, 6, dtype=torch.float64),
        [reference.position(i, 6) for i in range(9)],
    )
    row = sinusoidal_positions(2, 4)[1].tolist()
    assert row == pytest.approx([0.8415, 0.5403, 0.0100, 0.99995], abs=5e-5)


@pytest.mark.parametrize("size", [1, 5, 7])
def test_positions_of_odd_size(size: int) -> None:
    expected = [reference.position(i, size) for i in range(8)]
    assert_close(sinusoidal_positions(8, size, dtype=torch.float64), expected)


def test_positions_counted_from_one() -> None:
    assert torch.equal(sinusoidal_positions(5, 6, start=1), sinusoidal_positions(6, 6)[1:])


class TestWishesForPositions:
    """B9: the four wishes of the note."""

    table = sinusoidal_positions(5000, 16, dtype=torch.float64)

    def test_unique(self) -> None:
        distances = torch.cdist(self.table[:600], self.table[:600])
        distances.fill_diagonal_(1.0)
        assert distances.min() > 0.05
        assert len(torch.unique(self.table, dim=0)) == 5000

    def test_distance_depends_on_the_offset_alone(self) -> None:
        for offset in (1, 2, 7, 100):
            distances = (self.table[offset:] - self.table[:-offset]).norm(dim=-1)
            assert distances.max() - distances.min() < 1e-9

    def test_bounded_and_defined_far_out(self) -> None:
        assert self.table.abs().max() <= 1.0
        far = sinusoidal_positions(3, 16, start=10**7, dtype=torch.float64)
        assert far.isfinite().all() and far.abs().max() <= 1.0
        # A position does not depend on how long the table is; halves keep their digits.
        assert torch.equal(far[:1], sinusoidal_positions(1, 16, start=10**7, dtype=torch.float64))
        low = sinusoidal_positions(5000, 16, dtype=torch.bfloat16)
        assert (low.double() - self.table).abs().max() < 2**-8

    def test_deterministic(self) -> None:
        again = sinusoidal_positions(5000, 16, dtype=torch.float64)
        assert torch.equal(again, self.table)


@pytest.mark.parametrize("activation", ["relu", "gelu", "swiglu"])
def test_feed_forward(activation: str) -> None:
    network = randomize(FeedForward(4, 7, activation)).double()
    x = random(2, 3, 4)
    for places in np.ndindex(2, 3):
        expected = reference.feed_forward(network, x[places].numpy(), activation)
        assert_close(network(x)[places], expected)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_encoder_layer(norm: str) -> None:
    """C1: LayerNorm(x + sublayer(x)), or x + sublayer(LayerNorm(x)); padding counts for nothing."""
    layer = randomize(EncoderLayer(LayerOptions(6, 2, 7, norm=norm))).double().eval()
    x = random(2, 5, 6)
    key_mask = torch.arange(5)[None] < torch.tensor([5, 3])[:, None]
    found = layer(x, key_mask)
    for row, length in enumerate([5, 3]):
        expected = reference.encoder_layer(layer, rows(x[row, :length]), norm, "relu")
        assert_close(found[row, :length], expected)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_decoder_layer(norm: str) -> None:
    layer = randomize(DecoderLayer(LayerOptions(6, 2, 7, norm=norm), 4)).double().eval()
    y, memory = random(2, 3, 6), random(2, 5, 4, seed=6)
    source = layer.cross_attention.prepare(memory)
    found, history, weights = layer(y, source, need_weights=True)
    assert history is None
    for row in range(2):
        expected, shares = reference.decoder_layer(
            layer, rows(y[row]), rows(memory[row]), norm, "relu"
        )
        assert_close(found[row], expected)
        assert_close(weights[row], shares)


def configuration(norm: str, activation: str, *, tied: bool) -> dict[str, Any]:
    both = {
        "kind": "transformer",
        "layers": 3,
        "heads": 2,
        "feed_forward_size": 7,
        "norm": norm,
        "activation": activation,
    }
    embedding = {"size": 6, "share": tied, "tie_output": tied, "scaled": tied}
    return {"embedding": embedding, "encoder": both, "decoder": both}


@pytest.mark.parametrize("tied", [False, True], ids=["", "tied"])
@pytest.mark.parametrize(
    ("norm", "activation"), [("pre", "relu"), ("post", "relu"), ("pre", "gelu"), ("pre", "swiglu")]
)
def test_whole_transformer(norm: str, activation: str, tied: bool) -> None:
    """C3, with embeddings tied and scaled by sqrt(d) or not; what is shown is the last layer but
    one's cross-attention, as the mean over its heads."""
    target = 11 if tied else TARGET_VOCABULARY
    model = build(configuration(norm, activation, tied=tied), target=target)
    source, mask, inputs = batch()
    inputs = inputs % target
    decoded = model(source, mask, inputs)
    unseen = model(source, mask, inputs, need_weights=False)
    for row, sentence in enumerate(SOURCES):
        tokens = inputs[row].tolist()
        log_p, shown = reference.transformer(model, sentence, tokens, norm, activation)
        assert_close(decoded.log_probabilities[row], log_p)
        assert_close(unseen.log_probabilities[row], log_p)
        assert_close(decoded.attention[row, :, : len(sentence)], shown[-2].mean(0))
        assert (decoded.attention[row, :, len(sentence) :] == 0).all()
    assert len(INPUTS) == len(decoded.attention)


@pytest.mark.parametrize("shown", [1, 2, 3])
def test_shown_layer(shown: int) -> None:
    chosen = configuration("pre", "relu", tied=False)
    chosen["decoder"] = {**chosen["decoder"], "shown_layer": shown}
    model = build(chosen)
    decoded = model(*batch())
    _, weights = reference.transformer(model, SOURCES[0], INPUTS[0], "pre", "relu")
    assert_close(decoded.attention[0], weights[shown - 1].mean(0))
