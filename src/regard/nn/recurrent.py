"""Recurrent layers that step and run alike: the papers' GRU, the libraries' GRU, and the LSTM.

Both directions of a bidirectional layer are one batched product. A state is a tuple of tensors
``[directions, batch, size]``, the hidden state first (an LSTM's cell second).
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.nn.embedding import Lookup
from regard.nn.kernels.affine import affine
from regard.nn.kernels.gru import run_gru
from regard.nn.kernels.library_gru import run_library_gru
from regard.nn.kernels.lstm import run_lstm

State = tuple[Tensor, ...]


class RecurrentLayer(nn.Module):
    """What GRU and LSTM share: input products for all positions at once, then steps.

    Subclasses set ``gates`` (how many blocks of ``size`` the input product makes), ``tensors`` (how
    many make up a state) and ``step``.
    """

    gates: int
    tensors: int

    def __init__(self, input_size: int, size: int, directions: int = 1) -> None:
        super().__init__()
        self.input_size = input_size
        self.size = size
        self.directions = directions
        self.W = nn.Parameter(torch.empty(input_size, directions * self.gates * size))
        self.U = nn.Parameter(torch.empty(directions, size, self.gates * size))
        self.b = nn.Parameter(torch.zeros(directions * self.gates * size))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Glorot for input blocks, orthogonal recurrent matrices (as RNNsearch), biases zero."""
        for block in self.W.data.split(self.size, dim=1):
            nn.init.xavier_uniform_(block)
        for direction in self.U.data:
            for block in direction.split(self.size, dim=1):
                block.copy_(nn.init.orthogonal_(torch.empty(self.size, self.size)))

    def initial(self, batch: int) -> State:
        """The zero state."""
        zeros = self.U.new_zeros(self.directions, batch, self.size)
        return (zeros,) * self.tensors

    def project(
        self, inputs: Float[Tensor, "batch steps part_size"] | Lookup
    ) -> Float[Tensor, "steps directions batch gates_size"]:
        """``W x_i + b`` of every position and direction, in one matrix product.

        ``inputs`` may be the first part of ``x`` alone; ``project_rest`` adds the rest of it. Of
        a lookup each row of the table is multiplied once.
        """
        batch, steps, part = inputs.shape
        if isinstance(inputs, Lookup):
            known = torch.addmm(self.b, inputs.table, self.W[:part])
            flat = F.embedding(inputs.tokens.t(), known)
        else:
            rows = inputs.transpose(0, 1).reshape(steps * batch, part)
            flat = affine(rows, self.W[:part], self.b[None])
        return flat.view(steps, batch, self.directions, -1).transpose(1, 2)

    def project_rest(
        self, projected: Float[Tensor, "1 batch gates_size"], rest: Float[Tensor, "batch rest"]
    ) -> Float[Tensor, "1 batch gates_size"]:
        """Add the product of the last part of one position's ``x`` (layers of one direction)."""
        return torch.addmm(projected[0], rest, self.W[-rest.shape[1] :])[None]

    def _project_both(
        self, inputs: Float[Tensor, "batch steps input_size"] | Lookup
    ) -> Float[Tensor, "steps 2 batch gates_size"]:
        """As ``project``, with the second direction's positions from the last to the first."""
        if isinstance(inputs, Lookup):
            known = torch.addmm(self.b, inputs.table, self.W).view(2 * len(inputs.table), -1)
            places = 2 * inputs.tokens.t()  # a symbol has a row for each direction
            flat = F.embedding(torch.stack([places, places.flip(0) + 1]), known)
            return flat.transpose(0, 1)
        rows = inputs.transpose(0, 1)
        both = torch.stack([rows, rows.flip(0)])
        W = self.W.view(self.input_size, 2, -1).transpose(0, 1)
        flat = affine(both.flatten(1, 2), W, self.b.view(2, 1, -1))
        return flat.view(2, *rows.shape[:2], -1).transpose(0, 1)

    def step(self, projected: Float[Tensor, "directions batch gates_size"], state: State) -> State:
        """The next state from one projected position."""
        raise NotImplementedError

    def run(
        self,
        inputs: Float[Tensor, "batch steps input_size"] | Lookup,
        state: State | None = None,
        mask: Bool[Tensor, "batch steps"] | None = None,
    ) -> tuple[Float[Tensor, "batch steps directions_size"], State]:
        """All positions: outputs ``[batch, steps, directions * size]`` and the final state.

        With two directions the second reads each row backward. A padded position, wherever it
        stands, leaves the state as it was, so final states are those of the row alone.
        """
        keep = None if mask is None or bool(mask.all()) else mask.t()[:, None, :, None]
        if self.directions == 2:
            projected = self._project_both(inputs)
            keep = None if keep is None else torch.cat([keep, keep.flip(0)], dim=1)
        else:
            projected = self.project(inputs)
        state = self.initial(inputs.shape[0]) if state is None else state
        stacked, state = self.steps(projected, state, keep)
        if self.directions == 2:
            joined = torch.cat([stacked[:, 0], stacked[:, 1].flip(0)], dim=-1)
        else:
            joined = stacked[:, 0]
        return joined.transpose(0, 1), state

    def steps(
        self,
        projected: Float[Tensor, "steps directions batch gates_size"],
        state: State,
        keep: Bool[Tensor, "steps directions batch 1"] | None,
    ) -> tuple[Float[Tensor, "steps directions batch size"], State]:
        """Hidden states of all steps, and the last state; ``keep`` False leaves a state alone."""
        outputs = []
        for i, part in enumerate(projected.unbind()):
            new = self.step(part, state)
            if keep is not None:
                new = tuple(torch.where(keep[i], n, o) for n, o in zip(new, state, strict=True))
            state = new
            outputs.append(state[0])
        return torch.stack(outputs), state


class GRU(RecurrentLayer):
    """Gated recurrent units as Bahdanau et al. 2015 write them, appendix A.1.1 (EQUATIONS A2).

    ``r = sigma(W_r x + U_r h)``, ``z = sigma(W_z x + U_z h)``, ``h~ = tanh(W x + U [r * h])``,
    ``h' = (1 - z) * h + z * h~``. The reset gate acts before the matrix product;
    torch.nn.GRU's acts after it and its z means the opposite: not the same function.
    """

    gates = 3
    tensors = 1

    def step(self, projected: Float[Tensor, "directions batch gates_size"], state: State) -> State:
        """``projected`` holds the blocks r, z, h~ in this order."""
        (hidden,) = state
        split = 2 * self.size
        gates = torch.baddbmm(projected[..., :split], hidden, self.U[..., :split]).sigmoid()
        reset, update = gates.chunk(2, dim=-1)
        candidate = torch.baddbmm(projected[..., split:], reset * hidden, self.U[..., split:])
        return (torch.lerp(hidden, candidate.tanh(), update),)

    def steps(
        self,
        projected: Float[Tensor, "steps directions batch gates_size"],
        state: State,
        keep: Bool[Tensor, "steps directions batch 1"] | None,
    ) -> tuple[Float[Tensor, "steps directions batch size"], State]:
        """As the base class, by a kernel with a gradient of its own."""
        hidden = run_gru(projected, state[0], self.U, keep)
        return hidden, (hidden[-1],)


class LSTM(RecurrentLayer):
    """Long short-term memory (Hochreiter & Schmidhuber 1997, with forget gate; EQUATIONS A10).

    ``i, f, o = sigma(W x + U h)``, ``g = tanh(W x + U h)``, ``m' = f * m + i * g``,
    ``h' = o * tanh(m')``. The forget gate's bias starts at 1 (Jozefowicz et al. 2015).
    """

    gates = 4
    tensors = 2

    def reset_parameters(self) -> None:
        """As the base class, with the forget gate open."""
        super().reset_parameters()
        self.b.data.view(self.directions, self.gates, self.size)[:, 1] = 1.0

    def step(self, projected: Float[Tensor, "directions batch gates_size"], state: State) -> State:
        """``projected`` holds the blocks i, f, o, g in this order."""
        hidden, cell = state
        blocks = torch.baddbmm(projected, hidden, self.U)
        gates = blocks[..., : 3 * self.size].sigmoid()
        enter, forget, leave = gates.chunk(3, dim=-1)
        cell = torch.addcmul(forget * cell, enter, blocks[..., 3 * self.size :].tanh())
        return leave * cell.tanh(), cell

    def steps(
        self,
        projected: Float[Tensor, "steps directions batch gates_size"],
        state: State,
        keep: Bool[Tensor, "steps directions batch 1"] | None,
    ) -> tuple[Float[Tensor, "steps directions batch size"], State]:
        """As the base class, by a kernel with a gradient of its own."""
        first, first_cell = state
        hidden, cell = run_lstm(projected, first, first_cell, self.U, keep)
        return hidden, (hidden[-1], cell)


class LibraryGRU(RecurrentLayer):
    """Gated recurrent units as ``torch.nn.GRU`` and cuDNN have them (Cho et al. 2014, version 1).

    ``r = sigma(W_r x + U_r h)``, ``z = sigma(W_z x + U_z h)``,
    ``h~ = tanh(W x + r * (U h + b_U))``, ``h' = (1 - z) * h~ + z * h``: the reset gate acts after
    the matrix product, which has a bias of its own, and z keeps the old.
    """

    gates = 3
    tensors = 1

    def __init__(self, input_size: int, size: int, directions: int = 1) -> None:
        super().__init__(input_size, size, directions)
        self.b_U = nn.Parameter(torch.zeros(directions * size))

    def step(self, projected: Float[Tensor, "directions batch gates_size"], state: State) -> State:
        """``projected`` holds the blocks r, z, h~ in this order."""
        (hidden,) = state
        split = 2 * self.size
        product = torch.bmm(hidden, self.U)
        gates = (projected[..., :split] + product[..., :split]).sigmoid()
        reset, update = gates.chunk(2, dim=-1)
        inner = product[..., split:] + self.b_U.view(self.directions, 1, -1)
        candidate = torch.addcmul(projected[..., split:], reset, inner).tanh()
        return (torch.lerp(candidate, hidden, update),)

    def steps(
        self,
        projected: Float[Tensor, "steps directions batch gates_size"],
        state: State,
        keep: Bool[Tensor, "steps directions batch 1"] | None,
    ) -> tuple[Float[Tensor, "steps directions batch size"], State]:
        """As the base class, by a kernel with a gradient of its own."""
        b_U = self.b_U.view(self.directions, 1, -1)
        hidden = run_library_gru(projected, state[0], self.U, b_U, keep)
        return hidden, (hidden[-1],)


CELLS: dict[str, type[RecurrentLayer]] = {"gru": GRU, "lstm": LSTM, "library_gru": LibraryGRU}
