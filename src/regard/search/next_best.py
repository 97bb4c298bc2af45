"""What else could have been written: the most probable tokens at every step of a given target."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.search.decoder import Decoder
from regard.search.hypothesis import NEVER_EMITTED


@torch.no_grad()
def most_probable(
    decoder: Decoder, memory: Any, inputs: Int[Tensor, "batch steps"], count: int
) -> tuple[Float[Tensor, "batch steps count"], Int[Tensor, "batch steps count"]]:
    """Natural-log probabilities and ids of the likeliest tokens that can be written, best first.

    inputs: what each step reads: the start symbol, then the target without its last token. Fewer
    than ``count`` where the vocabulary is smaller.
    """
    state = decoder.start(memory)
    never = torch.tensor(NEVER_EMITTED, device=inputs.device)
    values, ids = [], []
    for tokens in inputs.unbind(1):
        step = decoder.step(tokens, state)
        state = step.state
        scores = step.log_probabilities.index_fill(1, never, -torch.inf)
        best = scores.topk(min(count, scores.shape[1] - len(never)))
        values.append(best.values)
        ids.append(best.indices)
    return torch.stack(values, 1), torch.stack(ids, 1)
