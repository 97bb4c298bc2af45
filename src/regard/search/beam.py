"""Beam search over a batch of sentences, each leaving it when nothing better can come.

At each step the `beam` best continuations of a sentence's hypotheses are kept. Those with the end
symbol are finished and give up their place for that step only, so the next step fills the beam
again; finished hypotheses compete by normalized score. A sentence is done when

- the `nbest` best finished ones cannot be beaten by any hypothesis still going, whatever its
  future (`length.best_reachable`), or none is going, or
- its length limit is reached: those still going are cut there, and come after all that ended.

What is kept at a step never depends on what has finished. So the result is what would be found by
always going on to the limit, `nbest` only decides how much of it is returned, and with `beam` 1
the search is greedy search.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from regard.errors import UserError
from regard.search.candidates import Candidates, best_candidates
from regard.search.configuration import SearchConfiguration
from regard.search.decoder import Decoder
from regard.search.hypothesis import END, NEVER_EMITTED, START, Hypothesis
from regard.search.length import best_reachable, length_limits, normalize
from regard.search.pool import Pool
from regard.search.trace import Ends, Shown, Trace
from regard.search.tree import Observer, Seen


@dataclass(frozen=True)
class _Beams:
    """The sentences still searched: `width` rows each (1 at first, then the beam).

    scores: -inf for a row that is not a hypothesis (too few continuations, or it has ended).
    """

    sentences: Int[Tensor, "sentences"]
    limits: Int[Tensor, "sentences"]
    tokens: Int[Tensor, "sentences width"]
    scores: Float[Tensor, "sentences width"]
    state: Any
    pool: Pool


@torch.no_grad()
def beam_search(
    decoder: Decoder,
    memory: Any,
    lengths: Int[Tensor, "batch"],
    configuration: SearchConfiguration,
    *,
    nbest: int = 1,
    maximum_length: int | None = None,
    need_attention: bool = True,
    observer: Observer | None = None,
) -> list[list[Hypothesis]]:
    """The up to `nbest` best hypotheses of each sentence, best first, no two with the same tokens.

    Fewer come back where the search found fewer; never none. lengths: real source positions, on
    the decoder's device; they set the length limits and cut the attention, whose padding lies
    behind. maximum_length: the decoder's own limit. observer: is told of every step. Raises
    UserError where `nbest` is more than the beam, or the model gives NaN.
    """
    if nbest < 1:
        raise UserError(f"nbest is {nbest}; it must be at least 1")
    if nbest > configuration.beam:
        raise UserError(
            f"nbest is {nbest}, more than the beam of {configuration.beam}; "
            f"use a beam of at least {nbest}"
        )
    limits = length_limits(lengths, configuration, maximum_length)
    if len(lengths) == 0:
        return []
    trace = Trace(len(lengths))
    beams: _Beams | None = _begin(decoder, memory, limits, nbest)
    ends: list[Ends] = []
    step = 0
    while beams is not None:
        step += 1
        beams, done = _advance(decoder, beams, step, configuration, trace, need_attention, observer)
        ends.append(done)
    joined = Ends.join(ends)
    found: list[list[Hypothesis]] = [[] for _ in range(len(lengths))]
    hypotheses = trace.hypotheses(joined, lengths, configuration.length_penalty)
    for sentence, hypothesis in zip(joined.sentences.tolist(), hypotheses, strict=True):
        found[sentence].append(hypothesis)
    return found


def _begin(decoder: Decoder, memory: Any, limits: Int[Tensor, "batch"], nbest: int) -> _Beams:
    """One row per sentence, which has read nothing."""
    batch, device = len(limits), limits.device
    return _Beams(
        sentences=torch.arange(batch, device=device),
        limits=limits,
        tokens=torch.full((batch, 1), START, device=device),
        scores=torch.zeros(batch, 1, dtype=torch.float64, device=device),
        state=decoder.start(memory),
        pool=Pool.empty(batch, nbest, device),
    )


def _advance(
    decoder: Decoder,
    beams: _Beams,
    step: int,
    configuration: SearchConfiguration,
    trace: Trace,
    need_attention: bool,
    observer: Observer | None,
) -> tuple[_Beams | None, Ends]:
    """One step of all sentences: those that go on (None: none does), and what the others found."""
    output = decoder.step(beams.tokens.flatten(), beams.state)
    banned = NEVER_EMITTED if step > configuration.minimum_length else (*NEVER_EMITTED, END)
    found = best_candidates(output.log_probabilities, beams.scores, configuration.beam, banned)
    if observer is not None:
        scored = output.log_probabilities, beams.scores
        observer.see(Seen(step, beams.sentences, *scored, found, banned))
    shown = Shown.by(output, need_attention)
    trace.append(beams.sentences, found.tokens, found.parents, found.log_probabilities, shown)

    ended = found.viable & (found.tokens == END)
    scores = found.scores.masked_fill(ended, -torch.inf)
    pool = beams.pool
    if ended.any():
        ending = found.scores.masked_fill(~ended, -torch.inf)
        pool = pool.add(_pool(ending, step, configuration, ended=True))
    bound = best_reachable(scores.amax(dim=1), step, beams.limits, configuration)
    done = (beams.limits <= step) | (pool.worst() >= bound)
    if not done.any():
        return _go_on(beams, output.state, found, scores, pool, None), Ends.none(done.device)
    cut = pool.fill(_pool(scores, step, configuration, ended=False))
    cut = cut.fill(_stuck(beams, found, step, configuration))
    leaving, staying = done.nonzero().squeeze(1), (~done).nonzero().squeeze(1)
    ends = cut.select(leaving).ends(beams.sentences[leaving])
    if len(staying) == 0:
        return None, ends
    return _go_on(beams, output.state, found, scores, pool, staying), ends


def _go_on(
    beams: _Beams,
    state: Any,
    found: Candidates,
    scores: Float[Tensor, "sentences beam"],
    pool: Pool,
    staying: Int[Tensor, "staying"] | None,
) -> _Beams:
    """The sentences `staying` (None: all), their state following the hypotheses kept."""
    sentences, width = beams.scores.shape
    beam = scores.shape[1]
    first = torch.arange(sentences, device=scores.device).unsqueeze(1) * width
    rows = first + found.parents
    if staying is not None:
        state = state.select(rows[staying].flatten())
        return _Beams(
            beams.sentences[staying],
            beams.limits[staying],
            found.tokens[staying],
            scores[staying],
            state,
            pool.select(staying),
        )
    if beam > width:
        state = state.select(rows.flatten())
    elif beam > 1:
        state = state.reorder(rows.flatten())
    return _Beams(beams.sentences, beams.limits, found.tokens, scores, state, pool)


def _pool(
    scores: Float[Tensor, "sentences beam"],
    steps: int,
    configuration: SearchConfiguration,
    *,
    ended: bool,
) -> Pool:
    """A step's hypotheses, -inf for places without one, as a pool."""
    lengths = torch.full_like(scores, steps, dtype=torch.long)
    places = torch.arange(scores.shape[1], device=scores.device).expand_as(lengths)
    normalized = normalize(scores, lengths, configuration.length_penalty)
    return Pool(
        normalized, scores, lengths, places, torch.full_like(lengths, ended, dtype=torch.bool)
    )


def _stuck(beams: _Beams, found: Candidates, step: int, configuration: SearchConfiguration) -> Pool:
    """Hypotheses of the step before, of sentences whose decoder then allowed no token at all.

    They are cut there, as at a length limit, so that a sentence always has an answer.
    """
    stuck = ~found.viable.any(dim=1, keepdim=True)
    scores = beams.scores.masked_fill(~stuck, -torch.inf)
    scores = pad(scores, (0, found.scores.shape[1] - scores.shape[1]), value=-torch.inf)
    return _pool(scores, step - 1, configuration, ended=False)
