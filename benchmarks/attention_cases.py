"""What the attention benchmark measures: regard beside what else computes the same."""

from dataclasses import dataclass
from types import ModuleType

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attention_timing import Case, Contestant
from regard.attention import Attention, masked_softmax, weighted_sum
from regard.attention.scores import AdditiveScore


@dataclass(frozen=True)
class Sizes:
    """batch, queries, positions, size: of every case but the step's and the one for memory.

    step: batch and positions of one decoding step. large: batch, queries and positions of what
    must fit into memory.
    """

    batch: int = 32
    queries: int = 64
    positions: int = 64
    size: int = 256
    heads: int = 8
    step: tuple[int, int] = (5, 1000)
    large: tuple[int, int, int] = (2, 1000, 1000)

    @property
    def shape(self) -> str:
        return f"{self.batch} x {self.queries} x {self.positions}, size {self.size}"


def cases(sizes: Sizes, keras: ModuleType | None) -> list[Case]:
    """All that are timed. ``keras`` is ``peers.keras_layers`` where it is installed."""
    return [
        additive_scores(sizes),
        additive_attention(sizes, keras),
        dot_product(sizes, keras),
        dot_product_with_weights(sizes, keras),
        step(sizes, "additive"),
        step(sizes, "scaled_dot"),
    ]


def naive_scores(query: Tensor, key: Tensor, v_a: Tensor) -> Tensor:
    """The plain expression: ``v . tanh(q + k)`` of ``[batch, n, size]``."""
    return torch.tanh(query[:, :, None] + key[:, None]) @ v_a


def additive_scores(sizes: Sizes) -> Case:
    """Projected queries and keys to scores, nothing else; the weights they make are compared."""
    (query, key, _), score = _projected(sizes), AdditiveScore(1, sizes.size)
    wanted = (query, key, score.v_a)
    return Case(
        f"additive scores, {sizes.shape}",
        (
            Contestant("regard", lambda: _scores(score, query, key)[:, 0], wanted),
            Contestant("plain PyTorch", lambda: naive_scores(query, key, score.v_a[0]), wanted),
        ),
        seen=lambda scores: scores.softmax(-1),
    )


def additive_attention(sizes: Sizes, keras: ModuleType | None) -> Case:
    """Scores, softmax and weighted sum of projected queries, keys and values."""
    (query, key, value), score = _projected(sizes), AdditiveScore(1, sizes.size)
    wanted = (query, key, value, score.v_a)

    def regard() -> Tensor:
        return weighted_sum(masked_softmax(_scores(score, query, key)), value[:, None])[:, 0]

    def plain() -> Tensor:
        return naive_scores(query, key, score.v_a[0]).softmax(-1) @ value

    contestants = [
        Contestant("regard", regard, wanted),
        Contestant("plain PyTorch", plain, wanted),
    ]
    if keras is not None:
        layer, vector = keras.additive(score.v_a)
        theirs = (query, key, value, vector)
        contestants.append(
            Contestant("Keras AdditiveAttention", lambda: layer([query, value, key]), theirs)
        )
    absent = ("Keras AdditiveAttention",) if keras is None else ()
    return Case(f"additive attention, {sizes.shape}", tuple(contestants), absent)


def dot_product(sizes: Sizes, keras: ModuleType | None) -> Case:
    """Self-attention with all projections; nobody makes the weights."""
    inputs = torch.randn(sizes.batch, sizes.positions, sizes.size, requires_grad=True)
    attention = _random(Attention(sizes.size, heads=sizes.heads))
    wanted = (inputs, *attention.parameters())
    contestants = [
        Contestant("regard", lambda: attention(inputs).context, wanted, (attention,)),
        Contestant(
            "scaled_dot_product_attention", lambda: _direct(attention, inputs), wanted, (attention,)
        ),
    ]
    if keras is not None:
        layer, weights = keras.multi_head(attention)
        theirs = (inputs, *weights)
        contestants.append(
            Contestant("Keras MultiHeadAttention", lambda: layer(inputs, inputs), theirs)
        )
    absent = ("Keras MultiHeadAttention",) if keras is None else ()
    title = f"multi-head self-attention, {_self_shape(sizes)}"
    return Case(title, tuple(contestants), absent)


def dot_product_with_weights(sizes: Sizes, keras: ModuleType | None) -> Case:
    """The same, and everybody returns the weights of each head."""
    inputs = torch.randn(sizes.batch, sizes.positions, sizes.size, requires_grad=True)
    attention = _random(Attention(sizes.size, heads=sizes.heads))
    peer = torch_multi_head(attention)

    def regard() -> Tensor:
        return attention(inputs, need_weights=True).context

    def torch_layer() -> Tensor:
        return peer(inputs, inputs, inputs, need_weights=True, average_attn_weights=False)[0]

    contestants = [
        Contestant("regard", regard, (inputs, *attention.parameters()), (attention,)),
        Contestant("torch MultiheadAttention", torch_layer, (inputs, *peer.parameters()), (peer,)),
    ]
    if keras is not None:
        layer, weights = keras.multi_head(attention)

        def keras_layer() -> Tensor:
            return layer(inputs, inputs, return_attention_scores=True)[0]

        contestants.append(Contestant("Keras MultiHeadAttention", keras_layer, (inputs, *weights)))
    absent = ("Keras MultiHeadAttention",) if keras is None else ()
    title = f"the same with weights, {_self_shape(sizes)}"
    return Case(title, tuple(contestants), absent)


def step(sizes: Sizes, score: str) -> Case:
    """One query a row over a long memory: prepared once before, or projected at every step."""
    batch, positions = sizes.step
    heads = 1 if score == "additive" else sizes.heads
    attention = _random(Attention(sizes.size, score=score, heads=heads)).eval()
    keys, query = torch.randn(batch, positions, sizes.size), torch.randn(batch, 1, sizes.size)
    with torch.no_grad():
        memory = attention.prepare(keys)
    return Case(
        f"a decoding step, {score}, {batch} x 1 x {positions:,}, size {sizes.size}",
        (
            Contestant("regard, prepared memory", lambda: attention(query, memory).context),
            Contestant("regard, projecting anew", lambda: attention(query, keys).context),
            Contestant(
                "the preparation alone", lambda: attention.prepare(keys).value, compared=False
            ),
        ),
    )


def torch_multi_head(attention: Attention) -> nn.MultiheadAttention:
    """PyTorch's layer with the parameters of ``attention``."""
    heads, size = attention.heads, attention.query_size
    layer = nn.MultiheadAttention(size, heads, batch_first=True)
    projections = [
        attention.query_projection,
        attention.key_projection,
        attention.value_projection,
    ]
    output = attention.output_projection
    assert output is not None and layer.in_proj_weight is not None
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([linear.weight for linear in projections]))
        layer.in_proj_bias.copy_(torch.cat([linear.bias for linear in projections]))
        layer.out_proj.weight.copy_(output.weight)
        layer.out_proj.bias.copy_(output.bias)
    return layer


def _direct(attention: Attention, inputs: Tensor) -> Tensor:
    """What one would write by hand with the same projections, nothing checked."""

    def project(linear: nn.Linear) -> Tensor:
        projected = F.linear(inputs, linear.weight, linear.bias)
        return projected.unflatten(-1, (attention.heads, -1)).transpose(1, 2)

    context = F.scaled_dot_product_attention(
        project(attention.query_projection),
        project(attention.key_projection),
        project(attention.value_projection),
    )
    output = attention.output_projection
    return F.linear(context.transpose(1, 2).flatten(2), output.weight, output.bias)


def _scores(score: AdditiveScore, query: Tensor, key: Tensor) -> Tensor:
    """As ``Attention`` computes them: exponentials of the keys, then the kernel."""
    keys = key[:, None]
    return score(query[:, None], keys, score.derive(keys))


def _projected(sizes: Sizes) -> tuple[Tensor, Tensor, Tensor]:
    return (
        torch.randn(sizes.batch, sizes.queries, sizes.size, requires_grad=True),
        torch.randn(sizes.batch, sizes.positions, sizes.size, requires_grad=True),
        torch.randn(sizes.batch, sizes.positions, sizes.size, requires_grad=True),
    )


def _random(attention: Attention) -> Attention:
    """Biases too, so that a wrong one would show."""
    for parameter in attention.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter)
    return attention


def _self_shape(sizes: Sizes) -> str:
    shape = f"{sizes.batch} x {sizes.positions} x {sizes.positions}"
    return f"{shape}, size {sizes.size}, {sizes.heads} heads"
