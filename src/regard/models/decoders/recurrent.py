"""Recurrent decoder: one stack of cells that attends before the cell, after it, or never."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention import Attention
from regard.models.configuration import RecurrentDecoderConfiguration
from regard.models.decoders.attending import (
    Look,
    join_looks,
    look,
    make_attention,
    takes_expectation,
)
from regard.models.decoders.bahdanau import kernel_cell, run_bahdanau
from regard.models.decoders.decoding import (
    Advanced,
    Copying,
    Decoding,
    mean_over_heads,
)
from regard.models.decoders.recurrent_state import RecurrentState, Steps
from regard.models.decoders.start import Start, last_state
from regard.models.encoded import Encoded
from regard.nn.dropout import dropout
from regard.nn.embedding import Lookup, vectors
from regard.nn.generation_gate import GenerationGate
from regard.nn.layers import Layers
from regard.nn.readout import DeepReadout, MaxoutReadout, make_readout
from regard.nn.recurrent import CELLS, RecurrentLayer
from regard.nn.stacking import Stacking


class RecurrentDecoder(nn.Module):
    """``s_i`` from ``s_{i-1}``, the last token and the source.

    * ``attend = before`` (Bahdanau et al. 2015, appendix A.1.2, A.2; EQUATIONS A4-A6): the context
      comes from ``s_{i-1}`` and enters the cell; the readout sees ``s_{i-1}``.
    * ``attend = after`` (Luong et al. 2015, section 3.1; A7, A8): the context comes from the new
      ``s_i``; without input feeding all teacher-forced steps run at once.
    * ``attend = never`` (Sutskever et al. 2014, Cho et al. 2014; A1): only the first state, and
      with ``constant_context`` the encoder's last state or the first state itself at every step,
      tell of the source.

    With ``copying``, weights are logarithms, and steps say whether to copy (See et al. 2017, 2.2).
    """

    longest: int | None = None  # any number of tokens can be written

    def __init__(
        self,
        configuration: RecurrentDecoderConfiguration,
        embedding_size: int,
        memory_size: int,
        directions: int,
    ) -> None:
        super().__init__()
        self.attend = configuration.attend
        self.dropout = configuration.dropout
        size = configuration.size
        self.chosen_attention = configuration.attention
        self.attention: Attention | None = None
        self.constant_start = configuration.constant_context_from == "start"
        constant = size if self.constant_start else memory_size
        extra = constant if configuration.constant_context else 0
        context_size = extra
        if self.attend != "never":
            self.attention = make_attention(configuration, memory_size)
            context_size = self.attention.context_size
            extra = context_size if self.attend == "before" else 0
        self.readout, self.features_size = make_readout(
            configuration.readout, size, embedding_size, context_size, configuration.readout_size
        )
        self.feeding = self.features_size if configuration.input_feeding else 0
        self.constant_context = configuration.constant_context
        gate = GenerationGate(context_size, size, embedding_size) if configuration.copying else None
        self.generation_gate = gate
        cell = CELLS[configuration.cell]
        sizes = [embedding_size + extra + self.feeding] + [size] * (configuration.layers - 1)
        self.cells: Layers[RecurrentLayer] = Layers(cell(inputs, size) for inputs in sizes)
        self.stacking = Stacking(
            size,
            configuration.layers,
            layer_norm=configuration.layer_norm,
            residual=configuration.residual,
        )
        self.start_layers = Start(
            configuration.start,
            encoder_size=memory_size,
            directions=directions,
            size=size,
            layers=configuration.layers,
            tensors=cell.tensors,
        )

    def start(self, memory: Encoded) -> RecurrentState:
        """The state before the first token; keys are projected here, once."""
        layers = self.start_layers(memory)
        source = None if self.attention is None else self.attention.prepare(memory)
        constant = memory.states.new_zeros(memory.batch, 1, 0)
        if self.constant_context:
            constant = last_state(memory)[:, None]
            if self.constant_start:
                constant = layers[-1][0].transpose(0, 1)
        fed = memory.states.new_zeros(memory.batch, 1, self.feeding)
        coverage = None
        if self.attention is not None and self.attention.covers:
            assert source is not None
            coverage = memory.states.new_zeros(source.key.shape[:3])
        expectation = takes_expectation(self.attention, self.chosen_attention)
        state = RecurrentState(layers, source, constant, fed, coverage, expectation=expectation)
        if self.stacking.plain:
            return state
        return replace(state, output=self.stacking(len(self.cells) - 1, state.last, None))

    def advance(
        self, step: Float[Tensor, "batch 1 size"] | Lookup, state: RecurrentState
    ) -> Advanced:
        """The next step and the state after it, with weights."""
        before = state.last
        known = self.cells.first().project(step)[0]
        state, looked = self._move(known, state, need_weights=True)
        steps = Steps(before, state.last, looked.context, looked.weights)
        decoding = self._decoding(step, steps, need_weights=True)
        if self.feeding:
            state = replace(state, fed=decoding.features)
        return decoding.advanced(state)

    def forward(
        self,
        embedded: Float[Tensor, "batch steps size"] | Lookup,
        memory: Encoded,
        need_weights: bool = False,
    ) -> Decoding:
        """All teacher-forced steps, with attention if asked."""
        return self._decoding(embedded, self._run(embedded, memory, need_weights), need_weights)

    @property
    def attention_layers(self) -> int:
        """How many attentions over the source there are."""
        return 0 if self.attention is None else 1

    @property
    def attention_heads(self) -> int:
        """How many heads it has."""
        return 0 if self.attention is None else self.attention.heads

    def attention_by_layer(
        self, embedded: Float[Tensor, "batch steps size"] | Lookup, memory: Encoded
    ) -> Iterator[Float[Tensor, "batch heads steps source"]]:
        """What all teacher-forced steps attend to: of one layer, if there is any."""
        weights = self._run(embedded, memory, need_weights=True).weights
        if weights is not None:
            yield weights if self.generation_gate is None else weights.exp()

    def _run(self, embedded: Tensor | Lookup, memory: Encoded, need_weights: bool) -> Steps:
        """All teacher-forced steps, in the fastest way that gives what is wanted."""
        state = self.start(memory)
        wanted = need_weights or self.generation_gate is not None
        attention = self.attention
        if self.attend == "before" and attention is not None and self.stacking.plain:
            cell = kernel_cell(self.cells, attention, memory)
            if cell is not None:
                return run_bahdanau(cell, attention, embedded, state, self._wanted(wanted))
        if self.attend == "before" or self.feeding:
            return self._one_by_one(embedded, state, wanted)
        return self._without_feeding(embedded, state, wanted)

    def _decoding(self, embedded: Tensor | Lookup, steps: Steps, need_weights: bool) -> Decoding:
        """What is read out of the steps."""
        features = steps.features
        if features is None:
            features = self._read(embedded, steps.before, steps.after, steps.context)
        if self.generation_gate is None:
            shown = None if steps.weights is None else steps.weights.mean(1)
            return Decoding(features, shown, chosen=steps.chosen)
        assert steps.weights is not None
        log_weights = mean_over_heads(steps.weights)
        gate = self.generation_gate(steps.context, steps.after, vectors(embedded))
        shown = log_weights.exp() if need_weights else None
        return Decoding(features, shown, Copying(log_weights, gate))

    def _without_feeding(
        self, embedded: Tensor | Lookup, state: RecurrentState, need_weights: bool
    ) -> Steps:
        """Where nothing of the source or the output enters the cells: layer after layer."""
        inputs = embedded
        if self.constant_context:
            constant = state.constant.expand(-1, embedded.shape[1], -1)
            inputs = torch.cat([vectors(embedded), constant], dim=-1)
        for number, (cell, layer) in enumerate(zip(self.cells, state.layers, strict=True)):
            below = self._between(vectors(inputs)) if number else None
            outputs, _ = cell.run(inputs if below is None else below, layer)
            inputs = self.stacking(number, outputs, below)
        assert isinstance(inputs, Tensor)
        before = torch.cat([state.last, inputs[:, :-1]], dim=1)
        looked = Look(state.constant)
        if self.attention is not None:
            looked = look(self.attention, inputs, state, self._wanted(need_weights))
        return Steps(before, inputs, looked.context, looked.weights, chosen=looked.chosen)

    def _one_by_one(
        self, embedded: Tensor | Lookup, state: RecurrentState, need_weights: bool
    ) -> Steps:
        """Step after step."""
        read = vectors(embedded) if self.feeding else None
        befores: list[Tensor] = []
        afters: list[Tensor] = []
        looks: list[Look] = []
        fed: list[Tensor] = []
        for i, known in enumerate(self.cells.first().project(embedded)):
            before = state.last
            state, looked = self._move(known, state, need_weights)
            after = state.last
            if read is not None:
                features = self._read(read[:, i : i + 1], before, after, looked.context)
                fed.append(features)
                state = replace(state, fed=features)
            befores.append(before)
            afters.append(after)
            looks.append(looked)
        whole = join_looks(looks)
        return Steps(
            torch.cat(befores, dim=1),
            torch.cat(afters, dim=1),
            whole.context,
            whole.weights if need_weights else None,
            torch.cat(fed, dim=1) if fed else None,
            whole.chosen,
        )

    def _move(
        self, known: Float[Tensor, "1 batch gates"], state: RecurrentState, need_weights: bool
    ) -> tuple[RecurrentState, Look]:
        """One step of attention and cells: the state after it and what was read.

        ``known`` is the first cell's projection of the token; context and what is fed back follow.
        """
        looked = Look(state.constant)
        if self.attend == "before":
            looked, state = self._attend(state.last, state, need_weights)
        rest = state.fed if self.attend == "after" else looked.context
        first = self.cells.first()
        projected = first.project_rest(known, rest[:, 0]) if rest.shape[-1] else known
        layers = [first.step(projected, state.layers[0])]
        output = self.stacking(0, layers[0][0].transpose(0, 1), None)
        for number, cell in enumerate(self.cells.rest(), start=1):
            inputs = self._between(output)
            layers.append(cell.step(cell.project(inputs)[0], state.layers[number]))
            output = self.stacking(number, layers[number][0].transpose(0, 1), inputs)
        if self.attend == "after":
            looked, state = self._attend(output, state, need_weights)
        moved = replace(
            state,
            layers=tuple(layers),
            position=state.position + 1,
            output=None if self.stacking.plain else output,
        )
        return moved, looked

    def _attend(
        self, query: Float[Tensor, "batch 1 size"], state: RecurrentState, need_weights: bool
    ) -> tuple[Look, RecurrentState]:
        """What one step reads, and the state that covers more."""
        attention = self.attention
        assert attention is not None
        looked = look(attention, query, state, self._wanted(need_weights or attention.covers))
        if attention.covers:
            assert looked.weights is not None and state.coverage is not None
            weighed = looked.weights if self.generation_gate is None else looked.weights.exp()
            state = replace(state, coverage=state.coverage + weighed.sum(2))
        return looked, state

    def _wanted(self, need_weights: bool) -> bool | Literal["log"]:
        """What the attention is asked for: copying needs logarithms."""
        return "log" if need_weights and self.generation_gate is not None else need_weights

    def _read(
        self, embedded: Tensor | Lookup, before: Tensor, after: Tensor, context: Tensor
    ) -> Float[Tensor, "batch steps features"]:
        """What the output layer sees."""
        steps = embedded.shape[1]
        features = after
        if isinstance(self.readout, MaxoutReadout):
            state = before if self.attend == "before" else after
            features = self.readout(state, vectors(embedded), context.expand(-1, steps, -1))
        elif isinstance(self.readout, DeepReadout):
            features = self.readout(after, vectors(embedded), context.expand(-1, steps, -1))
        elif self.readout is not None:
            features = self.readout(after, context)
        return dropout(features, self.dropout, self.training)

    def _between(self, hidden: Tensor) -> Tensor:
        return dropout(hidden, self.dropout, self.training)
