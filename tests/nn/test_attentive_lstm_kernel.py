"""The kernel for an LSTM that attends before each step, against its steps through autograd."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from regard.attention import Attention, Memory
from regard.attention.kernels.additive import LARGEST
from regard.nn.kernels.attentive_lstm import run_attentive_lstm
from regard.nn.recurrent import LSTM

LIMITS = {torch.float32: 1e-5, torch.float64: 1e-11}
both_types = pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
BATCH, STEPS, POSITIONS = 3, 4, 5
KEY_MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 1, 0, 0, 1]]).bool()


def parts(dtype: torch.dtype, scale: float = 1.0) -> tuple[Attention, LSTM, list[Tensor]]:
    """Attention and cell; the tokens' vectors, first state and cell, the encoder's states."""
    attention = Attention(6, 8, score="additive", hidden_size=7).to(dtype)
    cell = LSTM(2 + 8, 6).to(dtype)
    for module in (attention, cell):
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
    with torch.no_grad():
        attention.key_projection.weight.mul_(scale)
    tensors = [
        torch.randn(BATCH, STEPS, 2, dtype=dtype),
        torch.randn(1, BATCH, 6, dtype=dtype),
        torch.randn(1, BATCH, 6, dtype=dtype),
        torch.randn(BATCH, POSITIONS, 8, dtype=dtype),
    ]
    return attention, cell, [tensor.requires_grad_() for tensor in tensors]


def by_kernel(
    attention: Attention,
    cell: LSTM,
    embedded: Tensor,
    first: Tensor,
    first_cell: Tensor,
    memory: Memory,
) -> tuple[Tensor, Tensor]:
    return run_attentive_lstm(
        cell.project(embedded),
        first,
        first_cell,
        memory,
        attention.query_projection.weight,
        attention.score.v_a,
        cell.W[2:],
        cell.U,
    )


def by_steps(
    attention: Attention,
    cell: LSTM,
    embedded: Tensor,
    first: Tensor,
    first_cell: Tensor,
    memory: Memory,
) -> tuple[Tensor, Tensor]:
    """c_i from s_{i-1}, then s_i from [E y_{i-1}; c_i]."""
    state, states, contexts = (first, first_cell), [], []
    for i in range(STEPS):
        context = attention(state[0].transpose(0, 1), memory).context
        joined = torch.cat([embedded[:, i : i + 1], context], dim=-1)
        state = cell.step(cell.project(joined)[0], state)
        states.append(state[0][0])
        contexts.append(context[:, 0])
    return torch.stack(states), torch.stack(contexts)


@both_types
@pytest.mark.parametrize("masked", [False, True], ids=["", "masked"])
@pytest.mark.parametrize("form", ["factored", "no exponentials", "big keys", "big queries"])
def test_is_its_steps(form: str, masked: bool, dtype: torch.dtype) -> None:
    attention, cell, tensors = parts(dtype, 100.0 if form == "big keys" else 1.0)
    if form == "big queries":
        with torch.no_grad():
            attention.query_projection.weight.mul_(200.0)
    embedded, first, first_cell, states = tensors
    outward = [torch.randn(STEPS, BATCH, size, dtype=dtype) for size in (6, 8)]
    results = []
    for run in (by_kernel, by_steps):
        memory = attention.prepare(states, key_mask=KEY_MASK if masked else None)
        assert (float(memory.key.detach().abs().max()) > LARGEST) == (form == "big keys")
        assert len(memory.derived) == (form != "big keys")
        if form == "no exponentials":
            memory = replace(memory, derived=())
        found = run(attention, cell, embedded, first, first_cell, memory)
        wanted = [*tensors, *attention.parameters(), *cell.parameters()]
        total = sum((f * o).sum() for f, o in zip(found, outward, strict=True))
        results.append([*found, *torch.autograd.grad(total, wanted)])
    for one, other in zip(*results, strict=True):
        assert one.shape == other.shape
        limit = LIMITS[dtype] * (20 if form.startswith("big") else 1)
        assert (one - other).abs().max() < limit * (1 + other.abs().max())


@pytest.mark.parametrize("masked", [False, True])
def test_gradients_by_numbers(masked: bool) -> None:
    attention, cell, tensors = parts(torch.float64)
    weights = [attention.query_projection.weight, attention.score.v_a, cell.U]

    def run(
        embedded: Tensor, first: Tensor, first_cell: Tensor, states: Tensor, *_: Tensor
    ) -> tuple[Tensor, Tensor]:
        memory = attention.prepare(states, key_mask=KEY_MASK if masked else None)
        return by_kernel(attention, cell, embedded, first, first_cell, memory)

    assert torch.autograd.gradcheck(run, (*tensors, *weights), fast_mode=True)


def test_hidden_positions_get_no_weight_and_no_gradient() -> None:
    attention, cell, (*given, states) = parts(torch.float64)
    junk = states.detach().masked_fill(~KEY_MASK[..., None], torch.nan).requires_grad_()
    found, plain = (
        by_kernel(attention, cell, *given, attention.prepare(each, key_mask=KEY_MASK))
        for each in (junk, states)
    )
    for one, other in zip(found, plain, strict=True):
        assert torch.equal(one, other)
    sum(tensor.sum() for tensor in found).backward()
    assert junk.grad is not None
    assert (junk.grad[~KEY_MASK] == 0).all() and junk.grad.isfinite().all()
    assert (junk.grad[KEY_MASK].abs().amax(-1) > 0).all()
