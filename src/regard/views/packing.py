"""Weights as a page stores them: as many as fit, in codes of 4 to 16 bits."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.views.attention_view import AttentionView

if TYPE_CHECKING:
    from regard.evaluation.attention_stack import AttentionStack

#: Most characters that all weights of a page may take.
MOST_CHARACTERS = 720_000


class Precision(NamedTuple):
    """``weight = largest * (code / levels) ** power``, code from 0 to ``levels``.

    With power 2 small weights are told more finely than large ones.
    """

    levels: int
    power: int


#: Of what is always there, and of what may be left out; the first that fits is taken.
SHOWN = tuple(Precision(*each) for each in ((65535, 1), (255, 2), (63, 2), (31, 2), (15, 2)))
OTHERS = SHOWN[:2]


@dataclass(frozen=True)
class Packed:
    """Matrices as text: base64 of deflated codes, of 16 bits all low bytes and then all high ones.

    error: how far at most a weight is from what was packed.
    """

    codes: str
    largest: float
    precision: Precision
    error: float

    def as_dict(self) -> dict[str, Any]:
        """For the page's data."""
        return {"codes": self.codes, "largest": self.largest, **self.precision._asdict()}


class PackedView(NamedTuple):
    """What a page keeps of a view.

    shown: the attention of the answer. stacks: the kinds that fit with it, each with its packed
    weights. left_out: the kinds that do not.
    """

    shown: Packed
    stacks: tuple[tuple[AttentionStack, Packed], ...]
    left_out: tuple[str, ...]


def pack(weights: Any, precision: Precision) -> Packed:
    """Weights from 0 to 1, an array or nested sequences, in their order."""
    import numpy as np

    array = np.asarray(weights, dtype=np.float64).ravel()
    largest = float(array.max()) if array.size and array.max() > 0 else 1.0
    levels, power = precision
    shares = np.clip(array / largest, 0.0, 1.0) ** (1 / power)
    codes = np.rint(shares * levels).astype(np.uint16)
    error = float(np.abs(largest * (codes / levels) ** power - array).max()) if array.size else 0.0
    low, high = (codes & 255).astype(np.uint8), (codes >> 8).astype(np.uint8)
    data = low.tobytes() + (high.tobytes() if levels > 255 else b"")
    text = b64encode(zlib.compress(data)).decode("ascii")
    return Packed(text, largest, precision, error)


def unpack(packed: Packed) -> Any:
    """The weights again, flat, as the page has them."""
    import numpy as np

    data = np.frombuffer(zlib.decompress(b64decode(packed.codes)), dtype=np.uint8)
    levels, power = packed.precision
    codes = data.astype(np.int64)
    if levels > 255:
        low, high = codes.reshape(2, -1)
        codes = low + 256 * high
    return packed.largest * (codes / levels) ** power


def pack_view(view: AttentionView, most: int = MOST_CHARACTERS) -> PackedView:
    """As much of a view as ``most`` characters hold, as exactly as they can.

    The attention of the answer is always there. The other kinds are all there, or in the mean over
    heads, or left out.
    """
    shown = _first(((view.attention, each) for each in SHOWN), most)
    room = most - len(shown.codes)
    for reduced in (False, True):
        stacks = [stack.over_heads() if reduced else stack for stack in view.stacks]
        for precision in OTHERS:
            packed = _all_packed(stacks, precision, room)
            if packed is not None:
                return PackedView(shown, packed, view.left_out)
    return PackedView(shown, (), (*(stack.kind for stack in view.stacks), *view.left_out))


def _first(candidates: Any, most: int) -> Packed:
    """The first that fits, or the last."""
    for weights, precision in candidates:
        packed = pack(weights, precision)
        if len(packed.codes) <= most:
            break
    return packed


def _all_packed(
    stacks: Sequence[AttentionStack], precision: Precision, room: int
) -> tuple[tuple[AttentionStack, Packed], ...] | None:
    """All of them, if they fit."""
    found = []
    for stack in stacks:
        if stack.weights.size > 6 * room:  # it would not fit: do not try
            return None
        packed = pack(stack.weights, precision)
        room -= len(packed.codes)
        if room < 0:
            return None
        found.append((stack, packed))
    return tuple(found)
