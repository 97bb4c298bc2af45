"""A whole run of the GRU that libraries have, forward and backward."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.nn.kernels.gru import by_direction, empty_by_direction
from regard.nn.kernels.products import add_product, factor, gradient_product


def run_library_gru(
    projected: Float[Tensor, "steps directions batch gates_size"],
    state: Float[Tensor, "directions batch size"],
    U: Float[Tensor, "directions size gates_size"],
    b_U: Float[Tensor, "directions 1 size"],
    keep: Bool[Tensor, "steps directions batch 1"] | None = None,
) -> Float[Tensor, "steps directions batch size"]:
    """States after each step of ``LibraryGRU.step``; where ``keep`` is False a state stays."""
    states: Tensor = _LibraryGRURun.apply(projected, state, U, b_U, keep)
    return states


class _LibraryGRURun(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, projected: Tensor, state: Tensor, U: Tensor, b_U: Tensor, keep: Any
    ) -> Tensor:
        size = state.shape[-1]
        blocks = torch.empty_like(projected, memory_format=torch.contiguous_format)
        blocks[..., : 2 * size], blocks[..., 2 * size :] = projected[..., : 2 * size], b_U
        candidates = blocks.new_empty(*blocks.shape[:3], size)
        states = torch.empty_like(candidates)
        steps = zip(
            projected[..., 2 * size :].unbind(),
            blocks.unbind(),
            blocks[..., : 2 * size].unbind(),
            *(block.unbind() for block in blocks.chunk(3, dim=-1)),
            candidates.unbind(),
            states.unbind(),
            [None] * len(projected) if keep is None else keep.unbind(),
            strict=True,
        )
        before, matrix = state, factor(U)
        for part, block, gates, reset, update, inner, candidate, after, kept in steps:
            add_product(block, before, matrix, out=block)
            gates.sigmoid_()
            torch.addcmul(part, reset, inner, out=candidate).tanh_()
            torch.lerp(candidate, before, update, out=after)
            if kept is not None:
                torch.where(kept, after, before, out=after)
            before = after
        ctx.save_for_backward(state, matrix, blocks, candidates, states, keep)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_states: Tensor) -> tuple[Tensor | None, ...]:
        state, matrix, blocks, candidates, states, keep = ctx.saved_tensors
        size = state.shape[-1]
        befores = torch.cat([state[None], states[:-1]])
        slopes, stays = _slopes(blocks, candidates, befores, keep)
        gradients = empty_by_direction(slopes)  # by blocks r, z, U h + b_U, and h~ before tanh
        steps = zip(
            slopes.unflatten(-1, (4, size)).unbind(),
            stays.unbind(),
            gradients.unflatten(-1, (4, size)).unbind(),
            gradients[..., : 3 * size].unbind(),
            [torch.zeros_like(state), *to_states[:-1].unbind()],
            strict=True,
        )
        back = matrix.transpose(1, 2).contiguous()
        to_after = to_states[-1]
        for slope, stay, to_blocks, to_product, earlier in reversed(list(steps)):
            torch.mul(slope, to_after.unsqueeze(2), out=to_blocks)
            to_after = add_product(earlier, to_product, back).addcmul_(to_after, stay)
        products = by_direction(gradients[..., : 3 * size])
        return (
            torch.cat([gradients[..., : 2 * size], gradients[..., 3 * size :]], dim=-1),
            to_after,
            gradient_product(by_direction(befores), products, matrix.dtype),
            products[..., 2 * size :].sum(1, keepdim=True),
            None,
        )


def _slopes(
    blocks: Tensor, candidates: Tensor, befores: Tensor, keep: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Of each step, all at once: the state after by its blocks, and by the state before.

    Blocks are what r and z are made of, ``U h + b_U``, and what h~ is made of. The second is what
    reaches the state before without going through any of them.
    """
    reset, update, inner = blocks.chunk(3, dim=-1)
    made = blocks.new_empty(*blocks.shape[:3], 4 * candidates.shape[-1])
    to_reset, to_update, to_inner, to_new = made.chunk(4, dim=-1)
    torch.mul(1.0 - update, 1.0 - candidates * candidates, out=to_new)
    torch.mul(to_new, reset, out=to_inner)
    torch.mul(to_inner, inner, out=to_reset).mul_(1.0 - reset)
    torch.sub(befores, candidates, out=to_update).mul_(update).mul_(1.0 - update)
    if keep is None:
        return made, update
    return made.mul_(keep), torch.where(keep, update, 1.0)
