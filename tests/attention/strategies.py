"""Attentions of any kind over inputs of any shape, for properties that hold for all of them."""

from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Attention

from .cases import Case

thorough = settings(deadline=None, max_examples=40, derandomize=True, database=None)
DOT_FAMILY = ("dot", "scaled_dot", "general")
SELECTIONS = (None, "sparsemax", "entmax", "hard")
PLACES = (
    {},
    {"position_scheme": "rotary"},
    {"position_scheme": "alibi"},
    {"position_scheme": "relative"},
    {"window": (2, 1)},
    {"position_scheme": "rotary", "window": 1},
    {"local": "monotonic", "local_width": 2},
    {"local": "predictive", "local_width": 2},
)


@dataclass(frozen=True)
class Setting:
    """A case, how many rows, queries and positions, and where its random numbers start."""

    case: Case
    batch: int
    queries: int
    positions: int
    dtype: torch.dtype
    seed: int

    def make(self, **more: Any) -> Attention:
        """The attention, in evaluation mode."""
        torch.manual_seed(self.seed)
        return self.case.make(**more).to(self.dtype)

    def inputs(self) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value."""
        query, key, value = self.case.sizes
        return (
            torch.randn(self.batch, self.queries, query).to(self.dtype),
            torch.randn(self.batch, self.positions, key).to(self.dtype),
            torch.randn(self.batch, self.positions, value).to(self.dtype),
        )

    def vectors(self) -> Tensor:
        """For self-attention."""
        return torch.randn(self.batch, self.positions, self.case.sizes[0]).to(self.dtype)

    def key_mask(self) -> Tensor:
        """Some positions of some rows; perhaps a whole row."""
        return torch.rand(self.batch, self.positions) < 0.6

    def mask(self, heads: int) -> Tensor:
        """In one of the shapes that broadcast; perhaps a whole row hidden."""
        full = (self.batch, heads, self.queries, self.positions)
        kept = [n if one else 1 for n, one in zip(full, torch.rand(4) < 0.6, strict=True)]
        leading = int(torch.randint(0, 3, ())) if kept[0] == 1 else 0
        return torch.rand(kept[min(leading, kept.count(1)) :]) < 0.7

    @property
    def limit(self) -> float:
        """How far two ways of computing the same may lie apart."""
        return {torch.float64: 1e-10, torch.float32: 1e-5}.get(self.dtype, 0.05)


@st.composite
def options(draw: st.DrawFn, oneself: bool = False, content: bool = False) -> Case:
    """Any score, heads, projections, selection and positions that go together."""
    others = ("additive", "concat") if content else ("additive", "concat", "location")
    score = draw(st.sampled_from(DOT_FAMILY + others))
    key_heads = draw(st.integers(1, 3))
    repeats = draw(st.integers(1, 2)) if score in DOT_FAMILY else 1
    heads, part = key_heads * repeats, 2 * draw(st.integers(1, 3))
    chosen: dict[str, Any] = {
        "score": score,
        "heads": heads,
        **draw(st.sampled_from(PLACES[: 1 if content else None])),
    }
    if repeats > 1:
        chosen["key_heads"] = key_heads
    if select := draw(st.sampled_from(SELECTIONS)):
        chosen["select"] = select
    if score == "location":
        chosen["maximum_positions"] = 8
    if score in ("additive", "concat") and draw(st.booleans()):
        chosen["coverage"] = True
    if draw(st.integers(0, 3)) == 0:
        chosen["gate"] = True
    if oneself or draw(st.booleans()):
        chosen |= {"project": True, "hidden_size": heads * part}
        sizes = draw(st.permutations([3, 4, 5, 7]))[:3]
        return Case((sizes[0],) * 3 if oneself else tuple(sizes), chosen)
    chosen |= {"project": False, "hidden_size": heads * part}
    key_part = part
    if score not in ("dot", "scaled_dot"):
        key_part = draw(st.integers(1, 5)) * (2 if chosen.get("position_scheme") else 1)
    value_part = draw(st.integers(1, 5))
    return Case((heads * part, key_heads * key_part, key_heads * value_part), chosen)


@st.composite
def attentions(
    draw: st.DrawFn,
    *,
    oneself: bool = False,
    content: bool = False,
    dtypes: tuple[torch.dtype, ...] = (torch.float32, torch.float64),
) -> Setting:
    """An attention and its inputs, of which no two sizes are the same.

    Args:
        oneself: for self-attention.
        content: keys count for what they are alone, not for where they stand.
    """
    batch, queries, positions = draw(st.permutations([1, 2, 3, 4, 5, 6]))[:3]
    return Setting(
        draw(options(oneself, content)),
        batch,
        queries,
        positions,
        draw(st.sampled_from(dtypes)),
        draw(st.integers(0, 2**31)),
    )
