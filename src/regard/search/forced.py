"""Forced decoding: the probability, and the attention, of targets that are given."""

from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.search.candidates import require_numbers
from regard.search.decoder import Decoder
from regard.search.hypothesis import END, Hypothesis
from regard.search.trace import Ends, Shown, Trace


@torch.no_grad()
def score_targets(
    decoder: Decoder,
    memory: Any,
    inputs: Int[Tensor, "batch steps"],
    outputs: Int[Tensor, "batch steps"],
    mask: Bool[Tensor, "batch steps"],
    *,
    lengths: Int[Tensor, "batch"] | None = None,
    length_penalty: float = 1.0,
    need_attention: bool = True,
) -> list[Hypothesis]:
    """Each target as a hypothesis, with the scores that search would have given it.

    inputs: the start symbol and the target without its last token; outputs: the target, all of
    which is scored (an unknown symbol like any other); mask: True for its tokens, which come
    before all padding. lengths: real source positions, to which the attention is cut (None: it
    is left as wide as the memory). `ended` says whether the end symbol is the last token. A target
    that is done leaves the batch. Raises UserError where the model gives NaN, ValueError for a
    mask with a gap.
    """
    batch = len(inputs)
    if batch == 0:
        return []
    steps = mask.sum(dim=1)
    if not torch.equal(mask, torch.arange(mask.shape[1], device=mask.device) < steps[:, None]):
        raise ValueError("mask must be True for a target's tokens and False after them")
    trace = Trace(batch)
    scores = torch.zeros(batch, dtype=torch.float64, device=inputs.device)
    sentences = torch.arange(batch, device=inputs.device)
    state = decoder.start(memory)
    for step in range(int(steps.max())):
        staying = (steps[sentences] > step).nonzero().squeeze(1)
        if len(staying) < len(sentences):
            sentences, state = sentences[staying], state.select(staying)
        output = decoder.step(inputs[sentences, step], state)
        state = output.state
        tokens = outputs[sentences, step].unsqueeze(1)
        gains = output.log_probabilities.gather(1, tokens)
        require_numbers(gains)
        shown = Shown.by(output, need_attention)
        trace.append(sentences, tokens, torch.zeros_like(tokens), gains, shown)
        scores[sentences] += gains.squeeze(1)
    last = outputs.gather(1, (steps - 1).clamp(min=0).unsqueeze(1)).squeeze(1)
    ends = Ends(
        sentences=torch.arange(batch, device=inputs.device),
        steps=steps,
        places=torch.zeros_like(steps),
        scores=scores,
        ended=(last == END) & (steps > 0),
    )
    if lengths is None:
        lengths = torch.full_like(steps, torch.iinfo(torch.long).max)
    return trace.hypotheses(ends, lengths, length_penalty)
