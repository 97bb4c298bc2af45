"""A whole LSTM run, forward and backward (EQUATIONS A10)."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.nn.kernels.gru import by_direction, empty_by_direction
from regard.nn.kernels.products import add_product, factor, gradient_product


def run_lstm(
    projected: Float[Tensor, "steps directions batch gates_size"],
    hidden: Float[Tensor, "directions batch size"],
    cell: Float[Tensor, "directions batch size"],
    U: Float[Tensor, "directions size gates_size"],
    keep: Bool[Tensor, "steps directions batch 1"] | None = None,
) -> tuple[Float[Tensor, "steps directions batch size"], Float[Tensor, "directions batch size"]]:
    """Hidden states after each step of ``LSTM.step``, and the last cell.

    Where ``keep`` is False hidden state and cell stay as they were.
    """
    states, last = _LSTMRun.apply(projected, hidden, cell, U, keep)
    return states, last


class _LSTMRun(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, hidden: Tensor, first: Tensor, U: Tensor, keep: Any
    ) -> tuple[Tensor, Tensor]:
        size = hidden.shape[-1]
        blocks = torch.empty_like(projected, memory_format=torch.contiguous_format)
        states = blocks.new_empty(*blocks.shape[:3], size)
        cells, squashed = torch.empty_like(states), torch.empty_like(states)
        steps = zip(
            projected.unbind(),
            blocks.unbind(),
            blocks[..., : 3 * size].unbind(),
            *(block.unbind() for block in blocks.chunk(4, dim=-1)),
            states.unbind(),
            cells.unbind(),
            squashed.unbind(),
            [None] * len(projected) if keep is None else keep.unbind(),
            strict=True,
        )
        before, before_cell, matrix = hidden, first, factor(U)
        for part, block, gates, enter, forget, leave, new, state, cell, squash, kept in steps:
            add_product(part, before, matrix, out=block)
            gates.sigmoid_()
            new.tanh_()
            torch.mul(forget, before_cell, out=cell).addcmul_(enter, new)
            torch.tanh(cell, out=squash)
            torch.mul(leave, squash, out=state)
            if kept is not None:
                torch.where(kept, state, before, out=state)
                torch.where(kept, cell, before_cell, out=cell)
            before, before_cell = state, cell
        ctx.save_for_backward(hidden, first, matrix, blocks, states, cells, squashed, keep)
        return states, before_cell.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_states: Tensor, to_last: Tensor) -> tuple[Tensor | None, ...]:
        hidden, first, matrix, blocks, states, cells, squashed, keep = ctx.saved_tensors
        slopes = lstm_slopes(blocks, torch.cat([first[None], cells[:-1]]), squashed, keep)
        to_projected = empty_by_direction(blocks)
        steps = zip(
            slopes.blocks.unflatten(-1, (4, -1)).unbind(),
            slopes.leave.unbind(),
            slopes.cell.unbind(),
            slopes.forget.unbind(),
            to_projected.unbind(),
            to_projected.unflatten(-1, (4, -1)).unbind(),
            to_projected.chunk(4, dim=-1)[2].unbind(),
            [torch.zeros_like(hidden), *to_states[:-1].unbind()],
            [None] * len(states) if keep is None else (~keep).to(states.dtype).unbind(),
            strict=True,
        )
        back = matrix.transpose(1, 2).contiguous()
        to_hidden, to_cell = to_states[-1], to_last
        for step in reversed(list(steps)):
            slope, leave, through, forget, to_flat, to_block, to_leave, earlier, passed = step
            inner = torch.addcmul(to_cell, to_hidden, through)
            torch.mul(slope, inner.unsqueeze(2), out=to_block)
            torch.mul(leave, to_hidden, out=to_leave)
            to_before = add_product(earlier, to_flat, back)
            if passed is not None:
                to_before.addcmul_(to_hidden, passed)
            to_hidden, to_cell = to_before, inner.mul_(forget)
        befores = torch.cat([hidden[None], states[:-1]])
        to_weight = gradient_product(
            by_direction(befores), by_direction(to_projected), matrix.dtype
        )
        return to_projected, to_hidden, to_cell, to_weight, None


class Slopes(NamedTuple):
    """Derivatives within a step, of all steps at once: they wait for no other step.

    Attributes:
        blocks: of the cell by what gates i, f and g are made of; of the state by what o is.
        leave: the block o of these.
        cell: of the state by the cell.
        forget: of the cell by the cell before.
    """

    blocks: Tensor
    leave: Tensor
    cell: Tensor
    forget: Tensor


def lstm_slopes(
    blocks: Tensor, before_cells: Tensor, squashed: Tensor, keep: Tensor | None
) -> Slopes:
    size = squashed.shape[-1]
    gates, (enter, forget, leave, new) = blocks[..., : 3 * size], blocks.chunk(4, dim=-1)
    made = torch.empty_like(blocks)
    torch.addcmul(gates, gates, gates, value=-1.0, out=made[..., : 3 * size])
    to_enter, to_forget, to_leave, to_new = made.chunk(4, dim=-1)
    to_enter.mul_(new)
    to_forget.mul_(before_cells)
    to_leave.mul_(squashed)
    torch.mul(new, new, out=to_new)
    torch.addcmul(enter, enter, to_new, value=-1.0, out=to_new)
    cell = torch.addcmul(leave, leave, squashed * squashed, value=-1.0)
    if keep is not None:
        made.mul_(keep)
        cell.mul_(keep)
        forget = torch.where(keep, forget, 1.0)
    return Slopes(made, to_leave, cell, forget)
