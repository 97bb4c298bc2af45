"""A job that trains in a second: reversing symbols, with a model of a few thousand numbers."""

import random
from pathlib import Path

from regard.data.pairs import Pair, Pairs
from regard.training.configuration import Configuration
from regard.training.problems import resolve


def reversals(count: int, seed: int = 5) -> Pairs:
    """`a b c` to `c b a`."""
    generator = random.Random(seed)
    pairs = []
    for _ in range(count):
        symbols = [generator.choice("abcdefgh") for _ in range(generator.randint(2, 7))]
        pairs.append(Pair(" ".join(symbols), " ".join(reversed(symbols))))
    return Pairs(tuple(pairs), "reversals", 0)


def tiny(kind: str = "recurrent", **training: object) -> Configuration:
    """A configuration for `reversals`, on one thread, with dropout."""
    side = {"kind": "space"}
    return resolve(
        {
            "recipe": "tiny",
            "tokenization": {"joint": True, "source": side, "target": side},
            "batching": {"tokens": 128},
            "model": _MODELS[kind],
            "training": {
                "learning_rate": 0.01,
                "warmup": 10,
                "validation_interval": 10,
                "maximum_updates": 25,
                "threads": 1,
                "metric": "exact_match",
                "average": {"kind": "best", "count": 3},
                **training,
            },
            "search": {"maximum_length_ratio": 1.0, "maximum_length_extra": 2},
        },
        "tiny",
    )


class Clock:
    """In place of `time` in the budget: every look at it takes a hundredth of a second."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 0.01
        return self.now


def read_all(directory: Path) -> dict[str, bytes]:
    """Every file under a directory."""
    files = sorted(path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


_MODELS = {
    "recurrent": {
        "embedding": {"size": 12, "dropout": 0.1, "share": True},
        "encoder": {"kind": "recurrent", "size": 12, "dropout": 0.1},
        "decoder": {
            "kind": "recurrent",
            "size": 12,
            "attention": {"size": 12},
            "readout_size": 12,
            "dropout": 0.1,
        },
    },
    "pointer": {
        "embedding": {"size": 12, "dropout": 0.1, "share": True},
        "encoder": {"kind": "recurrent", "size": 12, "dropout": 0.1},
        "decoder": {
            "kind": "recurrent",
            "size": 12,
            "attend": "after",
            "attention": {"score": "general"},
            "readout": "attentional",
            "readout_size": 12,
            "dropout": 0.1,
            "copying": True,
            "copying_unseen": 0.2,
        },
    },
    "transformer": {
        "embedding": {"size": 16, "share": True, "tie_output": True, "scaled": True},
        "encoder": {"kind": "transformer", "layers": 1, "heads": 2, "feed_forward_size": 16},
        "decoder": {"kind": "transformer", "layers": 1, "heads": 2, "feed_forward_size": 16},
    },
}
