"""A whole LSTM run, forward and backward (EQUATIONS A10)."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.nn.kernels.gru import by_direction


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
        ctx: Any, projected: Tensor, hidden: Tensor, cell: Tensor, U: Tensor, keep: Any
    ) -> tuple[Tensor, Tensor]:
        size = hidden.shape[-1]
        blocks = torch.empty_like(projected, memory_format=torch.contiguous_format)
        states = blocks.new_empty(*blocks.shape[:3], size)
        cells = torch.empty_like(states)
        before, before_cell = hidden, cell
        for i, part in enumerate(projected):
            torch.baddbmm(part, before, U, out=blocks[i])
            blocks[i, ..., : 3 * size].sigmoid_()
            blocks[i, ..., 3 * size :].tanh_()
            enter, forget, leave, new = blocks[i].chunk(4, dim=-1)
            torch.mul(forget, before_cell, out=cells[i]).addcmul_(enter, new)
            torch.mul(leave, cells[i].tanh(), out=states[i])
            if keep is not None:
                states[i].copy_(torch.where(keep[i], states[i], before))
                cells[i].copy_(torch.where(keep[i], cells[i], before_cell))
            before, before_cell = states[i], cells[i]
        ctx.save_for_backward(hidden, cell, U, blocks, states, cells, keep)
        return states, before_cell.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_states: Tensor, to_last: Tensor) -> tuple[Tensor | None, ...]:
        hidden, cell, U, blocks, states, cells, keep = ctx.saved_tensors
        befores = torch.cat([hidden[None], states[:-1]])
        before_cells = torch.cat([cell[None], cells[:-1]])
        to_projected = torch.empty_like(blocks)
        to_hidden, to_cell = torch.zeros_like(hidden), to_last
        for i in range(len(states) - 1, -1, -1):
            to_after = to_states[i] + to_hidden
            moved, moved_cell = to_after, to_cell
            if keep is not None:
                moved, moved_cell = to_after * keep[i], to_cell * keep[i]
            passed = _step_backward(
                moved, moved_cell, before_cells[i], cells[i], blocks[i], to_projected[i]
            )
            to_hidden = torch.bmm(to_projected[i], U.transpose(1, 2))
            if keep is not None:
                to_hidden += torch.where(keep[i], 0.0, to_after)
                passed += torch.where(keep[i], 0.0, to_cell)
            to_cell = passed
        to_weight = by_direction(befores).transpose(1, 2) @ by_direction(to_projected)
        return to_projected, to_hidden, to_cell, to_weight, None


def _step_backward(
    to_after: Tensor,
    to_cell: Tensor,
    before_cell: Tensor,
    cell: Tensor,
    block: Tensor,
    to_block: Tensor,
) -> Tensor:
    """Gradient of one step: to its blocks before the gates (written), to the cell before."""
    size = cell.shape[-1]
    enter, forget, leave, new = block.chunk(4, dim=-1)
    to_enter, to_forget, to_leave, to_new = to_block.chunk(4, dim=-1)
    squashed = cell.tanh()
    inner = torch.addcmul(to_cell, to_after * leave, 1.0 - squashed * squashed)
    torch.mul(inner, new, out=to_enter)
    torch.mul(inner, before_cell, out=to_forget)
    torch.mul(to_after, squashed, out=to_leave)
    gates = block[..., : 3 * size]
    to_block[..., : 3 * size].mul_(gates).mul_(1.0 - gates)
    torch.mul(inner * enter, 1.0 - new * new, out=to_new)
    return inner * forget
