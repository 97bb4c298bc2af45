"""What search asks of a decoder, and nothing else: two calls, and two ways to re-index its state.

Rows are hypotheses. `start` makes one row per sentence of the memory; search widens, reorders and
drops rows through the state.

- `state.select(indices)`: row i of the result is row `indices[i]`; any rows, any number of them,
  repeats allowed. Called when sentences leave the batch and when each sentence's row becomes a
  beam of rows: the memory that is attended over is re-indexed too.
- `state.reorder(indices)`: the same contract, with a promise by the caller: there are as many rows
  as before, and row i of the result has the same source as row i before. So the memory over the
  source may be kept as it is, uncopied. Called at every other step of beam search. A state may
  always answer it with `select`.

Neither changes the state it is called on.
"""

from typing import Any, Protocol

from jaxtyping import Float, Int
from torch import Tensor


class State(Protocol):
    """What a decoder remembers between steps, one row per hypothesis. Immutable to its callers."""

    def select(self, indices: Int[Tensor, "chosen"]) -> Any:
        """Rows `indices` of this state, memory over the source included."""

    def reorder(self, indices: Int[Tensor, "rows"]) -> Any:
        """As `select`, given that row i keeps its source."""

    @property
    def pondering(self) -> Float[Tensor, "rows 2"] | None:
        """How many steps of the decoder's layer the last prediction took, and what they cost (N and
        N + R of adaptive computation time); None unless that is adaptive."""


class Step(Protocol):
    """What one step of a decoder gives."""

    @property
    def log_probabilities(self) -> Float[Tensor, "rows vocabulary"]:
        """Natural-log probability of each next token, given the tokens so far."""

    @property
    def state(self) -> Any:
        """The state after the step, a `State` of as many rows."""

    @property
    def attention(self) -> Float[Tensor, "rows source"] | None:
        """Weight of each source position when the next token was predicted; None without any."""


class Decoder(Protocol):
    """A step function over a memory."""

    def start(self, memory: Any) -> Any:
        """The `State` before the first step: a row per sentence of the memory."""

    def step(self, tokens: Int[Tensor, "rows"], state: Any) -> Step:
        """Read one token a row (the start symbol first) and predict the next."""
