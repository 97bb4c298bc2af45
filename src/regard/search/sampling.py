"""Sampling: tokens drawn from the model's distribution, sharpened or cut as asked."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.errors import UserError
from regard.search.candidates import require_numbers, stable_topk
from regard.search.configuration import SearchConfiguration
from regard.search.decoder import Decoder
from regard.search.hypothesis import Hypothesis
from regard.search.length import length_limits
from regard.search.single import follow

#: The nucleus is looked for among so many tokens first: most are smaller, and a sort is slow.
FEW = 256


def sample(
    decoder: Decoder,
    memory: Any,
    lengths: Int[Tensor, "batch"],
    configuration: SearchConfiguration,
    *,
    seed: int,
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
    numbers: Sequence[int] | None = None,
    maximum_length: int | None = None,
    need_attention: bool = True,
) -> list[Hypothesis]:
    """One sampled hypothesis per sentence, with the model's own log-probability as its score.

    Each token is drawn from `softmax(log_probabilities / temperature)` over the tokens that may be
    emitted, then (top_k > 0) over its `top_k` most probable, then (top_p < 1) over the smallest
    set of most probable ones that holds at least `top_p` of what is left (nucleus sampling,
    Holtzman et al. 2020, section 3.1). Every sentence draws from a generator of its own, seeded by
    `seed` and its number, so what else is in the batch changes nothing. numbers: each sentence's
    number in the whole job, 0, 1, ... by default; where the same source is sampled several times,
    different numbers give different samples. Raises UserError for options out of range.
    """
    _check(temperature, top_k, top_p)
    numbers = range(len(lengths)) if numbers is None else numbers
    limits = length_limits(lengths, configuration, maximum_length).tolist()
    sampler = _Sampler(_uniforms(seed, numbers, limits, lengths.device), temperature, top_k, top_p)
    return follow(
        decoder,
        memory,
        lengths,
        configuration,
        sampler.choose,
        maximum_length=maximum_length,
        need_attention=need_attention,
    )


@dataclass(frozen=True)
class _Sampler:
    """uniforms: in [0, 1), one for every step that a sentence may take."""

    uniforms: Float[Tensor, "sentences steps"]
    temperature: float
    top_k: int
    top_p: float

    def choose(
        self,
        log_probabilities: Float[Tensor, "rows vocabulary"],
        scores: Float[Tensor, "rows"],
        sentences: Int[Tensor, "rows"],
        step: int,
        banned: Sequence[int],
    ) -> tuple[Int[Tensor, "rows"], Bool[Tensor, "rows"]]:
        kind = torch.promote_types(log_probabilities.dtype, torch.float32)
        allowed = log_probabilities.to(kind, copy=True)
        allowed[:, [token for token in banned if token < allowed.shape[1]]] = -torch.inf
        best = allowed.amax(dim=1, keepdim=True)
        require_numbers(best)
        possible = best.squeeze(1) > -torch.inf
        return self._draw(allowed - best, self.uniforms[sentences, step - 1]), possible

    def _draw(
        self, allowed: Float[Tensor, "rows vocabulary"], uniforms: Float[Tensor, "rows"]
    ) -> Int[Tensor, "rows"]:
        """Inverse transform: the first token at which the cumulative probability passes u."""
        ids = None
        if self.top_k > 0:
            allowed, ids = stable_topk(allowed, self.top_k)
        probabilities = torch.softmax(allowed / self.temperature, dim=1)
        if self.top_p < 1:
            probabilities, order = _nucleus(probabilities, self.top_p)
            ids = order if ids is None else ids.gather(1, order)
        cumulative = probabilities.cumsum(dim=1, dtype=torch.float64)
        passed = (uniforms * cumulative[:, -1]).unsqueeze(1)
        places = torch.searchsorted(cumulative, passed, right=True)
        places = places.clamp(max=cumulative.shape[1] - 1)
        return (places if ids is None else ids.gather(1, places)).squeeze(1)


def _nucleus(
    probabilities: Float[Tensor, "rows tokens"], top_p: float
) -> tuple[Float[Tensor, "rows kept"], Int[Tensor, "rows kept"]]:
    """Falling probabilities, 0 for tokens not needed to reach `top_p`, and whose they are."""
    best, order = stable_topk(probabilities, FEW)
    if (best.sum(dim=1, dtype=torch.float64) < top_p).any():  # the few do not reach it
        best, order = probabilities.sort(dim=1, descending=True, stable=True)
    before = best.cumsum(dim=1, dtype=torch.float64) - best
    return best.masked_fill(before >= top_p, 0.0), order


def _uniforms(
    seed: int, numbers: Sequence[int], limits: Sequence[int], device: torch.device
) -> Float[Tensor, "sentences steps"]:
    """A row per sentence, from a generator seeded by (seed, number)."""
    uniforms = torch.zeros(len(limits), max(limits, default=0), dtype=torch.float64)
    for row, (number, limit) in enumerate(zip(numbers, limits, strict=True)):
        digest = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest, "little"))
        uniforms[row, :limit] = torch.rand(limit, generator=generator, dtype=torch.float64)
    return uniforms.to(device)


def _check(temperature: float, top_k: int, top_p: float) -> None:
    if not 1e-6 <= temperature < float("inf"):
        raise UserError(
            f"temperature is {temperature}; it must be at least 0.000001 (for the most probable "
            "token at each step use greedy search)"
        )
    if top_k < 0:
        raise UserError(f"top_k is {top_k}; it must be 0 (off) or the number of tokens to keep")
    if not 0 < top_p <= 1:
        raise UserError(f"top_p is {top_p}; it must be more than 0 and at most 1 (off)")
