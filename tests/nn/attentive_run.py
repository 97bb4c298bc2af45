"""A kernel for a decoder that attends before each step: against its steps through autograd."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor

from regard.attention import Attention, Memory
from regard.attention.kernels.additive import LARGEST
from regard.nn.kernels.products import rounded_factors
from regard.nn.recurrent import RecurrentLayer

LIMITS = {torch.float32: 1e-5, torch.float64: 1e-11}
both_types = pytest.mark.parametrize("dtype", LIMITS, ids=["float32", "float64"])
with_a_gate = pytest.mark.parametrize("gate", [False, True], ids=["", "gate"])
every_form = pytest.mark.parametrize(
    "form", ["factored", "no exponentials", "big keys", "big queries"]
)
BATCH, STEPS, POSITIONS = 3, 4, 5
KEY_MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 1, 0, 0, 1]]).bool()

#: States and contexts of all steps.
Found = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Decoder:
    """A kernel, and the attention and cell that it should be one with."""

    kernel: Callable[..., Found]
    attention: Attention
    cell: RecurrentLayer

    def by_kernel(self, memory: Memory, embedded: Tensor, *first: Tensor) -> Found:
        return self.kernel(
            self.cell.project(embedded),
            *first,
            memory,
            self.attention.query_projection.weight,
            self.attention.score.v_a,
            self.cell.W[2:],
            self.cell.U,
            self.attention.gate,
        )

    def by_steps(self, memory: Memory, embedded: Tensor, *first: Tensor) -> Found:
        """c_i from s_{i-1}, then s_i from [E y_{i-1}; c_i]."""
        state, states, contexts = first, [], []
        for i in range(STEPS):
            context = self.attention(state[0].transpose(0, 1), memory).context
            joined = torch.cat([embedded[:, i : i + 1], context], dim=-1)
            state = self.cell.step(self.cell.project(joined)[0], state)
            states.append(state[0][0])
            contexts.append(context[:, 0])
        return torch.stack(states), torch.stack(contexts)

    def memory(self, states: Tensor, masked: bool) -> Memory:
        return self.attention.prepare(states, key_mask=KEY_MASK if masked else None)


def drawn(
    kernel: Callable[..., Found],
    kind: type[RecurrentLayer],
    dtype: torch.dtype,
    scale: float = 1.0,
    gate: bool = False,
) -> tuple[Decoder, list[Tensor]]:
    """A decoder; the tokens' vectors, the first state, the encoder's states. scale: of the keys."""
    attention = Attention(6, 8, score="additive", hidden_size=7, gate=gate).to(dtype)
    cell = kind(2 + 8, 6).to(dtype)
    for module in (attention, cell):
        for parameter in module.parameters():
            torch.nn.init.normal_(parameter, std=0.5)
    with torch.no_grad():
        attention.key_projection.weight.mul_(scale)
    shapes = [(BATCH, STEPS, 2), *[(1, BATCH, 6)] * kind.tensors, (BATCH, POSITIONS, 8)]
    tensors = [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]
    return Decoder(kernel, attention, cell), tensors


def check_steps(
    kernel: Callable[..., Found],
    kind: type[RecurrentLayer],
    form: str,
    masked: bool,
    dtype: torch.dtype,
    gate: bool,
) -> None:
    """The kernel gives what the steps give, forward and backward."""
    decoder, tensors = drawn(kernel, kind, dtype, 100.0 if form == "big keys" else 1.0, gate)
    attention, (*given, states) = decoder.attention, tensors
    if form == "big queries":
        with torch.no_grad():
            attention.query_projection.weight.mul_(100.0)
    outward = [torch.randn(STEPS, BATCH, size, dtype=dtype) for size in (6, 8)]
    results = []
    for run in (decoder.by_kernel, decoder.by_steps):
        memory = decoder.memory(states, masked)
        assert (float(memory.key.detach().abs().max()) > LARGEST) == (form == "big keys")
        assert len(memory.derived) == (form != "big keys")
        if form == "no exponentials":
            memory = replace(memory, derived=())
        found = run(memory, *given)
        wanted = [*tensors, *attention.parameters(), *decoder.cell.parameters()]
        total = sum((f * o).sum() for f, o in zip(found, outward, strict=True))
        results.append([*found, *torch.autograd.grad(total, wanted)])
    for one, other in zip(*results, strict=True):
        assert one.shape == other.shape
        limit = LIMITS[dtype] * (20 if form.startswith("big") else 1)
        assert (one - other).abs().max() < limit * (1 + other.abs().max())


def check_rounded(kernel: Callable[..., Found], kind: type[RecurrentLayer], gate: bool) -> None:
    """Products of bfloat16 are near the exact ones, forward and backward, and are not they."""
    decoder, (*given, states) = drawn(kernel, kind, torch.float32, gate=gate)
    outward = [torch.randn(STEPS, BATCH, size) for size in (6, 8)]
    wanted = [*given, states, *decoder.attention.parameters(), *decoder.cell.parameters()]
    results = []
    for rounded in (False, True):
        with rounded_factors(rounded):
            found = decoder.by_kernel(decoder.memory(states, masked=True), *given)
        total = sum((f * o).sum() for f, o in zip(found, outward, strict=True))
        results.append([*found, *torch.autograd.grad(total, wanted)])
    for exact, near in zip(*results, strict=True):
        assert near.dtype == torch.float32
        assert 1e-5 < (near - exact).norm() / exact.norm() < 5e-2


def check_gradients(
    kernel: Callable[..., Found], kind: type[RecurrentLayer], masked: bool, gate: bool
) -> None:
    """By finite differences."""
    decoder, tensors = drawn(kernel, kind, torch.float64, gate=gate)
    attention = decoder.attention
    weights = [attention.query_projection.weight, attention.score.v_a, decoder.cell.U]
    weights += attention.gate.parameters() if gate else []

    def run(*each: Tensor) -> Found:
        *given, states = each[: len(tensors)]  # the weights are where the decoder has them
        return decoder.by_kernel(decoder.memory(states, masked), *given)

    assert torch.autograd.gradcheck(run, (*tensors, *weights), fast_mode=True)


def check_hidden_positions(kernel: Callable[..., Found], kind: type[RecurrentLayer]) -> None:
    """What stands on them reaches nothing, and no gradient reaches them."""
    decoder, (*given, states) = drawn(kernel, kind, torch.float64)
    junk = states.detach().masked_fill(~KEY_MASK[..., None], torch.nan).requires_grad_()
    found, plain = (
        decoder.by_kernel(decoder.memory(each, masked=True), *given) for each in (junk, states)
    )
    for one, other in zip(found, plain, strict=True):
        assert torch.equal(one, other)
    sum(tensor.sum() for tensor in found).backward()
    assert junk.grad is not None
    assert (junk.grad[~KEY_MASK] == 0).all() and junk.grad.isfinite().all()
    assert (junk.grad[KEY_MASK].abs().amax(-1) > 0).all()
