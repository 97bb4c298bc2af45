"""Following one hypothesis per sentence, whoever chooses its next token."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.search.configuration import SearchConfiguration
from regard.search.decoder import Decoder
from regard.search.hypothesis import END, NEVER_EMITTED, START, Hypothesis
from regard.search.length import length_limits
from regard.search.trace import Ends, Shown, Trace

#: `choose(log_probabilities, scores, sentences, step, banned) -> (tokens, possible)`: the next
#: token of each row, whose score so far and number in the batch are given; `possible` is False
#: where every token that is not banned has probability 0.
Choose = Callable[
    [
        Float[Tensor, "rows vocabulary"],
        Float[Tensor, "rows"],
        Int[Tensor, "rows"],
        int,
        Sequence[int],
    ],
    tuple[Int[Tensor, "rows"], Bool[Tensor, "rows"]],
]

#: Finished sentences leave together, once they are this share of the rows: each time they do, the
#: memory of all others is copied.
LEAVING = 1 / 8


@torch.no_grad()
def follow(
    decoder: Decoder,
    memory: Any,
    lengths: Int[Tensor, "batch"],
    configuration: SearchConfiguration,
    choose: Choose,
    *,
    maximum_length: int | None,
    need_attention: bool,
) -> list[Hypothesis]:
    """Token by token until the end symbol or the length limit; finished sentences leave."""
    limits = length_limits(lengths, configuration, maximum_length)
    batch, device = len(lengths), lengths.device
    if batch == 0:
        return []
    trace = Trace(batch)
    ends: list[Ends] = []
    sentences = torch.arange(batch, device=device)
    tokens = torch.full((batch,), START, device=device)
    scores = torch.zeros(batch, dtype=torch.float64, device=device)
    going = torch.ones(batch, dtype=torch.bool, device=device)
    state = decoder.start(memory)
    step = 0
    while len(sentences) > 0:
        step += 1
        output = decoder.step(tokens, state)
        banned = NEVER_EMITTED if step > configuration.minimum_length else (*NEVER_EMITTED, END)
        tokens, possible = choose(output.log_probabilities, scores, sentences, step, banned)
        gains = output.log_probabilities.gather(1, tokens.unsqueeze(1))
        trace.append(
            sentences,
            tokens.unsqueeze(1),
            torch.zeros_like(tokens).unsqueeze(1),
            gains,
            Shown.by(output, need_attention),
        )
        scores = torch.where(possible, scores + gains.squeeze(1), scores)
        ended = possible & (tokens == END)
        done = going & (ended | ~possible | (limits <= step))
        state = output.state
        if done.any():
            steps = step - (~possible[done]).long()
            ends.append(
                Ends(sentences[done], steps, torch.zeros_like(steps), scores[done], ended[done])
            )
            going = going & ~done
            staying = going.nonzero().squeeze(1)
            if len(staying) > (1 - LEAVING) * len(sentences):
                continue
            sentences, limits = sentences[staying], limits[staying]
            tokens, scores, going = tokens[staying], scores[staying], going[staying]
            if len(staying) > 0:
                state = state.select(staying)
    joined = Ends.join(ends)
    hypotheses = trace.hypotheses(joined, lengths, configuration.length_penalty)
    order = joined.sentences.argsort().tolist()
    return [hypotheses[place] for place in order]
