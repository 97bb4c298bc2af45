"""What is known to go wrong in attention layers elsewhere, as checks: positions, caches, sizes,
state. ``test_known_faults.py`` says where the rest is.
"""

import copy
import itertools

import pytest
import torch

from regard.attention import (
    Attention,
    Memory,
)
from regard.attention.positions import ALiBi, alibi_slopes, rotate

from .cases import (
    BATCH,
    PLACED,
    SELF,
    Case,
    every_case,
    every_placed_self,
    make_self,
    name,
    only,
    random_mask,
)


@every_placed_self
def test_token_by_token_is_another_model(options: dict) -> None:
    """x-transformers#311: with a cache of any position scheme, as all at once, in float32."""
    attention = make_self(options)
    x = torch.randn(2, 6, 6)
    whole = attention(x, causal=True, need_weights=True)
    cache = attention.prepare(x[:, :2])
    for i in range(2, 6):
        cache = attention.extend(cache, x[:, i : i + 1])
        coverage = whole.weights[:, :, :i, : i + 1].sum(2) if attention.covers else None
        one = attention(x[:, i : i + 1], cache, causal=True, coverage=coverage).context
        assert torch.allclose(one[:, 0], whole.context[:, i], atol=1e-5)


@pytest.mark.parametrize("options", SELF + PLACED[1:], ids=name)
def test_padding_on_the_left_moves_positions(options: dict) -> None:
    """transformers#22161: two sentences padded on the left, as each alone, and on with a cache.

    (Not a location score: it weighs the places of the batch, padding included.)
    """
    attention = make_self(options).double()
    sentences = [torch.randn(1, n, 6, dtype=torch.float64) for n in (5, 3)]
    key_mask = torch.arange(5)[None] >= torch.tensor([[0], [2]])
    positions = (key_mask.long().cumsum(1) - 1).clamp(min=0)
    x = torch.full((2, 5, 6), 1e3, dtype=torch.float64)
    for row, sentence in enumerate(sentences):
        x[row, 5 - sentence.shape[1] :] = sentence[0]
    batch = attention(x, key_mask=key_mask, positions=positions, causal=True, need_weights=True)
    for row, sentence in enumerate(sentences):
        alone = attention(sentence, causal=True).context
        assert torch.allclose(batch.context[row, 5 - sentence.shape[1] :], alone[0], atol=1e-10)
    cache = attention.prepare(x[:, :4], None, key_mask[:, :4], positions=positions[:, :4])
    cache = attention.extend(cache, x[:, 4:])
    coverage = batch.weights[:, :, :4].sum(2) if attention.covers else None
    if coverage is not None:  # queries that are padding have looked nowhere
        real = torch.where(key_mask[:, None, :4, None], batch.weights[:, :, :4], 0.0)
        coverage = real.sum(2)
    step = attention(x[:, 4:], cache, causal=True, coverage=coverage).context
    assert torch.allclose(step[:, 0], batch.context[:, 4], atol=1e-10)


@pytest.mark.parametrize("scheme", ["rotary", "alibi", "relative"])
def test_caches_of_other_places_are_joined(scheme: str) -> None:
    """MemOS#2315: keys stand where they were prepared; what would stand elsewhere is refused."""
    attention = Attention(8, position_scheme=scheme)
    one, other = torch.randn(1, 3, 8), torch.randn(1, 2, 8)
    with pytest.raises(ValueError, match="prepared for position 0, but it would stand at 3"):
        attention.prepare(one).append(attention.prepare(other))
    attention.extend(attention.prepare(one), other)
    attention.prepare(one).append(attention.prepare(other, start=3))


@every_case
def test_reordered_rows_are_repeated_in_the_wrong_order(case: Case) -> None:
    """sockeye#731: [1, 0] swaps, [0, 0, 1, 1] repeats each beside itself, masks and all."""
    attention = case.make()
    q, k, v = case.inputs()
    memory = attention.prepare(k, v, random_mask(BATCH, k.shape[1]))
    expected = attention(q, memory).context
    swapped = attention(q.flip(0), memory.select(torch.tensor([1, 0]))).context
    assert torch.allclose(swapped, expected.flip(0), atol=1e-6)
    twice = memory.select(torch.arange(BATCH).repeat_interleave(2))
    found = attention(q.repeat_interleave(2, dim=0), twice).context
    assert torch.allclose(found, expected.repeat_interleave(2, dim=0), atol=1e-6)


def test_rotations_lose_their_places_in_halves() -> None:
    """gpt-neox#1003: bfloat16 has 769 numbers among the first 4,096; angles never see it."""
    attention = Attention(64, position_scheme="rotary").bfloat16()
    assert not list(attention.buffers())
    x = torch.randn(1, 2, 64)
    for place in (0, 4000):
        positions = torch.tensor([place, place + 3])
        exact = rotate(x[:, None].double(), positions[None])
        found = rotate(x[:, None].bfloat16(), positions[None])
        dots = (found[..., 0, :].double() * found[..., 1, :].double()).sum(-1)
        expected = (exact[..., 0, :] * exact[..., 1, :]).sum(-1)
        scale = exact[..., 0, :].norm() * exact[..., 1, :].norm()
        assert (dots - expected).abs().item() < 1e-2 * scale.item()
    weights = attention(
        x.bfloat16(), positions=torch.tensor([4000, 4003]), need_weights=True
    ).weights
    near = attention(x.bfloat16(), need_weights=True, positions=torch.tensor([0, 3])).weights
    assert torch.allclose(weights, near, atol=2e-2)


@pytest.mark.parametrize("theta", [10000.0, 100.0])
def test_rotations_pair_the_wrong_halves(theta: float) -> None:
    """nanochat#264: what is left of places is their difference, and every length is kept; two
    modules of different theta share nothing.
    """
    q, k = torch.randn(1, 1, 1, 8).double(), torch.randn(1, 1, 1, 8).double()

    def product(m: int, n: int) -> float:
        left = rotate(q, torch.tensor([[m]]), theta)
        assert left.norm().item() == pytest.approx(q.norm().item(), rel=1e-12)
        return (left * rotate(k, torch.tensor([[n]]), theta)).sum().item()

    for m, n in ((3, 1), (7, 2), (5, 5)):
        assert product(m, n) == pytest.approx(product(m + 100, n + 100), abs=1e-9)
    assert abs(product(3, 1) - product(1, 3)) > 1e-3
    turned = rotate(torch.tensor([[[[1.0, 0.0, 0.0, 1.0]]]]).double(), torch.tensor([[1]]), theta)
    slow = torch.tensor(theta**-0.5).double()
    expected = [torch.tensor(1.0).cos(), torch.tensor(1.0).sin(), -slow.sin(), slow.cos()]
    assert torch.allclose(turned.flatten(), torch.tensor(expected).double(), atol=1e-6)


def test_slopes_are_those_of_powers_of_two_only() -> None:
    """mlx#343: 8, 6 and 3 heads; and nothing is taken off at distance 0."""
    assert alibi_slopes(8) == [2.0**-i for i in range(1, 9)]
    assert alibi_slopes(6) == [2.0**-i for i in (2, 4, 6, 8, 1, 3)]
    assert alibi_slopes(3) == [2.0**-4, 2.0**-8, 2.0**-2]
    assert alibi_slopes(1) == [2.0**-8]
    bias = ALiBi(8).bias(torch.tensor([[2]]), torch.arange(4)[None])
    assert bias[0, 0, 0].tolist() == [-1.0, -0.5, 0.0, -0.5]


@every_case
def test_what_is_given_is_changed(case: Case) -> None:
    """OpenNMT-py#867: inputs, masks, memories and coverage are as before, after backward too."""
    attention = case.make().train()
    q, k, v = (tensor.requires_grad_() for tensor in case.inputs())
    key_mask, bias = random_mask(BATCH, k.shape[1]), torch.randn(k.shape[1])
    coverage = torch.rand(BATCH, attention.heads, k.shape[1]) if case.covers else None
    given = [t for t in (q, k, v, key_mask, bias, coverage) if t is not None]
    copies = [tensor.detach().clone() for tensor in given]
    for wanted in (False, True):
        found = attention(
            q, k, v, key_mask=key_mask, bias=bias, coverage=coverage, need_weights=wanted
        )
        found.context.sum().backward()
        attention.sample(q, k, v, key_mask=key_mask, bias=bias, coverage=coverage)
    for tensor, before in zip(given, copies, strict=True):
        assert torch.equal(tensor, before)


@pytest.mark.parametrize("sizes", list(itertools.permutations([2, 3, 5])))
@only(covers=False)
def test_other_sizes_are_spread_over_each_other(case: Case, sizes: tuple[int, int, int]) -> None:
    """sooftware/attentions#2: every row and query of a batch is what it is alone, whichever of
    batch, queries and positions is the largest. (Coverage joins queries: its equations say how.)
    """
    batch, queries, positions = sizes
    attention = case.make()
    q, k, v = (
        torch.randn(batch, n, size)
        for n, size in zip((queries, positions, positions), case.sizes, strict=True)
    )
    whole = attention(q, k, v, need_weights=True)
    fused = attention(q, k, v).context
    i = torch.tensor([queries - 1])
    for row in range(batch):
        alone = attention(q[row, i][None], k[row : row + 1], v[row : row + 1], positions=i)
        assert torch.allclose(whole.context[row, i], alone.context[0], atol=1e-5)
        assert torch.allclose(fused[row, i], alone.context[0], atol=1e-5)


@every_case
def test_more_padding_changes_the_answer(case: Case) -> None:
    """transformers#24257: one or four more padded positions, within 1e-6 in float32."""
    attention = case.make()
    q, k, v = case.inputs()
    for wanted in (False, True):
        expected = attention(q, k, v, need_weights=wanted).context
        for more in (1, 4):
            pads = [torch.randn(BATCH, more, tensor.shape[2]) for tensor in (k, v)]
            key_mask = torch.arange(k.shape[1] + more).expand(BATCH, -1) < k.shape[1]
            longer = [torch.cat(pair, dim=1) for pair in zip((k, v), pads, strict=True)]
            found = attention(q, *longer, key_mask=key_mask, need_weights=wanted).context
            assert torch.allclose(found, expected, atol=1e-6)


@every_case
def test_a_call_leaves_something_behind(case: Case) -> None:
    """tfa#670, IBM/pytorch-seq2seq: no memory to set up first, no mask that stays: whatever was
    called before, the answer is the same, and so is the module.
    """
    attention = case.make()
    q, k, v = case.inputs()
    fresh = copy.deepcopy(attention)
    kept = {key: value for key, value in vars(attention).items() if not key.startswith("_")}
    other = case.inputs(positions=4)
    memory = attention.prepare(k, v)
    attention(*other, key_mask=random_mask(BATCH, 4), causal=True, need_weights=True)
    attention.prepare(other[1], other[2])
    attention.sample(*other)
    attention(other[0], Memory(other[1], other[2], random_mask(BATCH, 4)))
    expected = fresh(q, k, v).context
    assert torch.equal(attention(q, k, v).context, expected)
    assert torch.equal(attention(q, memory).context, expected)
    now = {key: value for key, value in vars(attention).items() if not key.startswith("_")}
    assert now == kept
    for one, two in zip(attention.parameters(), fresh.parameters(), strict=True):
        assert torch.equal(one, two)
