"""A captioning job that trains in seconds: naming the colors of a few cells."""

import random
from pathlib import Path
from typing import Any

import torch

from regard.data.captions.data import CaptionData, Captioned
from regard.data.captions.pairs import caption_pairs
from regard.data.images.backbone import load_backbone
from regard.data.images.configuration import BackboneConfiguration
from regard.data.pairs import Pairs
from regard.data.pictures import HeldGrids
from regard.training.configuration import Configuration
from regard.training.problems import resolve

COLORS = {
    "red": (1.0, 0.0, 0.0),
    "green": (0.0, 1.0, 0.0),
    "blue": (0.0, 0.0, 1.0),
    "yellow": (1.0, 1.0, 0.0),
    "white": (1.0, 1.0, 1.0),
    "black": (0.0, 0.0, 0.0),
}
ROWS, COLUMNS = 2, 2
BACKBONE = load_backbone(BackboneConfiguration(name="patches", image_size=8, grid=2))


def colored(count: int, seed: int = 5, name: str = "colors") -> Pairs:
    """Grids whose cells are of one color each, and captions such as `red and blue over white`."""
    generator = random.Random(seed)
    cells = [generator.choices(list(COLORS), k=ROWS * COLUMNS) for _ in range(count)]
    patch = BACKBONE.size // 3
    vectors = [[COLORS[color] * patch for color in each] for each in cells]
    examples = tuple(
        Captioned(Path(f"{name}-{number}.png"), described(each), f"{name}-{number}.png")
        for number, each in enumerate(cells)
    )
    grids = HeldGrids(2 * torch.tensor(vectors) - 1, ROWS, COLUMNS)
    return caption_pairs(CaptionData(examples, name), grids)


def described(cells: list[str]) -> tuple[str, ...]:
    """Two ways of saying it."""
    first, second, third, _ = cells
    return (f"{first} and {second} over {third}", f"{third} under {first} and {second}")


def describing(
    decoder: dict[str, Any] | None = None,
    encoder: dict[str, Any] | None = None,
    **training: Any,
) -> Configuration:
    """A soft-attention captioner, on one thread, with dropout."""
    attention = {"score": "additive", "size": 16, "gate": True}
    return resolve(
        {
            "recipe": "tiny-captioner",
            "backbone": {"name": "patches", "image_size": 8, "grid": 2},
            "tokenization": {"source": None, "target": {"kind": "space"}},
            "batching": {"tokens": 160},
            "model": {
                "embedding": {"size": 16, "dropout": 0.0},
                "encoder": {
                    "kind": "grid",
                    "size": 16,
                    "positions": "learned",
                    "dropout": 0.05,
                    **(encoder or {}),
                },
                "decoder": {
                    "kind": "recurrent",
                    "cell": "lstm",
                    "size": 24,
                    "attention": attention,
                    "readout": "deep",
                    "start": {"from": "mean", "projection": "mlp"},
                    "dropout": 0.05,
                    **(decoder or {}),
                },
            },
            "training": {
                "learning_rate": 0.02,
                "warmup": 10,
                "validation_interval": 10,
                "maximum_updates": 25,
                "threads": 1,
                "metric": "exact_match",
                "average": {"kind": "best", "count": 3},
                "label_smoothing": 0.0,
                **training,
            },
            "search": {"beam": 2, "maximum_length_ratio": 0.0, "maximum_length_extra": 8},
        },
        "tiny-captioner",
    )
