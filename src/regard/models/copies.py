"""What can be copied from the sources of a batch, and with which probability.

Ids of source and target differ: a table says which target id a source symbol is copied as. What a
vocabulary never saw has ids of its own: `s` in a source of V_s symbols is copied as `s - V_s`, an
id of the target, and one from V_t on is a symbol that the target never saw either, known within
its own sentence alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional as F

#: The table's entry for symbols that are never copied.
NEVER = -1
#: Stands for the logarithm of 0 where minus infinity would make gradients of 0 times infinity.
NOTHING = -1e30


@dataclass(frozen=True)
class Copies:
    """The different symbols that can be copied from each source, each in a slot of its own.

    Attributes:
        slots: which slot each position's symbol has; 0 = never copied.
        symbols: the target id in each slot; ``width`` in slot 0 and in slots that are not used.
        width: ids there are in the batch: the target's, and as many as a sentence has unseen ones.
    """

    slots: Int[Tensor, "batch positions"]
    symbols: Int[Tensor, "batch slots"]
    width: int

    def select(self, indices: Int[Tensor, " rows"]) -> Copies:
        """Any rows; the width stays."""
        slots = self.slots.index_select(0, indices)
        return replace(self, slots=slots, symbols=self.symbols.index_select(0, indices))


def copied_as(
    source: Int[Tensor, "batch positions"],
    mask: Bool[Tensor, "batch positions"],
    table: Int[Tensor, " source_vocabulary"],
) -> Int[Tensor, "batch positions"]:
    """The target id that each position is copied as, or NEVER."""
    size = len(table)
    known = table[source.clamp(max=size - 1)]
    return torch.where(source < size, known, source - size).masked_fill(~mask, NEVER)


def find_copies(targets: Int[Tensor, "batch positions"], vocabulary: int) -> Copies:
    """Put equal target ids of a row into one slot; `vocabulary` is how many the target knows."""
    never = targets.new_full((len(targets), 1), NEVER)
    ordered, places = torch.cat([never, targets], dim=1).sort(dim=1)
    numbers = torch.zeros_like(ordered)
    numbers[:, 1:] = (ordered[:, 1:] != ordered[:, :-1]).cumsum(1)
    slots = torch.empty_like(ordered).scatter_(1, places, numbers)[:, 1:]
    width = max(vocabulary, int(ordered.max()) + 1)
    symbols = targets.new_full((len(targets), int(numbers.max()) + 1), width)
    symbols.scatter_(1, numbers, ordered)
    symbols[:, 0] = width
    return Copies(slots, symbols, width)


def log_shares(
    log_weights: Float[Tensor, "batch steps positions"],
    gate: Float[Tensor, "batch steps"],
    copies: Copies,
) -> tuple[Float[Tensor, "batch steps"], Float[Tensor, "batch steps symbols"]]:
    """How each step divides its probability: log shares of the output layer, and of each symbol.

    ``p_gen + (1 - p_gen) a`` for the output layer, with ``a`` what is attended to at positions that
    are never copied, and ``(1 - p_gen) sum_{j: x_j = w} alpha_j`` for a symbol w, of slots 1 on.
    ``gate`` is the logit of ``p_gen``.
    """
    gate = gate.to(log_weights.dtype)
    copy = F.logsigmoid(-gate)
    sums = sum_in_slots(log_weights, copies.slots, copies.symbols.shape[1])
    generate = torch.logaddexp(F.logsigmoid(gate), copy + sums[..., 0])
    return generate, copy[..., None] + sums[..., 1:]


def sum_in_slots(
    logarithms: Float[Tensor, "batch steps positions"],
    slots: Int[Tensor, "batch positions"],
    count: int,
) -> Float[Tensor, "batch steps slots"]:
    """Add up in each slot, as logarithms; NOTHING where a slot has no position with any weight."""
    logarithms = logarithms.clamp(min=NOTHING)
    index = slots[:, None].expand_as(logarithms)
    highest = logarithms.new_full((*logarithms.shape[:2], count), NOTHING)
    highest.scatter_reduce_(2, index, logarithms.detach(), "amax")
    parts = (logarithms - highest.gather(2, index)).exp()
    sums = torch.zeros_like(highest).scatter_add(2, index, parts)
    return highest + sums.clamp(min=torch.finfo(sums.dtype).tiny).log()


def mixture(
    log_probabilities: Float[Tensor, "batch steps vocabulary"],
    generate: Float[Tensor, "batch steps"],
    copied: Float[Tensor, "batch steps symbols"],
    copies: Copies,
) -> Float[Tensor, "batch steps width"]:
    """``log p(w)`` of every id; minus infinity of an unseen symbol that a sentence has not."""
    generated = log_probabilities + generate[..., None]
    beyond = copies.width - generated.shape[-1]
    room = F.pad(generated, (0, beyond + 1), value=-torch.inf)  # the last is for unused slots
    index = copies.symbols[:, None, 1:].expand_as(copied)
    both = torch.logaddexp(room.gather(2, index), copied)
    return room.scatter(2, index, both)[..., :-1]
