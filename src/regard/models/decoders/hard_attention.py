"""A decoder that reads one source position a step, summed exactly over all of them."""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention import Attention, masked_log_softmax
from regard.attention.linear import glorot_linear
from regard.models.configuration import HardAttentionDecoderConfiguration
from regard.models.decoders.attending import make_hard_attention
from regard.models.decoders.hard_attention_state import HardAttentionState, HardSource
from regard.models.decoders.start import Start
from regard.models.encoded import Encoded
from regard.nn.dropout import dropout
from regard.nn.embedding import Lookup, vectors
from regard.nn.kernels.alignments import (
    IMPOSSIBLE,
    Jumping,
    NeverBackward,
    Rule,
    forward_priors,
    known_position,
)
from regard.nn.kernels.emission import EmissionSource
from regard.nn.layers import Layers
from regard.nn.recurrent import CELLS, RecurrentLayer


class HardAttentionDecoder(nn.Module):
    """States of what was written alone, and where each step reads given where the last one did.

    Wu, Shapiro & Cotterell 2018 and Wu & Cotterell 2019. The cells read y alone, so all steps of
    ``s_i`` run at once. With a_i the position that step i reads,

        p(y | x) = sum_a prod_i p(a_i | a_{i-1}, y_<i, x) p(y_i | a_i, y_<i, x)
        p(y_i | a_i = j, y_<i, x) = softmax(W tanh(S [s_i; h_j]))

    * ``order`` 0: p(a_i = j) is a softmax of ``score(s_i, h_j)``. 0-HARD of the papers; with
      ``monotonic`` only over j >= a_{i-1}, 0-MONO.
    * ``order`` 1: p(a_i = k + d | a_{i-1} = k) is a softmax of ``U [s_i; h_k]`` over distances d:
      1-MONO with ``monotonic`` (d from 0 to ``jump``), else d from -``jump``.

    The position before the first step is the first one. Features that were read apart from the text
    are no positions: their mean is read by the cells at every step, as the papers' tags are.
    """

    longest: int | None = None  # any number of tokens can be written
    attention_layers = attention_heads = 0  # none to choose from: what was read has a posterior

    def __init__(
        self,
        configuration: HardAttentionDecoderConfiguration,
        embedding_size: int,
        memory_size: int,
        directions: int,
        *,
        features_apart: bool = False,
    ) -> None:
        super().__init__()
        self.dropout = configuration.dropout
        self.features_size = configuration.readout_size
        self.monotonic = configuration.monotonic
        self.backward = 0 if configuration.monotonic else configuration.jump
        size, cell = configuration.size, CELLS[configuration.cell]
        inputs = embedding_size + (memory_size if features_apart else 0)
        sizes = [inputs] + [size] * (configuration.layers - 1)
        self.cells: Layers[RecurrentLayer] = Layers(cell(each, size) for each in sizes)
        self.start_layers = Start(
            configuration.start,
            encoder_size=memory_size,
            directions=directions,
            size=size,
            layers=configuration.layers,
            tensors=cell.tensors,
        )
        self.state_readout = glorot_linear(size, self.features_size)
        self.source_readout = glorot_linear(memory_size, self.features_size, bias=False)
        self.attention: Attention | None = None
        self.state_jump: nn.Linear | None = None
        self.source_jump: nn.Linear | None = None
        if configuration.order == 0:
            self.attention = make_hard_attention(configuration, memory_size)
        else:
            jumps = self.backward + configuration.jump + 1
            self.state_jump = glorot_linear(size, jumps)
            self.source_jump = glorot_linear(memory_size, jumps, bias=False)

    def start(self, memory: Encoded) -> HardAttentionState:
        """The state before the first token; what is known of the source is projected here, once."""
        layers = self.start_layers(memory)
        features = memory.states.new_zeros(memory.batch, 1, 0)
        if memory.apart is not None:
            features = _mean(memory.states, memory.apart)
            text = ~memory.apart if memory.key_mask is None else memory.key_mask & ~memory.apart
            memory = replace(memory, key_mask=text)
        states, mask = memory.states, memory.key_mask
        if mask is not None:
            states = states.masked_fill(~mask[..., None], 0.0)
        source = HardSource(
            EmissionSource.of(self.source_readout(states)),
            features,
            mask,
            None if self.attention is None else self.attention.prepare(memory),
            None if self.source_jump is None else self.source_jump(states),
        )
        return HardAttentionState(layers, source)

    def states(
        self, embedded: Float[Tensor, "batch steps size"] | Lookup, state: HardAttentionState
    ) -> tuple[Float[Tensor, "batch steps size"], HardAttentionState]:
        """``s_i`` of all steps, and the state after them."""
        read, features = embedded, state.source.features
        if features.shape[-1]:
            known = features.expand(-1, embedded.shape[1], -1)
            read = torch.cat([vectors(embedded), known], dim=-1)
        hidden, last = self.cells.first().run(read, state.layers[0])
        layers = [last]
        for cell, layer in zip(self.cells.rest(), state.layers[1:], strict=True):
            hidden, last = cell.run(self._drop(hidden), layer)
            layers.append(last)
        moved = HardAttentionState(
            tuple(layers), state.source, state.emitted, state.position + embedded.shape[1]
        )
        return self._drop(hidden), moved

    def first(self, source: HardSource, dtype: torch.dtype) -> Float[Tensor, "batch positions"]:
        """Where the alignment starts: all on the first real position."""
        part = source.readout.part
        batch, positions, _ = part.shape
        if source.mask is None:
            first = torch.zeros(batch, dtype=torch.long, device=part.device)
        else:
            first = source.mask.long().argmax(1)
        return known_position(first, positions, dtype)

    def priors(
        self,
        states: Float[Tensor, "batch steps size"],
        source: HardSource,
        before: Float[Tensor, "batch positions"] | None,
        emissions: Float[Tensor, "batch earlier positions"],
    ) -> Float[Tensor, "batch steps positions"]:
        """``log p(a_i = j | y_<i, x)`` of each step.

        Args:
            before: the logarithm of the posterior before the first of them; None at the start.
            emissions: ``log p(y_i | a_i = j)`` of the tokens that came, all but the last.
        """
        rule: Rule
        if self.attention is None:
            rule = Jumping(self.backward)
            parts: tuple[Tensor, ...] = rule.parts(self._jumps(states, source))
        else:
            scores = self._scores(states, source)
            if not self.monotonic:
                return scores
            rule, parts = NeverBackward(), NeverBackward.parts(scores)
        if before is None:
            before = self.first(source, parts[0].dtype)
        return forward_priors(rule, before, emissions, parts)

    def _scores(self, states: Tensor, source: HardSource) -> Float[Tensor, "batch steps positions"]:
        """Logarithms of a softmax over the real positions."""
        assert self.attention is not None and source.memory is not None
        weights = self.attention(states, source.memory, need_weights="log").weights
        assert weights is not None
        return weights[:, 0].clamp(min=IMPOSSIBLE)

    def _jumps(
        self, states: Tensor, source: HardSource
    ) -> Float[Tensor, "batch steps positions jumps"]:
        """Logarithms of a softmax over the jumps that stay in the sentence, from each position."""
        assert self.state_jump is not None and source.jumps is not None
        logits = self.state_jump(states)[:, :, None] + source.jumps[:, None]
        real = source.mask
        if real is None:
            real = torch.ones(logits.shape[0], logits.shape[2], dtype=torch.bool)
            real = real.to(logits.device)
        inside = _landing(real, self.backward, logits.shape[-1])[:, None]
        return masked_log_softmax(logits, inside).clamp(min=IMPOSSIBLE)

    def _drop(self, hidden: Tensor) -> Tensor:
        return dropout(hidden, self.dropout, self.training)


def _landing(
    real: Bool[Tensor, "batch positions"], backward: int, jumps: int
) -> Bool[Tensor, "batch positions jumps"]:
    """Whether a jump from a real position ends on one."""
    padded = nn.functional.pad(real, (backward, jumps - 1 - backward), value=False)
    return padded.unfold(1, jumps, 1) & real[..., None]


def _mean(
    states: Float[Tensor, "batch positions size"], chosen: Bool[Tensor, "batch positions"]
) -> Float[Tensor, "batch 1 size"]:
    """Of the chosen positions; 0 where there is none."""
    total = states.masked_fill(~chosen[..., None], 0.0).sum(1, keepdim=True)
    return total / chosen.sum(1).clamp(min=1)[:, None, None]
