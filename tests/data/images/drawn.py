"""Small pictures for tests: four quarters of four colors, so that every turn and flip shows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

RED, GREEN, BLUE, YELLOW = (220, 30, 40), (30, 160, 70), (40, 60, 200), (240, 220, 60)


def quarters(width: int = 64, height: int = 48) -> Image.Image:
    """Red top left, green top right, blue bottom left, yellow bottom right."""
    image = Image.new("RGB", (width, height), RED)
    image.paste(GREEN, (width // 2, 0, width, height // 2))
    image.paste(BLUE, (0, height // 2, width // 2, height))
    image.paste(YELLOW, (width // 2, height // 2, width, height))
    return image


def corners(image: Image.Image) -> list[tuple[int, ...]]:
    """The colors in the middle of the quarters: top left, top right, bottom left, bottom right."""
    across, down = (
        (image.width // 4, 3 * image.width // 4),
        (image.height // 4, 3 * image.height // 4),
    )
    return [image.getpixel((x, y)) for y in down for x in across]


def close(one: list[tuple[int, ...]], other: list[tuple[int, ...]], within: int = 12) -> bool:
    """Whether colors are the same but for what JPEG does to them."""
    return bool(np.abs(np.subtract(one, other)).max() <= within)


def noise(seed: int, size: int = 40) -> Image.Image:
    """A picture of random pixels: unlike any other seed's."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size, size, 3), np.uint8)
    return Image.fromarray(pixels)


def save_noise(folder: Path, count: int, size: int = 40) -> list[Path]:
    """`count` different PNG files in a folder that is made."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.png" for number in range(count)]
    for number, path in enumerate(paths):
        noise(number, size).save(path)
    return paths
