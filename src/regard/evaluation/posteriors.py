"""What each step read, where that is better known once the whole output is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Int
from torch import Tensor

from regard.data.batches import Example, collate
from regard.models.encoded import Encoded
from regard.models.hard_attention_model import HardAttentionModel
from regard.search import Hypothesis


def with_posteriors(
    model: HardAttentionModel,
    memory: Encoded,
    lengths: Int[Tensor, " batch"],
    hypotheses: Sequence[Hypothesis],
) -> list[Hypothesis]:
    """The same hypotheses, one for each row of the memory; attention is ``p(a_i | y, x)``.

    Search shows ``p(a_i | y_<i, x)``, all that is known while it goes on.
    """
    written = [i for i, hypothesis in enumerate(hypotheses) if hypothesis.tokens]
    found = list(hypotheses)
    if not written:
        return found
    rows = torch.tensor(written, device=lengths.device)
    batch = collate([Example((), hypotheses[i].tokens) for i in written], range(len(written)))
    attention = model.posteriors(
        memory.select(rows),
        batch.inputs.to(rows.device),
        batch.outputs.to(rows.device),
        batch.mask.to(rows.device),
    ).cpu()
    for i, of_steps in zip(written, attention, strict=True):
        known = of_steps[: len(hypotheses[i].tokens), : int(lengths[i])]
        found[i] = replace(hypotheses[i], attention=known.clone())
    return found
