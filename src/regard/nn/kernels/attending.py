"""Additive attention of one step, forward and backward, inside a kernel (EQUATIONS A5)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import Memory
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
        to_weights = torch.bmm(self.value, to_context.unsqueeze(-1)).squeeze(-1)
        inner = weights * to_weights
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
