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
from regard.nn.kernels.gru import (
    gru_factors,
    gru_step,
    gru_step_backward,
    gru_weight_gradient,
)
from regard.nn.kernels.products import add_product, factor, gradient_product, multiply


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
        U_gates, U_candidate = gru_factors(U)
        W_a, C = factor(W_a), factor(C)
        to_hidden = W_a.t()
        source = Attending(key, value, hidden, exponential, v_a, torch.empty_like(key))
        gating = Gating(f, b, known.new_empty(steps, batch))
        before = state
        for i in range(steps):
            multiply(before[0], to_hidden, out=queries[i])
            source.attend(queries[i], weights[i], contexts[i])
            gating.dim(i, before[0], contexts[i])
            projected = add_product(known[i, 0], contexts[i], C)[None]
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
            U_gates,
            U_candidate,
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
            U_gates,
            U_candidate,
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
        backs = U_gates.transpose(1, 2), U_candidate.transpose(1, 2)
        for i in range(len(states) - 1, -1, -1):
            to_state += to_states[i]
            to_state = gru_step_backward(
                to_state, befores[i], *backs, gates[i], candidates[i], to_known[i]
            )
            add_product(to_contexts[i], to_known[i, 0], C.t(), out=to_context[i])
            gating.dim_backward(i, contexts[i], to_context[i], to_state[0])
            source.attend_backward(
                queries[i], weights[i], to_context[i], to_queries[i], to_key, to_vector
            )
            add_product(to_state, to_queries[i][None], W_a[None], out=to_state)
        to_value = torch.bmm(weights.permute(1, 2, 0), to_context.transpose(0, 1))
        flat = to_known[:, 0].flatten(0, 1)
        return (
            to_known,
            to_state,
            to_key.mul_(4.0 * v_a),
            to_value,
            None,
            None,
            gradient_product(to_queries.flatten(0, 1), befores[:, 0].flatten(0, 1), C.dtype),
            to_vector[None][0],
            gradient_product(contexts.flatten(0, 1), flat, C.dtype),
            gru_weight_gradient(befores, gates, to_known, C.dtype),
            *gating.gradients(befores[:, 0].flatten(0, 1)),
        )
