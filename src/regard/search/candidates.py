"""The next tokens worth keeping: the best few of beam times vocabulary, for all sentences at once.

Only one pass reads the whole vocabulary, and it takes a maximum per block of it: the best `count`
candidates of a sentence lie in its best `count` blocks. (Let the wanted candidate e lie in block b,
not among them. Each of the `count` blocks before b holds a candidate before e: then e is not among
the best `count`.) Exact, ties included, at a fraction of the work of a `topk` over beam times
vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.errors import UserError

#: Ids per block: few enough to look through, many enough that there are few blocks.
BLOCK = 64


@dataclass(frozen=True)
class Candidates:
    """The best continuations of each sentence, best first.

    scores: float64 sums of log-probabilities; -inf fills up where there are too few.
    parents: which of the sentence's hypotheses is continued.
    tokens, log_probabilities: with what, and how probable that is.
    """

    scores: Float[Tensor, "sentences count"]
    parents: Int[Tensor, "sentences count"]
    tokens: Int[Tensor, "sentences count"]
    log_probabilities: Float[Tensor, "sentences count"]

    @property
    def viable(self) -> Bool[Tensor, "sentences count"]:
        return self.scores > -torch.inf


def best_candidates(
    log_probabilities: Float[Tensor, "rows vocabulary"],
    scores: Float[Tensor, "sentences width"],
    count: int,
    banned: Sequence[int],
) -> Candidates:
    """The `count` best of all allowed continuations of each sentence's `width` hypotheses.

    Row `s * width + w` of `log_probabilities` belongs to hypothesis w of sentence s, whose score
    so far is `scores[s, w]` (float64; -inf for a place that is empty). Equal sums go to the
    earlier hypothesis, then to the lower id. Raises UserError where the model gives no numbers.
    """
    sentences, width = scores.shape
    vocabulary = log_probabilities.shape[-1]
    block = min(BLOCK, vocabulary)
    maxima = _block_maxima(log_probabilities, block, banned).view(sentences, width, -1)
    blocks = maxima.shape[-1]
    _, chosen = stable_topk((maxima + scores.unsqueeze(-1)).flatten(1), count)
    chosen = chosen.sort(dim=-1).values  # so that places keep the order of (hypothesis, id)

    first = (chosen % blocks) * block  # [sentences, chosen blocks]: the block's first id
    parent = chosen // blocks
    tokens = first.unsqueeze(-1) + torch.arange(block, device=scores.device)
    absent = _absent(vocabulary, blocks * block, tuple(banned), scores.device)
    absent = absent.index_select(0, tokens.flatten()).view_as(tokens)
    tokens = tokens.clamp(max=vocabulary - 1)
    row = torch.arange(sentences, device=scores.device).unsqueeze(1) * width + parent
    flat = (row.unsqueeze(-1) * vocabulary + tokens).flatten()
    gains = log_probabilities.reshape(-1).index_select(0, flat).view_as(tokens)
    sums = (scores.gather(1, parent).unsqueeze(-1) + gains).masked_fill_(absent, -torch.inf)

    best, places = stable_topk(sums.flatten(1), count)
    require_numbers(best)
    found = Candidates(
        best,
        parent.gather(1, places // block),
        tokens.flatten(1).gather(1, places),
        gains.flatten(1).gather(1, places),
    )
    return found if best.shape[1] == count else _padded(found, count)


def stable_topk(
    values: Float[Tensor, "rows places"], count: int
) -> tuple[Float[Tensor, "rows count"], Int[Tensor, "rows count"]]:
    """`topk` (at most as many as there are) in which equal values go to the lower place.

    `torch.topk` leaves open which of several equal values it takes. Rows with such ties are rare,
    and are sorted.
    """
    count = min(count, values.shape[-1])
    best, places = values.topk(min(count + 1, values.shape[-1]), dim=-1)
    tied = best[:, 1:] == best[:, :-1]
    if tied.any():  # -inf apart: it is no candidate, and no order among such is needed
        tied = tied & (best[:, 1:] > -torch.inf)
    rows = tied.any(dim=1).nonzero().squeeze(1)
    best, places = best[:, :count], places[:, :count]
    if len(rows) > 0:
        order = values[rows].sort(dim=-1, descending=True, stable=True)
        best = best.index_copy(0, rows, order.values[:, :count])
        places = places.index_copy(0, rows, order.indices[:, :count])
    return best, places


def require_numbers(values: Float[Tensor, "*shape"]) -> None:
    """Raises UserError where a value is not a number: no search can rank such a model's output."""
    if torch.isnan(values).any():
        raise UserError(
            "the model gives log-probabilities that are not numbers (NaN): its weights are damaged "
            "or its training diverged; use another checkpoint or train with a lower learning rate"
        )


@lru_cache(maxsize=64)
def _absent(
    vocabulary: int, places: int, banned: tuple[int, ...], device: torch.device
) -> Bool[Tensor, "places"]:
    """Ids that may not be chosen: the banned, and those past the end of the last block."""
    absent = torch.arange(places, device=device) >= vocabulary
    absent[[token for token in banned if token < vocabulary]] = True
    return absent


def _block_maxima(
    log_probabilities: Float[Tensor, "rows vocabulary"], block: int, banned: Sequence[int]
) -> Float[Tensor, "rows blocks"]:
    """The best allowed log-probability in each run of `block` ids; the last run may be shorter."""
    rows, vocabulary = log_probabilities.shape
    whole = vocabulary // block
    maxima = log_probabilities[:, : whole * block].view(rows, whole, block).amax(-1)
    if whole * block < vocabulary:
        rest = log_probabilities[:, whole * block :].amax(-1, keepdim=True)
        maxima = torch.cat([maxima, rest], dim=1)
    for touched in sorted({token // block for token in banned if token < vocabulary}):
        ids = [token % block for token in banned if token // block == touched]
        part = log_probabilities[:, touched * block : (touched + 1) * block].clone()
        part[:, ids] = -torch.inf
        maxima[:, touched] = part.amax(-1)
    return maxima


def _padded(found: Candidates, count: int) -> Candidates:
    sentences, fewer = found.scores.shape
    empty = found.tokens.new_zeros(sentences, count - fewer)
    nothing = torch.full_like(empty, -torch.inf, dtype=found.scores.dtype)
    return Candidates(
        torch.cat([found.scores, nothing], dim=1),
        torch.cat([found.parents, empty], dim=1),
        torch.cat([found.tokens, empty], dim=1),
        torch.cat([found.log_probabilities, nothing.to(found.log_probabilities.dtype)], dim=1),
    )
