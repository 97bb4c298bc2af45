"""A model of exact hard attention: its output is a mixture over source positions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.models.decoders.hard_attention import HardAttentionDecoder
from regard.models.decoders.hard_attention_state import Emitted, HardAttentionState, HardSource
from regard.models.encoded import Encoded
from regard.models.model import Decoded, Features, Model, Step, TokenLosses
from regard.nn.kernels.alignments import posterior_of
from regard.nn.kernels.emission import chosen_emissions, emissions_of, mixed_emissions


class HardAttentionModel(Model):
    """``p(y_i | y_<i, x) = sum_j p(a_i = j | y_<i, x) p(y_i | a_i = j, y_<i, x)``, exactly.

    The attention of a step is the first factor: what it is expected to read before its token is
    known. What it read, once all of y is known, is told by ``posteriors``.
    """

    fused_output = False
    decoder: HardAttentionDecoder

    def step(self, tokens: Int[Tensor, " batch"], state: HardAttentionState) -> Step:
        """Read one token a row: the alignment learns from it where the last step read."""
        before = None
        if state.emitted is not None:
            prior, readout, normalizer = state.emitted
            weights = self.output_weights()
            came = emissions_of(tokens, readout, state.source.readout, *weights, normalizer)
            before = posterior_of(prior, came)
        embedded = self._embed(tokens[:, None])
        states, state = self.decoder.states(embedded, state)
        nothing = states.new_empty(len(tokens), 0, state.source.readout.part.shape[1])
        priors = self.decoder.priors(states, state.source, before, nothing)
        readouts = self.decoder.state_readout(states)
        mixed, normalizers = mixed_emissions(
            priors, readouts, state.source.readout, *self.output_weights()
        )
        emitted = Emitted(priors[:, 0], readouts[:, 0], normalizers[:, 0])
        return Step(mixed[:, 0], replace(state, emitted=emitted), priors[:, 0].exp())

    def forward(
        self,
        source: Int[Tensor, "batch positions"],
        source_mask: Bool[Tensor, "batch positions"],
        inputs: Int[Tensor, "batch steps"],
        need_weights: bool = True,
    ) -> Decoded:
        """Log-probabilities of every step, each having read ``inputs`` up to its own position."""
        states, known = self._read(source, source_mask, inputs)
        readouts = self.decoder.state_readout(states)
        came, _ = chosen_emissions(
            readouts[:, :-1], known.readout, *self.output_weights(), inputs[:, 1:]
        )
        priors = self.decoder.priors(states, known, None, came)
        mixed, _ = mixed_emissions(priors, readouts, known.readout, *self.output_weights())
        return Decoded(mixed, priors.exp() if need_weights else None)

    def shown_attention(
        self,
        memory: Encoded,
        inputs: Int[Tensor, "batch steps"],
        outputs: Int[Tensor, "batch steps"],
        mask: Bool[Tensor, "batch steps"],
    ) -> Float[Tensor, "batch steps source"]:
        """What each step read: the posterior."""
        return self.posteriors(memory, inputs, outputs, mask)

    def features(self, *_: Any, **__: Any) -> Features:
        """There are none: the output is no softmax of one vector a step."""
        raise TypeError("hard attention mixes outputs of all positions: use token_losses")

    def token_losses(
        self,
        source: Int[Tensor, "batch positions"],
        source_mask: Bool[Tensor, "batch positions"],
        inputs: Int[Tensor, "batch steps"],
        outputs: Int[Tensor, "batch steps"],
        mask: Bool[Tensor, "batch steps"],
        need_spread: bool = True,
    ) -> TokenLosses:
        """What the real target tokens cost; without spread no vocabulary is ever mixed."""
        states, known = self._read(source, source_mask, inputs)
        readouts, weights = self.decoder.state_readout(states), self.output_weights()
        came, _ = chosen_emissions(readouts, known.readout, *weights, outputs)
        priors = self.decoder.priors(states, known, None, came[:, :-1])
        plain = -(priors + came)[mask].logsumexp(-1)
        if not need_spread:
            return TokenLosses(plain, torch.zeros_like(plain))
        mixed, _ = mixed_emissions(priors, readouts, known.readout, *weights)
        return TokenLosses(plain, -mixed[mask].mean(-1))

    def posteriors(
        self,
        memory: Encoded,
        inputs: Int[Tensor, "batch steps"],
        outputs: Int[Tensor, "batch steps"],
        mask: Bool[Tensor, "batch steps"],
    ) -> Float[Tensor, "batch steps source"]:
        """``p(a_i = j | y, x)``: what each step read, now that the whole target is known.

        It is the derivative of ``log p(y | x)`` by the logarithm of ``p(y_i | a_i = j)``, which is
        how the sum over alignments is undone. Rows of padding are 0.
        """
        with torch.no_grad():
            states, known = self._follow(memory, inputs)
            readouts, weights = self.decoder.state_readout(states), self.output_weights()
            came, _ = chosen_emissions(readouts, known.readout, *weights, outputs)
        with torch.enable_grad():
            came.requires_grad_()
            priors = self.decoder.priors(states, known, None, came[:, :-1])
            likelihood = (priors + came)[mask].logsumexp(-1).sum()
            (found,) = torch.autograd.grad(likelihood, came)
        return found.clamp(min=0.0)  # rounding, where it is 0

    def _read(
        self, source: Tensor, source_mask: Tensor, inputs: Tensor
    ) -> tuple[Float[Tensor, "batch steps size"], HardSource]:
        """The states of all steps, and the source as it is compared with them."""
        return self._follow(self.encode(source, source_mask), inputs)

    def _follow(
        self, memory: Encoded, inputs: Tensor
    ) -> tuple[Float[Tensor, "batch steps size"], HardSource]:
        state = self.decoder.start(memory)
        states, _ = self.decoder.states(self._embed(inputs), state)
        return states, state.source
