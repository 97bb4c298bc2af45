"""The Universal Transformer learns what is done step by step: to copy, and to turn around."""

import random
from pathlib import Path

import pytest

from regard.data.pairs import Pair, Pairs
from regard.training.train import train

from .small import small

LETTERS = "abcdefgh"
LEARNED, HELD_OUT = 4000, 200
SETTINGS = (
    "tokenization={joint: true, source: {kind: character}, target: {kind: character}}",
    "model.embedding.size=32",
    *(
        f"model.{side}.{key}"
        for side in ("encoder", "decoder")
        for key in ("steps=3", "feed_forward_size=64")
    ),
    "batching.tokens=400",
    "training.maximum_updates=320",
)


def strings(backward: bool) -> tuple[Pairs, Pairs]:
    """Different strings of 2 to 6 letters, to learn from and held out."""
    generator, found = random.Random(1), dict[str, None]()
    while len(found) < LEARNED + HELD_OUT:
        found["".join(generator.choices(LETTERS, k=generator.randint(2, 6)))] = None
    pairs = tuple(Pair(text, text[::-1] if backward else text) for text in found)
    return Pairs(pairs[HELD_OUT:], "learned"), Pairs(pairs[:HELD_OUT], "held out")


@pytest.mark.parametrize("task", ["copy", "reverse"])
def test_universal_transformer_learns(task: str, tmp_path: Path) -> None:
    learned, held_out = strings(task == "reverse")
    configuration = small("universal-transformer", *SETTINGS)
    result = train(configuration, learned, held_out, tmp_path / "run", progress=False)
    assert result.score >= 90.0, f"{result.score:.1f} % of the held-out strings"
