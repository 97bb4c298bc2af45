"""Pictures of positions and masks: tables and matrices that regard itself makes."""

import torch
from jaxtyping import Float
from torch import Tensor

from pictures.charts import SECOND, THIRD, chart, grid_lines, shade
from regard.attention import (
    ALiBi,
    RelativeBias,
    Rotary,
    causal_mask,
    coordinate_positions,
    sinusoidal_positions,
    sliding_window,
)
from regard.views.palette import ACCENT, MUTED

_LENGTH, _SIZE = 64, 32


def positions() -> str:
    """Sinusoidal positions, their distances, and the coordinates of the Universal Transformer."""
    table = sinusoidal_positions(_LENGTH, _SIZE)
    with chart(3, width=9.5, height=3.2) as made:
        left, middle, right = made.axes
        shade(left, table.T, lowest=-1, signed=True, aspect="auto")
        left.set_title("sinusoidal")
        left.set_ylabel("dimension")
        for start, color in ((0, ACCENT), (20, SECOND), (40, THIRD)):
            offsets = range(_LENGTH - start)
            distances = (table[start:] - table[start]).norm(dim=1)
            width = 7 - 2.5 * (start // 20)
            middle.plot(
                offsets, distances.tolist(), color=color, linewidth=width, label=f"from {start}"
            )
        middle.set_title("distance depends on the offset alone")
        middle.set_xlabel("offset")
        middle.set_ylim(bottom=0)
        middle.legend()
        steps = torch.cat([coordinate_positions(_LENGTH, _SIZE, step) for step in (1, 6)])
        shade(right, steps.T, lowest=-2, highest=2, signed=True, aspect="auto")
        right.axvline(_LENGTH - 0.5, color="white", linewidth=3)
        right.set_title("coordinates: step 1 | step 6")
        right.set_xticks([0, 32, 64, 96], ["1", "33", "1", "33"])
        for axes in (left, right):
            axes.set_xlabel("position")
    return made.svg


def relative_positions() -> str:
    """What rotary, ALiBi and relative bias do to scores, by the offset of a key from its query."""
    offsets = torch.arange(-40, 41)
    numbers = offsets.tolist()
    with chart(3, width=9.5, height=2.9) as made:
        left, middle, right = made.axes
        left.plot(numbers, _rotary_scores(offsets).tolist(), color=ACCENT)
        left.set_title("rotary: score of equal vectors")
        scheme = ALiBi(4)
        for head, row in enumerate(
            scheme.bias(torch.zeros(1, 1, dtype=torch.long), offsets[None])[0]
        ):
            middle.plot(numbers, row[0].tolist(), label=f"head {head + 1}")
        middle.set_title("ALiBi: bias of four heads")
        middle.legend(fontsize=8)
        relative = RelativeBias(1, buckets=16, maximum_distance=32)
        with torch.no_grad():
            relative.table.copy_(torch.arange(16.0))
            bucket = relative.bias(torch.zeros(1, 1, dtype=torch.long), offsets[None])[0, 0, 0]
        right.step(numbers, bucket.tolist(), where="mid", color=ACCENT)
        right.set_title("relative bias: which of 16 numbers")
        for axes in made.axes:
            axes.axvline(0, color=MUTED, linewidth=0.8, linestyle=":")
            axes.set_xlabel("offset of the key from its query")
    return made.svg


def masks() -> str:
    """Causal, causal with fewer queries than keys, sliding windows, padding: True is dark."""
    square = causal_mask(8, 8)
    ids = torch.arange(8)[None]
    window = sliding_window(ids, ids, 2, 2)[0, 0]
    key_mask = torch.arange(8) < 6
    shown = [
        ("causal", square),
        ("causal, the last 3 queries", causal_mask(3, 8)),
        ("window of 2", window),
        ("window of (2, 0)", sliding_window(ids, ids, 2, 0)[0, 0]),
        ("key_mask, 6 real keys", key_mask.expand(8, 8)),
        ("all at once", square & window & key_mask),
    ]
    with chart(6, width=10.0, height=2.2) as made:
        for (title, mask), axes in zip(shown, made.axes, strict=True):
            rows, columns = mask.shape
            shade(axes, mask.int())
            axes.set_xticks([])
            axes.set_yticks([])
            grid_lines(axes, columns, rows)
            axes.set_title(title, fontsize=8)
            axes.set_xlabel("keys", fontsize=8)
        made.axes[0].set_ylabel("queries", fontsize=8)
    return made.svg


def _rotary_scores(offsets: Tensor) -> Float[Tensor, " offsets"]:
    """``q . k`` of one vector of ones, turned by its position, per dimension."""
    vector = torch.ones(1, 1, 1, 64)
    scheme = Rotary()
    query = scheme.rotate(vector, torch.zeros(1, 1, dtype=torch.long))
    keys = scheme.rotate(vector.expand(1, 1, len(offsets), 64), offsets[None])
    return (keys @ query.transpose(-1, -2))[0, 0, :, 0] / 64
