"""Attentions of every kind, with and without heads and projections; inputs of odd sizes.

Batch, queries, positions and all sizes differ from each other, so that no transposition and no
broadcast can pass unseen.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import Attention

BATCH, QUERIES, POSITIONS = 2, 3, 5


@dataclass(frozen=True)
class Case:
    """Sizes of query, key and value, and how to make the attention."""

    sizes: tuple[int, int, int]
    options: dict[str, Any] = field(default_factory=dict)

    def make(self, **more: Any) -> Attention:
        """A new attention in evaluation mode; what starts at zero is random too."""
        attention = Attention(*self.sizes, **{**self.options, **more})
        for parameter in attention.parameters():
            if not parameter.any():
                torch.nn.init.normal_(parameter)
        return attention.eval()

    def inputs(
        self, dtype: torch.dtype = torch.float32, positions: int = POSITIONS, queries: int = QUERIES
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value."""
        query, key, value = self.sizes
        return (
            torch.randn(BATCH, queries, query, dtype=dtype),
            torch.randn(BATCH, positions, key, dtype=dtype),
            torch.randn(BATCH, positions, value, dtype=dtype),
        )

    @property
    def placed(self) -> bool:
        """Whether it matters where queries and keys stand."""
        return any(name in self.options for name in ("position_scheme", "window", "local"))

    @property
    def content(self) -> bool:
        """Whether keys count for what they are alone, not for where they stand."""
        return not self.placed and self.options["score"] != "location"

    @property
    def hard(self) -> bool:
        """One position is taken: no gradient reaches the scores, no dropout the weights."""
        return self.options.get("select") == "hard"

    @property
    def normalized(self) -> bool:
        """Whether weights sum to 1: all but local-p's, which the paper leaves as they are."""
        return self.options.get("local") != "predictive"

    @property
    def covers(self) -> bool:
        """Whether a query sees what those before it attended to."""
        return bool(self.options.get("coverage"))

    @property
    def softmax(self) -> bool:
        """Whether weights are the softmax of the scores and nothing else."""
        plain = "select" not in self.options and not self.covers
        return plain and self.normalized

    def __str__(self) -> str:
        options = dict(self.options)
        words = [options.pop("score"), f"{options.pop('heads', 1)} heads"]
        projected = options.pop("project", None)
        if projected is not None:
            words.append("projected" if projected is True else f"project {projected}")
        sizes = ("hidden_size", "output_size", "local_width", "maximum_positions")
        return ", ".join(words + [f"{k} {v}" for k, v in options.items() if k not in sizes])


CASES = [
    Case((6, 6, 7), {"score": "dot"}),
    Case((6, 6, 7), {"score": "scaled_dot"}),
    Case((6, 8, 7), {"score": "general"}),
    Case((6, 8, 7), {"score": "additive", "hidden_size": 10}),
    Case((6, 8, 7), {"score": "concat", "hidden_size": 10}),
    Case((6, 8, 7), {"score": "location", "maximum_positions": 9}),
    Case((6, 8, 7), {"score": "dot", "heads": 3, "hidden_size": 12, "output_size": 10}),
    Case((6, 8, 7), {"score": "scaled_dot", "heads": 3, "hidden_size": 12, "output_size": 10}),
    Case((6, 8, 7), {"score": "general", "heads": 3, "hidden_size": 12}),
    Case((6, 8, 7), {"score": "additive", "heads": 2, "hidden_size": 10}),
    Case((6, 8, 7), {"score": "location", "heads": 2, "hidden_size": 10, "maximum_positions": 9}),
    Case((6, 8, 4), {"score": "general", "heads": 2, "project": False}),
    Case((6, 6, 9), {"score": "scaled_dot", "heads": 3, "project": False}),
    Case((6, 8, 4), {"score": "additive", "heads": 2, "hidden_size": 10, "project": False}),
    Case((6, 8, 9), {"score": "scaled_dot", "hidden_size": 10, "project": ("query", "key")}),
    Case((6, 8, 9), {"score": "concat", "hidden_size": 10, "project": ("value", "output")}),
    # Heads that share keys and values: grouped queries, and multi-query.
    Case((6, 8, 7), {"score": "scaled_dot", "heads": 4, "key_heads": 2, "hidden_size": 12}),
    Case((6, 2, 3), {"score": "general", "heads": 3, "key_heads": 1, "project": False}),
    # Other ways from scores to weights.
    Case((6, 8, 7), {"score": "general", "select": "hard"}),
    Case((6, 8, 7), {"score": "general", "select": "sparsemax"}),
    Case((6, 8, 7), {"score": "additive", "heads": 2, "hidden_size": 10, "select": "entmax"}),
    # What knows positions.
    Case((6, 8, 7), {"score": "dot", "heads": 2, "hidden_size": 12, "position_scheme": "rotary"}),
    Case((6, 8, 7), {"score": "dot", "heads": 3, "hidden_size": 12, "position_scheme": "alibi"}),
    Case((6, 8, 7), {"score": "general", "heads": 3, "position_scheme": "relative"}),
    Case((6, 6, 7), {"score": "scaled_dot", "window": (2, 1)}),
    Case((6, 8, 7), {"score": "general", "local": "monotonic", "local_width": 2}),
    Case((6, 8, 7), {"score": "general", "heads": 2, "local": "predictive", "local_width": 2}),
    # What weighs on the context, or on the scores.
    Case((6, 8, 7), {"score": "additive", "hidden_size": 10, "gate": True}),
    Case((6, 8, 7), {"score": "additive", "heads": 2, "hidden_size": 10, "coverage": True}),
    # Much at once.
    Case(
        (6, 8, 7),
        {
            "score": "scaled_dot",
            "heads": 4,
            "key_heads": 2,
            "hidden_size": 16,
            "select": "entmax",
            "position_scheme": "rotary",
            "window": (2, 1),
            "gate": True,
        },
    ),
]

SELF = [
    {"score": "scaled_dot", "heads": 2},
    {"score": "dot"},
    {"score": "general"},
    {"score": "additive", "hidden_size": 5},
    {"score": "concat", "heads": 2, "project": True, "hidden_size": 4},
    {"score": "general", "heads": 4, "key_heads": 2, "hidden_size": 8},
    {"score": "general", "select": "sparsemax"},
    {"score": "scaled_dot", "heads": 3, "select": "entmax", "gate": True},
]
PLACED = [
    {"score": "location", "maximum_positions": 9},
    {"score": "scaled_dot", "heads": 2, "hidden_size": 8, "position_scheme": "rotary"},
    {"score": "additive", "hidden_size": 8, "position_scheme": "rotary"},
    {"score": "scaled_dot", "heads": 3, "position_scheme": "alibi"},
    {"score": "general", "heads": 2, "position_scheme": "relative"},
    {"score": "dot", "window": (2, 0)},
    {"score": "general", "local": "monotonic", "local_width": 2},
    {"score": "additive", "hidden_size": 5, "coverage": True},
    {
        "score": "scaled_dot",
        "heads": 4,
        "key_heads": 2,
        "hidden_size": 8,
        "position_scheme": "rotary",
        "window": 2,
        "select": "sparsemax",
    },
]


def name(options: dict[str, Any]) -> str:
    """Options as the name of a test."""
    sizes = ("hidden_size", "local_width", "maximum_positions")
    return ", ".join(
        str(value) if isinstance(value, str) else f"{key} {value}"
        for key, value in options.items()
        if key not in sizes
    )


def only(**wanted: bool) -> pytest.MarkDecorator:
    """The cases of which all that is true (or is not): ``only(hard=False, covers=False)``."""
    chosen = [
        case for case in CASES if all(getattr(case, key) == value for key, value in wanted.items())
    ]
    return pytest.mark.parametrize("case", chosen, ids=str)


every_case = only()
every_self = pytest.mark.parametrize("options", SELF, ids=name)
every_placed_self = pytest.mark.parametrize("options", SELF + PLACED, ids=name)
need_weights = pytest.mark.parametrize("need_weights", [False, True], ids=["fused", "weights"])


def random_mask(*shape: int, seed: int = 3) -> Tensor:
    """True about two times in three, and in every row at least once."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.65
    mask[..., 0] |= ~mask.any(-1)
    return mask


def last_places(queries: int, positions: int) -> Tensor:
    """Where queries stand that are the last of so many positions."""
    return torch.arange(queries) + positions - queries


def make_self(options: dict[str, Any], size: int = 6) -> Attention:
    """For self-attention over vectors of that size."""
    return Case((size, size, size), options).make()


def gradients(attention: Attention) -> list[Tensor]:
    """Those of its parameters that took part, copied."""
    return [p.grad.clone() for p in attention.parameters() if p.grad is not None]
