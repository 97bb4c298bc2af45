"""Small models to explore, of every kind that the page tells apart; and a photo."""

import io
from typing import Any

from PIL import Image

GRU = {"kind": "recurrent", "size": 6}
ATTENTIVE = {"kind": "recurrent", "size": 8, "attend": "before", "readout_size": 5}
RECURRENT: dict[str, Any] = {"embedding": {"size": 6}, "encoder": GRU, "decoder": ATTENTIVE}
SILENT: dict[str, Any] = {
    **RECURRENT,
    "decoder": {**ATTENTIVE, "attend": "never", "constant_context": True},
}
LAYERS = {"kind": "transformer", "layers": 2, "heads": 2, "feed_forward_size": 8}
TRANSFORMER: dict[str, Any] = {"embedding": {"size": 8}, "encoder": LAYERS, "decoder": LAYERS}
WORDS = {"joint": True, "source": {"kind": "space"}, "target": {"kind": "space"}}


def photo(width: int = 60, height: int = 40, kind: str = "PNG") -> bytes:
    """A picture with something different in every corner."""
    image = Image.new("RGB", (width, height), (250, 250, 250))
    image.paste((200, 20, 20), (0, 0, width // 2, height // 2))
    image.paste((20, 20, 200), (width // 2, height // 2, width, height))
    buffer = io.BytesIO()
    image.save(buffer, format=kind)
    return buffer.getvalue()
