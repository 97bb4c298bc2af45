"""Shards: the parts of a batch that are computed side by side, one by each thread.

Torch can share every single operation out among threads, but then they wait for each other after
each, and for what only one of them does: Python, autograd, random numbers, short operations. Here a
thread takes some rows of the batch through the whole model and back, alone; gradients are added at
the end. They are those of the whole batch, up to rounding, with less padding.

Each shard's dropout draws from a generator of its own, seeded from torch's global random state, so
that nothing depends on which thread is the faster one.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial

import torch
from torch import Tensor

from regard.attention import Attention
from regard.data.batches import Batch, split
from regard.models import Model
from regard.nn.kernels.products import rounded_factors
from regard.nn.randomness import drawing_from
from regard.training.attention_costs import NO_COSTS, AttentionCosts
from regard.training.loss import Loss
from regard.training.objective import batch_loss

#: Positions, of sources and targets together, below which a shard is not worth a thread's while.
POSITIONS = 1024

Gradients = tuple[Tensor | None, ...]
#: `batch_loss` with everything settled but the model, a batch and `source_share`.
Objective = Callable[..., Loss]


class Shards:
    """Computes a model's gradients with `threads`, of which the caller's is one."""

    def __init__(self, model: Model, threads: int, rounded: bool = False) -> None:
        """rounded: whether factors of products are (`regard.nn.kernels.products`)."""
        self.model = model
        self.rounded = rounded
        self.parameters = [p for p in model.parameters() if p.requires_grad]
        self.threads = threads
        self.most = 1 if _draws_globally(model) else threads
        self._others = ThreadPoolExecutor(max(1, threads - 1), thread_name_prefix="shard")

    def backward(
        self,
        batch: Batch,
        smoothing: float,
        ponder_cost: float = 0.0,
        r_drop: float = 0.0,
        attention: AttentionCosts = NO_COSTS,
    ) -> Loss:
        """Set the gradients of `batch_loss`, the mean over the batch's tokens, and give it."""
        objective = partial(
            batch_loss,
            smoothing=smoothing,
            ponder_cost=ponder_cost,
            r_drop=r_drop,
            attention=attention,
        )
        shards = split(batch, min(self.most, max(1, _positions(batch) // POSITIONS)))
        if len(shards) == 1:
            loss, gradients = self._compute(batch, objective, (1.0, 1.0), None)
        else:
            loss, gradients = self._side_by_side(shards, objective)
        for parameter, gradient in zip(self.parameters, gradients, strict=True):
            parameter.grad = gradient
        return loss

    def _side_by_side(self, shards: list[Batch], objective: Objective) -> tuple[Loss, Gradients]:
        each = self.threads // len(shards)
        tokens = [int(shard.mask.sum()) for shard in shards]
        sources = [int(shard.source_mask.sum()) for shard in shards]
        seeds = torch.randint(2**62, (len(shards),)).tolist()

        def compute(number: int) -> tuple[Loss, Gradients]:
            torch.set_num_threads(each)  # of whichever thread this runs in
            generator = torch.Generator().manual_seed(seeds[number])
            shares = tokens[number] / sum(tokens), sources[number] / sum(sources)
            return self._compute(shards[number], objective, shares, generator)

        futures = [self._others.submit(compute, number) for number in range(1, len(shards))]
        try:
            first = compute(0)
        finally:
            wait(futures)
            torch.set_num_threads(self.threads)
        computed = [first, *(future.result() for future in futures)]
        losses, gradients = zip(*computed, strict=True)
        loss = Loss(*(torch.stack(parts).sum() for parts in zip(*losses, strict=True)))
        return loss, tuple(_sum(parts) for parts in zip(*gradients, strict=True))

    def _compute(
        self,
        shard: Batch,
        objective: Objective,
        shares: tuple[float, float],
        generator: torch.Generator | None,
    ) -> tuple[Loss, Gradients]:
        """Loss and gradients of a shard with these shares of the batch's tokens, times the first.

        shares: of target and source tokens.
        """
        share = shares[0]
        with drawing_from(generator), rounded_factors(self.rounded):
            found = objective(self.model, shard, source_share=shares[1] / share)
        gradients = torch.autograd.grad(share * found.loss, self.parameters, allow_unused=True)
        kept = tuple(None if g is None else g.contiguous() for g in gradients)
        return Loss(share * found.loss.detach(), share * found.negative_log_likelihood), kept


def _positions(batch: Batch) -> int:
    return batch.source_mask.numel() + batch.mask.numel()


def _draws_globally(model: Model) -> bool:
    """Whether attention draws random numbers in training, which it does from the global state."""
    attentions = (module for module in model.modules() if isinstance(module, Attention))
    return any(one.dropout > 0 or one.selection == "hard" for one in attentions)


def _sum(gradients: Iterable[Tensor | None]) -> Tensor | None:
    """In their order; None where no shard has any."""
    total = None
    for gradient in gradients:
        if gradient is not None:
            total = gradient if total is None else total + gradient
    return total
