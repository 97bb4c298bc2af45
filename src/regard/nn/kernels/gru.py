"""A whole GRU run, forward and backward (EQUATIONS A2)."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.nn.kernels.products import add_product, factor, gradient_product, product


def run_gru(
    projected: Float[Tensor, "steps directions batch gates_size"],
    state: Float[Tensor, "directions batch size"],
    U: Float[Tensor, "directions size gates_size"],
    keep: Bool[Tensor, "steps directions batch 1"] | None = None,
) -> Float[Tensor, "steps directions batch size"]:
    """States after each step of ``GRU.step``; where ``keep`` is False a state stays as it was."""
    states: Tensor = _GRURun.apply(projected, state, U, keep)
    return states


def gru_step(
    projected: Tensor,
    state: Tensor,
    U_gates: Tensor,
    U_candidate: Tensor,
    gates: Tensor,
    candidate: Tensor,
    after: Tensor,
) -> None:
    """One step, written into ``gates``, ``candidate`` and ``after``. ``U_...`` are factors."""
    size = state.shape[-1]
    add_product(projected[..., : 2 * size], state, U_gates, out=gates)
    reset, update = gates.sigmoid_().chunk(2, dim=-1)
    add_product(projected[..., 2 * size :], reset * state, U_candidate, out=candidate)
    torch.lerp(state, candidate.tanh_(), update, out=after)


def gru_step_backward(
    to_after: Tensor,
    before: Tensor,
    gates_back: Tensor,
    candidate_back: Tensor,
    gates: Tensor,
    candidate: Tensor,
    to_projected: Tensor,
) -> Tensor:
    """Gradient of one step: to its projection (written) and to the state before (returned).

    ``..._back`` are the transposed ``U_...`` of ``gru_step``.
    """
    size = before.shape[-1]
    reset, update = gates.chunk(2, dim=-1)
    to_gates, to_candidate = to_projected[..., : 2 * size], to_projected[..., 2 * size :]
    torch.mul(to_after * update, 1.0 - candidate * candidate, out=to_candidate)
    to_reset_state = product(to_candidate, candidate_back)
    torch.mul(to_reset_state, before, out=to_gates[..., :size])
    torch.mul(to_after, candidate - before, out=to_gates[..., size:])
    to_gates.mul_(gates).mul_(1.0 - gates)
    to_before = torch.addcmul(to_after, to_after, update, value=-1.0)
    to_before.addcmul_(to_reset_state, reset)
    return add_product(to_before, to_gates, gates_back, out=to_before)


def gru_factors(U: Tensor) -> tuple[Tensor, Tensor]:
    """``U_gates`` and ``U_candidate``, to multiply with."""
    size = U.shape[-2]
    gates, candidate = factor(U).split([2 * size, size], dim=-1)
    return gates.contiguous(), candidate.contiguous()


def gru_weight_gradient(
    before: Tensor, gates: Tensor, to_projected: Tensor, kind: torch.dtype
) -> Tensor:
    """Gradient of ``U`` over all steps: ``[directions, size, 3 size]``; kind: of the factors."""
    size = before.shape[-1]
    left, right = by_direction(before), by_direction(to_projected)
    reset_left = by_direction(before * gates[..., :size])
    return torch.cat(
        [
            gradient_product(left, right[..., : 2 * size], kind),
            gradient_product(reset_left, right[..., 2 * size :], kind),
        ],
        dim=-1,
    )


def by_direction(
    tensor: Float[Tensor, "steps directions batch size"],
) -> Float[Tensor, "directions rows size"]:
    """All steps of a direction as rows of one matrix."""
    return tensor.transpose(0, 1).flatten(1, 2)


def empty_by_direction(
    like: Float[Tensor, "steps directions batch size"],
) -> Float[Tensor, "steps directions batch size"]:
    """Empty, and laid out so that ``by_direction`` copies nothing."""
    steps, directions, batch, size = like.shape
    return like.new_empty(directions, steps, batch, size).transpose(0, 1)


class _GRURun(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, projected: Tensor, state: Tensor, U: Tensor, keep: Any) -> Tensor:
        steps, size = projected.shape[0], state.shape[-1]
        gates = projected.new_empty(*projected.shape[:3], 2 * size)
        candidates = projected.new_empty(*projected.shape[:3], size)
        states = torch.empty_like(candidates)
        U_gates, U_candidate = gru_factors(U)
        before = state
        for i in range(steps):
            gru_step(projected[i], before, U_gates, U_candidate, gates[i], candidates[i], states[i])
            if keep is not None:
                states[i].copy_(torch.where(keep[i], states[i], before))
            before = states[i]
        ctx.save_for_backward(state, U_gates, U_candidate, gates, candidates, states, keep)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_states: Tensor) -> tuple[Tensor | None, ...]:
        state, U_gates, U_candidate, gates, candidates, states, keep = ctx.saved_tensors
        backs = U_gates.transpose(1, 2), U_candidate.transpose(1, 2)
        befores = torch.cat([state[None], states[:-1]])
        to_projected = gates.new_empty(*gates.shape[:3], 3 * state.shape[-1])
        to_state = torch.zeros_like(state)
        for i in range(len(states) - 1, -1, -1):
            to_after = to_states[i] + to_state
            moved = to_after if keep is None else to_after * keep[i]
            to_state = gru_step_backward(
                moved, befores[i], *backs, gates[i], candidates[i], to_projected[i]
            )
            if keep is not None:
                to_state += torch.where(keep[i], 0.0, to_after)
        to_weight = gru_weight_gradient(befores, gates, to_projected, U_gates.dtype)
        return to_projected, to_state, to_weight, None
