"""An LSTM that attends before each step, over all teacher-forced steps (EQUATIONS A5, A10)."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention import Memory
from regard.attention.gate import Gate
from regard.nn.kernels.attending import Attending, Gating, gate_tensors, memory_tensors
from regard.nn.kernels.lstm import lstm_slopes
from regard.nn.kernels.products import add_product, factor, gradient_product, multiply, product


def run_attentive_lstm(
    known: Float[Tensor, "steps 1 batch gates_size"],
    state: Float[Tensor, "1 batch size"],
    cell: Float[Tensor, "1 batch size"],
    memory: Memory,
    W_a: Float[Tensor, "hidden size"],
    v_a: Float[Tensor, "1 hidden"],
    C: Float[Tensor, "context gates_size"],
    U: Float[Tensor, "1 size gates_size"],
    gate: Gate | None = None,
) -> tuple[Float[Tensor, "steps batch size"], Float[Tensor, "steps batch context"]]:
    """States after, and contexts of, every step: attend from ``s_{i-1}``, then the cell.

    Arguments as of ``attentive_gru.run_attentive_gru``, with the first cell.
    """
    tensors = memory_tensors(memory, known)
    states, contexts = _AttentiveLSTM.apply(
        known[:, 0], state[0], cell[0], *tensors, W_a, v_a[0], C, U[0], *gate_tensors(gate)
    )
    return states, contexts


class _AttentiveLSTM(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        known: Tensor,
        state: Tensor,
        first: Tensor,
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
        steps, batch, _ = known.shape
        size, positions = state.shape[-1], key.shape[1]
        blocks = torch.empty_like(known, memory_format=torch.contiguous_format)
        states = known.new_empty(steps, batch, size)
        cells, squashed = torch.empty_like(states), torch.empty_like(states)
        weights = known.new_empty(steps, batch, positions)
        contexts = known.new_empty(steps, batch, value.shape[-1])
        queries = known.new_empty(steps, batch, key.shape[-1])
        source = Attending(key, value, hidden, exponential, v_a, torch.empty_like(key))
        gating = Gating(f, b, known.new_empty(steps, batch))
        W_a, C, U = factor(W_a), factor(C), factor(U)
        before, before_cell, to_hidden = state, first, W_a.t()
        for i, block in enumerate(blocks):
            multiply(before, to_hidden, out=queries[i])
            source.attend(queries[i], weights[i], contexts[i])
            gating.dim(i, before, contexts[i])
            add_product(known[i], contexts[i], C, out=block)
            add_product(block, before, U, out=block)
            block[:, : 3 * size].sigmoid_()
            block[:, 3 * size :].tanh_()
            enter, forget, leave, new = block.chunk(4, dim=-1)
            torch.mul(forget, before_cell, out=cells[i]).addcmul_(enter, new)
            torch.tanh(cells[i], out=squashed[i])
            torch.mul(leave, squashed[i], out=states[i])
            before, before_cell = states[i], cells[i]
        recurrent = (blocks, states, cells, squashed)
        attended = (weights, contexts, queries, gating.betas)
        ctx.save_for_backward(
            state, first, key, value, exponential, W_a, v_a, C, U, f, b, *recurrent, *attended
        )
        return states, contexts

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, to_states: Tensor, to_contexts: Tensor) -> tuple[Tensor | None, ...]:
        state, first, key, value, exponential, W_a, v_a, C, U, f, b, *computed = ctx.saved_tensors
        blocks, states, cells, squashed, weights, contexts, queries, betas = computed
        slopes = lstm_slopes(blocks, torch.cat([first[None], cells[:-1]]), squashed, None)
        to_known = torch.empty_like(blocks)
        to_context, to_queries = torch.empty_like(contexts), torch.empty_like(queries)
        to_key, to_vector = torch.zeros_like(key), torch.zeros_like(v_a)
        source = Attending(key, value, None, exponential, v_a, torch.empty_like(key))
        gating = Gating(f, b, betas)
        back, context_back = U.t().contiguous(), C.t().contiguous()
        leaves = to_known.chunk(4, dim=-1)[2]
        to_state, to_cell = torch.zeros_like(state), torch.zeros_like(first)
        for i in range(len(states) - 1, -1, -1):
            to_state += to_states[i]
            inner = torch.addcmul(to_cell, to_state, slopes.cell[i])
            split = (len(inner), 4, -1)
            torch.mul(slopes.blocks[i].view(split), inner[:, None], out=to_known[i].view(split))
            torch.mul(slopes.leave[i], to_state, out=leaves[i])
            to_cell = inner.mul_(slopes.forget[i])
            to_state = product(to_known[i], back)
            add_product(to_contexts[i], to_known[i], context_back, out=to_context[i])
            gating.dim_backward(i, contexts[i], to_context[i], to_state)
            source.attend_backward(
                queries[i], weights[i], to_context[i], to_queries[i], to_key, to_vector
            )
            add_product(to_state, to_queries[i], W_a, out=to_state)
        befores = torch.cat([state[None], states[:-1]]).flatten(0, 1)
        flat = to_known.flatten(0, 1)
        return (
            to_known,
            to_state,
            to_cell,
            to_key.mul_(4.0 * v_a),
            torch.bmm(weights.permute(1, 2, 0), to_context.transpose(0, 1)),
            None,
            None,
            gradient_product(to_queries.flatten(0, 1), befores, C.dtype),
            to_vector.clone(),
            gradient_product(contexts.flatten(0, 1), flat, C.dtype),
            gradient_product(befores, flat, C.dtype),
            *gating.gradients(befores),
        )
