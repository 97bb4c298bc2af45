"""Each family learns: strings of symbols come out reversed, strings never trained on."""

import random

import pytest
import torch

from regard.models import Model, build_model
from regard.search import SearchConfiguration, greedy_search
from regard.training.loss import linear_cross_entropy
from regard.training.recipes import load_recipe

PAD, START, END = 0, 2, 3
SYMBOLS = range(4, 12)
String = tuple[int, ...]

NO_DROPOUT = [
    "model.embedding.dropout=0",
    "model.encoder.dropout=0",
    "model.decoder.dropout=0",
    "model.embedding.size=32",
]
RECURRENT = [
    *NO_DROPOUT,
    "model.initialization=glorot",  # what papers have is for wider models
    "model.encoder.size=32",
    "model.decoder.readout_size=32",
]
TRANSFORMER = [
    f"model.{side}.{key}"
    for side in ("encoder", "decoder")
    for key in ("layers=1", "feed_forward_size=64")
]

UNIVERSAL = [
    f"model.{side}.{key}"
    for side in ("encoder", "decoder")
    for key in ("steps=3", "feed_forward_size=64")
]

#: Recipe, how it is made small, updates, learning rate.
FAMILIES = {
    "seq2seq": ([*RECURRENT, "model.decoder.size=64"], 240, 0.01),
    "rnnsearch": (
        [*RECURRENT, "model.decoder.size=32", "model.decoder.attention.size=32"],
        150,
        0.01,
    ),
    "luong-dot": ([*RECURRENT, "model.decoder.size=64"], 150, 0.01),
    "luong-general": ([*RECURRENT, "model.decoder.size=64"], 150, 0.01),
    "transformer-tiny": ([*NO_DROPOUT, *TRANSFORMER], 280, 0.005),
    "universal-transformer": ([*NO_DROPOUT, *UNIVERSAL], 280, 0.005),
    "universal-transformer-act": ([*NO_DROPOUT, *UNIVERSAL], 280, 0.005),
}


def strings(seed: int, count: int, *, held_out: bool) -> list[String]:
    """Different strings of 2 to 6 symbols; one in five of all there are is held out."""
    generator, found = random.Random(seed), set()
    while len(found) < count:
        string = tuple(generator.choice(SYMBOLS) for _ in range(generator.randint(2, 6)))
        checksum = sum((i + 1) * symbol for i, symbol in enumerate(string))
        if (checksum % 5 == 0) == held_out:
            found.add(string)
    return sorted(found)


def padded(rows: list[String]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids with the end symbol and padding, and the mask of what is real."""
    longest = max(map(len, rows)) + 1
    ids = [[*row, END] + [PAD] * (longest - 1 - len(row)) for row in rows]
    lengths = torch.tensor([len(row) + 1 for row in rows])
    return torch.tensor(ids), torch.arange(longest)[None] < lengths[:, None]


def train(model: Model, updates: int, rate: float) -> None:
    """Adam with a short warm-up and a linear end."""
    pool = strings(1, 8000, held_out=False)
    generator = random.Random(2)
    optimizer = torch.optim.Adam(model.parameters(), rate, betas=(0.9, 0.98))
    model.train()
    for update in range(updates):
        rows = generator.sample(pool, 64)
        source, mask = padded(rows)
        outputs, real = padded([row[::-1] for row in rows])
        inputs = torch.cat([torch.full((64, 1), START), outputs[:, :-1]], dim=1)
        features = model.features(source, mask, inputs, real).values
        loss = linear_cross_entropy(features, *model.output_weights(), outputs[real]).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        share = min(1.0, (update + 1) / 40, 2.5 * (updates - update) / updates)
        optimizer.param_groups[0]["lr"] = rate * share
        optimizer.step()


@torch.no_grad()
def exact(model: Model, rows: list[String]) -> float:
    """Share of strings that greedy search reverses without a fault."""
    source, mask = padded(rows)
    memory = model.eval().encode(source, mask)
    found = greedy_search(model, memory, mask.sum(1), SearchConfiguration())
    right = [h.tokens == (*row[::-1], END) for h, row in zip(found, rows, strict=True)]
    return sum(right) / len(right)


@pytest.mark.parametrize("recipe", FAMILIES)
def test_learns_to_reverse(recipe: str) -> None:
    overrides, updates, rate = FAMILIES[recipe]
    torch.manual_seed(1)
    model = build_model(load_recipe(recipe, overrides).model, 12, 12)
    unseen = strings(3, 300, held_out=True)
    assert exact(model, unseen) < 0.05
    train(model, updates, rate)
    assert exact(model, unseen) > 0.9
