"""Additive attention of one step, forward and backward, inside a kernel (EQUATIONS A5)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import Memory
from regard.attention.gate import Gate
from regard.attention.kernels.additive import is_small, reciprocal


def memory_tensors(
    memory: Memory, like: Tensor
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Key, value, 0 or -inf by position where some are hidden, and exponentials where there are.

    Of a memory that additive attention with one head and the value unprojected has prepared.
    """
    hidden = None
    if memory.key_mask is not None and not bool(memory.key_mask.all()):
        hidden = torch.where(memory.key_mask, 0.0, float("-inf")).to(like.dtype)
    exponential = memory.derived[0][:, 0] if memory.derived else None
    return memory.key[:, 0], memory.value[:, 0], hidden, exponential


@dataclass(frozen=True)
class Attending:
    """What every step attends over, and room for one step's intermediate numbers."""

    key: Float[Tensor, "batch positions hidden"]
    value: Float[Tensor, "batch positions context"]
    hidden: Float[Tensor, "batch positions"] | None
    exponential: Float[Tensor, "batch positions hidden"] | None
    v_a: Float[Tensor, " hidden"]
    room: Float[Tensor, "batch positions hidden"]

    def attend(
        self,
        query: Float[Tensor, "batch hidden"],
        weights: Float[Tensor, "batch positions"],
        context: Float[Tensor, "batch context"],
    ) -> None:
        """Writes ``weights`` and ``context``."""
        r = self._reciprocals(query)
        scores = (r.flatten(0, 1) @ self.v_a).view_as(weights).mul_(-2.0)
        if self.hidden is not None:
            scores += self.hidden
        torch.softmax(scores, dim=-1, out=weights)
        torch.bmm(weights.unsqueeze(1), self.value, out=context.unsqueeze(1))

    def attend_backward(
        self,
        query: Float[Tensor, "batch hidden"],
        weights: Float[Tensor, "batch positions"],
        to_context: Float[Tensor, "batch context"],
        to_query: Float[Tensor, "batch hidden"],
        to_key: Float[Tensor, "batch positions hidden"],
        to_vector: Float[Tensor, " hidden"],
    ) -> None:
        """Writes ``to_query``, adds to ``to_key`` (still without ``4 v_a``) and ``to_vector``."""
        inner = weights * torch.bmm(self.value, to_context.unsqueeze(-1)).squeeze(-1)
        to_scores = inner.addcmul_(weights, inner.sum(-1, keepdim=True), value=-1.0)
        r = self._reciprocals(query)
        # Scores are softmax's: their gradients sum to 0, so the constant of tanh drops out.
        to_vector.addmv_(r.flatten(0, 1).t(), to_scores.flatten(), alpha=-2.0)
        slope = r.addcmul_(r, r, value=-1.0)
        torch.bmm(to_scores.unsqueeze(1), slope, out=to_query.unsqueeze(1))
        to_query.mul_(4.0 * self.v_a)
        to_key.addcmul_(slope, to_scores.unsqueeze(-1))

    def _reciprocals(self, query: Tensor) -> Tensor:
        """``1 / (1 + exp(2 (q + k_j)))``: ``[batch, positions, hidden]``, in ``room``."""
        if self.exponential is not None and is_small(query):
            left = torch.exp(2.0 * query).unsqueeze(1)
            return reciprocal(left, self.exponential, factored=True, out=self.room)
        return reciprocal(query.unsqueeze(1), self.key, factored=False, out=self.room)


class Gating:
    """The gate of every step, ``beta_i = sigmoid(f . s_{i-1} + b)``, forward and backward (A11).

    Args:
        f, b: of the gate; without f there is none, and contexts stay as they are.
        betas: of all steps; room for them, or what the forward pass found.
    """

    def __init__(
        self,
        f: Float[Tensor, " size"] | None,
        b: Float[Tensor, 1] | None,
        betas: Float[Tensor, "steps batch"],
    ) -> None:
        self.f, self.b, self.betas = f, b, betas
        self.to_logits = torch.empty_like(betas)

    def dim(
        self, i: int, before: Float[Tensor, "batch size"], context: Float[Tensor, "batch context"]
    ) -> None:
        """Multiply the context of step ``i``, in its place."""
        if self.f is None or self.b is None:
            return
        beta = torch.addmv(self.b.expand(len(before)), before, self.f, out=self.betas[i]).sigmoid_()
        context.mul_(beta[:, None])

    def dim_backward(
        self,
        i: int,
        context: Float[Tensor, "batch context"],
        to_context: Float[Tensor, "batch context"],
        to_state: Float[Tensor, "batch size"],
    ) -> None:
        """Turn ``to_context``, of the dimmed context, into that of the context; add to the state's.

        The gradient of beta's logit is ``beta (1 - beta) c . to_c`` with c not dimmed yet.
        """
        if self.f is None:
            return
        beta = self.betas[i]
        torch.sum(context * to_context, dim=-1, out=self.to_logits[i]).mul_(1.0 - beta)
        to_context.mul_(beta[:, None])
        to_state.addr_(self.to_logits[i], self.f)

    def gradients(self, befores: Float[Tensor, "rows size"]) -> tuple[Tensor | None, Tensor | None]:
        """Of f and b, from the states before all steps."""
        if self.f is None:
            return None, None
        flat = self.to_logits.flatten()
        return befores.t() @ flat, flat.sum()[None]


def gate_tensors(gate: Gate | None) -> tuple[Tensor | None, Tensor | None]:
    """f and b of a gate that there is."""
    return (None, None) if gate is None else (gate.f_beta.weight[0], gate.f_beta.bias)
