"""Memories: prepared once, attended over at every step, appended to, re-indexed, never changed."""

import dataclasses

import pytest
import torch

from regard.attention import Attention, Memory

from .cases import (
    BATCH,
    POSITIONS,
    QUERIES,
    Case,
    every_case,
    every_placed_self,
    make_self,
    need_weights,
    random_mask,
)

KEY_MASK = random_mask(BATCH, POSITIONS)
dtypes = pytest.mark.parametrize(
    ("dtype", "limit"), [(torch.float32, 1e-5), (torch.float64, 1e-10)], ids=["float32", "float64"]
)


@every_case
@need_weights
@dtypes
def test_one_query_at_a_time(
    case: Case, need_weights: bool, dtype: torch.dtype, limit: float
) -> None:
    """Prepare once, then query after query: all at once.

    Whatever knows positions is told where each query stands; coverage is passed on.
    """
    attention = case.make().to(dtype)
    q, k, v = case.inputs(dtype)
    whole = attention(q, k, v, key_mask=KEY_MASK, need_weights=True)
    memory = attention.prepare(k, v, KEY_MASK)
    coverage = None
    for i in range(QUERIES):
        more = {"positions": torch.tensor([i]), "coverage": coverage}
        one = attention(q[:, i : i + 1], memory, **more, need_weights=need_weights)
        if case.covers:
            coverage = whole.weights[:, :, : i + 1].sum(2)
        assert torch.allclose(one.context[:, 0], whole.context[:, i], atol=limit)
        if need_weights:
            assert torch.allclose(one.weights[:, :, 0], whole.weights[:, :, i], atol=limit)


@every_placed_self
@need_weights
@dtypes
def test_one_position_at_a_time(
    options: dict, need_weights: bool, dtype: torch.dtype, limit: float
) -> None:
    """A cache that grows, from nothing: masked self-attention of all positions at once.

    Not so local-p, by definition: where it looks is a share of all the positions there are.
    """
    attention = make_self(options).to(dtype)
    x = torch.randn(2, 5, 6, dtype=dtype)
    whole = attention(x, causal=True, need_weights=True)
    cache = attention.prepare(x[:, :0])
    for i in range(5):
        now = x[:, i : i + 1]
        cache = attention.extend(cache, now)
        assert cache.positions == i + 1
        coverage = whole.weights[..., :i, : i + 1].sum(2) if attention.covers else None
        one = attention(now, cache, causal=True, coverage=coverage, need_weights=need_weights)
        assert torch.allclose(one.context[:, 0], whole.context[:, i], atol=limit)
        if need_weights:
            expected = whole.weights[:, :, i, : i + 1]
            assert torch.allclose(one.weights[:, :, 0], expected, atol=limit)


@every_placed_self
@pytest.mark.parametrize("first", [0, 7])
def test_several_positions_at_a_time(options: dict, first: int) -> None:
    """Causal over a cache is bottom-right: 2 after 3, from any first place."""
    attention = make_self(options).double()
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    whole = attention(x, attention.prepare(x, start=first), causal=True, need_weights=True)
    cache = attention.extend(attention.prepare(x[:, :3], start=first), x[:, 3:])
    assert attention.placed == (cache.start == first)
    coverage = whole.weights[:, :, :3].sum(2) if attention.covers else None
    last = attention(x[:, 3:], cache, causal=True, coverage=coverage).context
    assert torch.allclose(last, whole.context[:, 3:], atol=1e-12)


@every_placed_self
@pytest.mark.parametrize("rows", [False, True], ids=["", "each row its own"])
def test_positions_of_a_memory_are_kept(options: dict, rows: bool) -> None:
    """Given places go with their keys through extend, append and select."""
    attention = make_self(options).double()
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    positions = torch.tensor([[3, 4, 6, 7, 8], [0, 1, 5, 6, 7]])
    positions = positions if rows else positions[0]
    whole = attention(x, positions=positions, causal=True, need_weights=True)
    cache = attention.prepare(x[:, :3], positions=positions[..., :3])
    coverage = whole.weights[:, :, :3].sum(2) if attention.covers else None
    flipped = torch.tensor([1, 0])
    for longer in (
        attention.extend(cache, x[:, 3:]),  # one by one after the last
        cache.append(attention.prepare(x[:, 3:], positions=positions[..., 3:])),
        attention.extend(attention.prepare(x[:, :0]), x, positions=positions),
        attention.prepare(Memory(x, x, key_positions=positions.expand(2, 5))),
    ):
        last = attention(x[:, 3:], longer, causal=True, coverage=coverage).context
        assert torch.allclose(last, whole.context[:, 3:], atol=1e-12)
        if coverage is None:
            turned = attention(x[flipped][:, 3:], longer.select(flipped), causal=True).context
            assert torch.allclose(turned, last[flipped], atol=1e-12)


@pytest.mark.parametrize("scheme", ["rotary", "alibi", "relative"])
def test_what_stands_elsewhere_is_not_appended(scheme: str) -> None:
    attention = Attention(8, position_scheme=scheme)
    x = torch.randn(2, 4, 8)
    first = attention.prepare(x)
    with pytest.raises(ValueError, match="prepared for position 0, but it would stand at 4"):
        first.append(attention.prepare(x))
    assert first.append(attention.prepare(x, start=4)).positions == 8
    given = attention.prepare(x, positions=torch.arange(4))
    with pytest.raises(ValueError, match="with positions, what is appended without"):
        given.append(attention.prepare(x, start=4))


@every_case
def test_append_joins_positions_and_masks(case: Case) -> None:
    attention = case.make()
    q, k, v = case.inputs()
    expected = attention(q, k, v, key_mask=KEY_MASK).context
    first = attention.prepare(k[:, :2], v[:, :2], KEY_MASK[:, :2])
    second = attention.prepare(k[:, 2:], v[:, 2:], KEY_MASK[:, 2:], start=2)
    assert torch.allclose(attention(q, first.append(second)).context, expected, atol=1e-5)
    # A part without a mask is all real.
    unmasked = attention.prepare(k[:, :2], v[:, :2])
    half = torch.cat([torch.ones(BATCH, 2, dtype=torch.bool), KEY_MASK[:, 2:]], dim=1)
    expected = attention(q, k, v, key_mask=half).context
    joined = unmasked.append(second)
    assert joined.key_mask is not None and torch.equal(joined.key_mask, half)
    assert torch.allclose(attention(q, joined).context, expected, atol=1e-5)
    assert attention.extend(unmasked, k[:, :2], v[:, :2]).key_mask is None


def test_append_of_additive_memories_of_any_size() -> None:
    """Exponentials are kept for small keys only; joining both sorts loses nothing."""
    attention = Attention(6, score="additive").double()
    q, k = torch.randn(2, 3, 6).double(), torch.randn(2, 4, 6).double()
    k[:, :2] *= 1000
    whole = attention(q, k).context
    small, big = attention.prepare(k[:, 2:]), attention.prepare(k[:, :2])
    assert len(small.derived) == 1 and len(big.derived) == 0
    assert torch.allclose(attention(q, big.append(small)).context, whole, atol=1e-12)
    back = torch.cat([k[:, 2:], k[:, :2]], dim=1)
    joined = small.append(big)
    assert torch.allclose(attention(q, joined).context, attention(q, back).context, atol=1e-12)
    assert len(attention.prepare(k[:, :0]).append(small).derived) == 1


@every_case
def test_select_takes_any_rows(case: Case) -> None:
    attention = case.make()
    q, k, v = case.inputs()
    memory = attention.prepare(k, v, KEY_MASK)
    rows = torch.tensor([1, 1, 0, 1])
    found = attention(q[rows], memory.select(rows), need_weights=True)
    expected = attention(q[rows], k[rows], v[rows], key_mask=KEY_MASK[rows], need_weights=True)
    assert torch.allclose(found.context, expected.context, atol=1e-6)
    assert torch.allclose(found.weights, expected.weights, atol=1e-6)
    plain = Memory(k, v, KEY_MASK).select(rows)
    assert torch.equal(attention(q[rows], plain, need_weights=True).context, expected.context)
    assert memory.select(rows[:0]).batch == 0


def test_select_of_a_memory_with_one_tensor() -> None:
    key = torch.randn(3, 4, 5)
    selected = Memory(key, key).select(torch.tensor([2, 0]))
    assert selected.key is selected.value
    assert torch.equal(selected.key, key[[2, 0]])


@every_case
def test_memories_do_not_change(case: Case) -> None:
    attention = case.make()
    q, k, v = case.inputs()
    memory = attention.prepare(k, v.requires_grad_(), KEY_MASK)
    kept = (memory.key, memory.value, memory.key_mask, *memory.derived)
    copies = [tensor.clone() for tensor in kept]
    attention.extend(memory, k, v)
    memory.select(torch.tensor([1, 0]))
    attention(q, memory, causal=True)
    attention(q.requires_grad_(), memory, need_weights=True).context.sum().backward()
    now = (memory.key, memory.value, memory.key_mask, *memory.derived)
    for tensor, before, copy in zip(now, kept, copies, strict=True):
        assert tensor is before and torch.equal(tensor, copy)
    with pytest.raises(dataclasses.FrozenInstanceError):
        memory.key = k  # type: ignore[misc]


def test_a_memory_belongs_to_no_call() -> None:
    """No state on the module: two memories in turn, in any order."""
    attention = Attention(6, score="additive")
    q, one, other = torch.randn(1, 2, 6), torch.randn(1, 3, 6), torch.randn(1, 4, 6)
    expected = attention(q, one).context, attention(q, other).context
    first, second = attention.prepare(one), attention.prepare(other)
    for _ in range(2):
        assert torch.equal(attention(q, first).context, expected[0])
        assert torch.equal(attention(q, second).context, expected[1])
    assert set(attention.state_dict()) == {
        "query_projection.weight",
        "key_projection.weight",
        "score.v_a",
    }


def test_gradients_flow_through_a_prepared_memory() -> None:
    for score in ("scaled_dot", "general", "additive"):
        attention = Attention(6, score=score, heads=2).double()
        q, k = torch.randn(2, 3, 6).double(), torch.randn(2, 4, 6).double()
        attention(q, k).context.square().sum().backward()
        expected = [parameter.grad.clone() for parameter in attention.parameters()]
        attention.zero_grad()
        memory = attention.prepare(k)
        steps = [attention(q[:, i : i + 1], memory).context for i in range(3)]
        torch.cat(steps, dim=1).square().sum().backward()
        for parameter, gradient in zip(attention.parameters(), expected, strict=True):
            assert torch.allclose(parameter.grad, gradient, atol=1e-12)


class TestWhatDoesNotFit:
    attention = Attention(6, score="scaled_dot")
    q, k = torch.randn(2, 3, 6), torch.randn(2, 4, 6)
    key_mask = torch.ones(2, 4, dtype=torch.bool)

    def test_a_memory_with_another_mask_or_value(self) -> None:
        for memory in (Memory(self.k, self.k), self.attention.prepare(self.k)):
            with pytest.raises(ValueError, match="carries its own value and key_mask"):
                self.attention(self.q, memory, key_mask=self.key_mask)
            with pytest.raises(ValueError, match="carries its own value and key_mask"):
                self.attention(self.q, memory, self.k)

    def test_a_key_mask_of_another_shape(self) -> None:
        for shape in ((2, 1), (1, 4), (2, 5), (2, 4, 1)):
            with pytest.raises(ValueError, match=r"key_mask of .* keys of \[2, 4\]"):
                self.attention(self.q, self.k, key_mask=torch.ones(shape, dtype=torch.bool))

    def test_values_of_another_number(self) -> None:
        for wanted in (False, True):
            with pytest.raises(ValueError, match=r"value of \[2, 5\] does not fit keys of \[2, 4"):
                self.attention(self.q, self.k, torch.randn(2, 5, 6), need_weights=wanted)

    def test_another_number_of_rows(self) -> None:
        for memory in (self.k[:1], self.attention.prepare(self.k[:1])):
            with pytest.raises(ValueError, match="2 rows of queries over 1 of memory"):
                self.attention(self.q, memory)

    def test_sizes(self) -> None:
        with pytest.raises(
            ValueError, match=r"query must be \[batch, positions, 6\], not \[2, 3, 5\]"
        ):
            self.attention(self.q[..., :5], self.k)
        with pytest.raises(ValueError, match=r"key must be \[batch, positions, 6\], not \[2, 6\]"):
            self.attention(self.q, self.k[:, 0])

    def test_joining_prepared_and_plain(self) -> None:
        with pytest.raises(ValueError, match="prepared by the same attention"):
            self.attention.prepare(self.k).append(Memory(self.k, self.k))
