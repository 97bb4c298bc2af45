"""Bahdanau's decoder over all teacher-forced steps, forward and backward (EQUATIONS A4, A5)."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention import Memory
from regard.attention.gate import Gate
from regard.nn.kernels.attending import Attending, Gating, gate_tensors, memory_tensors
from regard.nn.kernels.gru import gru_step, gru_step_backward, gru_weight_gradient


def run_attentive_gru(
    known: Float[Tensor, "steps 1 batch gates_size"],
    state: Float[Tensor, "1 batch size"],
    memory: Memory,
    W_a: Float[Tensor, "hidden size"],
    v_a: Float[Tensor, "1 hidden"],
    C: Float[Tensor, "context gates_size"],
    U: Float[Tensor, "1 size gates_size"],
    gate: Gate | None = None,
) -> tuple[Float[Tensor, "steps batch size"], Float[Tensor, "steps batch context"]]:
    """States after, and contexts of, every step: attend from ``s_{i-1}``, then the cell.

    ``known`` is the cell's projection of the tokens; ``memory`` is prepared by additive attention
    with one head and the value unprojected, and no row of it is all padding. ``gate``: of that
    attention, if it has one; contexts are then dimmed.
    """
    tensors = memory_tensors(memory, known)
    weights = (W_a, v_a[0], C, U, *gate_tensors(gate))
    states, contexts = _AttentiveGRU.apply(known, state, *tensors, *weights)
    return states, contexts


class _AttentiveGRU(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        known: Tensor,
        state: Tensor,
        key: Tensor,
        value: Tensor,
        hidden: Any,
        exponential: Any,
        W_a: Tensor,
        v_a: Tensor,
        C: Tensor,
        U: Tensor,
        f: Any,
        b: Any,
    ) -> tuple[Tensor, Tensor]:
        steps, _, batch, _ = known.shape
        size, positions = state.shape[-1], key.shape[1]
        gates = known.new_empty(steps, 1, batch, 2 * size)
        candidates = known.new_empty(steps, 1, batch, size)
        states = torch.empty_like(candidates)
        weights = known.new_empty(steps, batch, positions)
        contexts = known.new_empty(steps, batch, value.shape[-1])
        queries = known.new_empty(steps, batch, key.shape[-1])
        parts = U.split([2 * size, size], dim=-1)
        U_gates, U_candidate = parts[0].contiguous(), parts[1].contiguous()
        source = Attending(key, value, hidden, exponential, v_a, torch.empty_like(key))
        gating = Gating(f, b, known.new_empty(steps, batch))
        before = state
        for i in range(steps):
            torch.mm(before[0], W_a.t(), out=queries[i])
            source.attend(queries[i], weights[i], contexts[i])
            gating.dim(i, before[0], contexts[i])
            projected = torch.addmm(known[i, 0], contexts[i], C)[None]
            gru_step(projected, before, U_gates, U_candidate, gates[i], candidates[i], states[i])
            before = states[i]
        ctx.save_for_backward(
            state,
            key,
            value,
            exponential,
            W_a,
            v_a,
            C,
            U,
            f,
            b,
            gates,
            candidates,
            states,
            weights,
            contexts,
            queries,
            gating.betas,
        )
        return states[:, 0], contexts

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_states: Tensor, to_contexts: Tensor) -> tuple[Tensor | None, ...]:
        (
            state,
            key,
            value,
            exponential,
            W_a,
            v_a,
            C,
            U,
            f,
            b,
            gates,
            candidates,
            states,
            weights,
            contexts,
            queries,
            betas,
        ) = ctx.saved_tensors
        befores = torch.cat([state[None], states[:-1]])
        to_known = gates.new_empty(*gates.shape[:3], 3 * state.shape[-1])
        to_context = torch.empty_like(contexts)
        to_queries = torch.empty_like(queries)
        to_key = torch.zeros_like(key)
        to_vector = torch.zeros_like(v_a)
        to_state = torch.zeros_like(state)
        source = Attending(key, value, None, exponential, v_a, torch.empty_like(key))
        gating = Gating(f, b, betas)
        for i in range(len(states) - 1, -1, -1):
            to_state += to_states[i]
            to_state = gru_step_backward(
                to_state, befores[i], U, gates[i], candidates[i], to_known[i]
            )
            torch.addmm(to_contexts[i], to_known[i, 0], C.t(), out=to_context[i])
            gating.dim_backward(i, contexts[i], to_context[i], to_state[0])
            source.attend_backward(
                queries[i], weights[i], to_context[i], to_queries[i], to_key, to_vector
            )
            to_state.baddbmm_(to_queries[i][None], W_a[None])
        to_value = torch.bmm(weights.permute(1, 2, 0), to_context.transpose(0, 1))
        flat = to_known[:, 0].flatten(0, 1)
        return (
            to_known,
            to_state,
            to_key.mul_(4.0 * v_a),
            to_value,
            None,
            None,
            to_queries.flatten(0, 1).t() @ befores[:, 0].flatten(0, 1),
            to_vector[None][0],
            contexts.flatten(0, 1).t() @ flat,
            gru_weight_gradient(befores, gates, to_known),
            *gating.gradients(befores[:, 0].flatten(0, 1)),
        )
