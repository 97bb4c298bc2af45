"""Hard attention in use: what it learns, what it shows, features, every way of decoding."""

import random
from typing import Any

import pytest
import torch

from regard.data.batches import Batch
from regard.models import ModelConfiguration, build_model
from regard.models.hard_attention_model import HardAttentionModel
from regard.search import (
    Ensemble,
    SearchConfiguration,
    beam_search,
    greedy_search,
    sample,
    score_targets,
)
from regard.training.objective import batch_loss

START, END = 2, 3
KINDS: dict[str, dict[str, Any]] = {
    "0-hard": {"order": 0, "monotonic": False},
    "0-mono": {"order": 0},
    "1-mono": {"order": 1, "jump": 3},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind: str, size: int, features: int = 0) -> HardAttentionModel:
    chosen = ModelConfiguration.model_validate(
        {
            "features": "encoder" if features else "joined",
            "embedding": {"size": size, "dropout": 0},
            "encoder": {"kind": "recurrent", "cell": "gru", "size": size // 2, "dropout": 0},
            "decoder": {
                "kind": "hard_attention",
                "cell": "gru",
                "size": size,
                "readout_size": size,
                "dropout": 0,
                "attention": {"size": size},
                **KINDS[kind],
            },
        }
    )
    model = build_model(chosen, 12 + features, 24, features)
    assert isinstance(model, HardAttentionModel)
    return model


def spell(symbol: int) -> list[int]:
    """Every symbol has an upper case; 5 is written twice, 7 not at all."""
    return [] if symbol == 7 else [symbol + 12] * (2 if symbol == 5 else 1)


def words(count: int, seed: int) -> list[list[int]]:
    generator = random.Random(seed)
    lengths = [generator.randint(2, 7) for _ in range(count)]
    return [[generator.randrange(4, 12) for _ in range(length)] for length in lengths]


def padded(rows: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, rows)) + 1
    ids = torch.tensor([[*row, END] + [0] * (longest - 1 - len(row)) for row in rows])
    return ids, torch.arange(longest) <= torch.tensor([len(row) for row in rows])[:, None]


def batch_of(rows: list[list[int]]) -> Batch:
    source, source_mask = padded(rows)
    outputs, mask = padded([[new for symbol in row for new in spell(symbol)] for row in rows])
    first = torch.full((len(rows), 1), START)
    inputs = torch.cat([first, outputs[:, :-1]], dim=1)
    return Batch(source, source_mask, inputs, outputs, mask, list(range(len(rows))))


@pytest.mark.parametrize("kind", ["0-mono", "1-mono"])
def test_learns_to_spell_and_where_from(kind: str) -> None:
    """Words never trained on are right, and each symbol is read where it comes from."""
    torch.manual_seed(1)
    model = make(kind, 32).train()
    optimizer = torch.optim.Adam(model.parameters())
    pool = words(4000, 1)
    updates = 90
    for update in range(updates):
        optimizer.param_groups[0]["lr"] = 0.015 * min(1, 2 * (updates - update) / updates)
        optimizer.zero_grad()
        batch_loss(model, batch_of(pool[update * 40 : update * 40 + 40])).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    unseen = words(100, 2)
    batch = batch_of(unseen)
    memory = model.encode(batch.source, batch.source_mask)
    found = greedy_search(model, memory, batch.source_mask.sum(1), SearchConfiguration())
    outputs = zip(batch.outputs, batch.mask, found, strict=True)
    right = [hypothesis.tokens == tuple(ids[real].tolist()) for ids, real, hypothesis in outputs]
    assert sum(right) > 0.8 * len(right), sum(right)
    where = model.posteriors(memory, batch.inputs, batch.outputs, batch.mask).argmax(-1)
    links = [
        where[row, step].item() == position
        for row, word in enumerate(unseen)
        for step, position in enumerate(i for i, symbol in enumerate(word) for _ in spell(symbol))
    ]
    assert sum(links) > 0.9 * len(links), sum(links) / len(links)


def random_model(kind: str, seed: int = 1, features: int = 0) -> HardAttentionModel:
    model = make(kind, 8, features)
    generator = torch.Generator().manual_seed(seed)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7, generator=generator)
    return model.eval()


@every_kind
@torch.no_grad()
def test_every_way_of_decoding_is_the_same_alone_and_in_a_batch(kind: str) -> None:
    """And what search says of its findings is what forced decoding says of them."""
    pair = Ensemble([random_model(kind), random_model("0-mono", 2)])
    batch = batch_of(words(3, 3))
    lengths = batch.source_mask.sum(1)
    limits = SearchConfiguration(beam=2, maximum_length_ratio=1.0, maximum_length_extra=1)
    for model in (random_model(kind), pair):
        memory = model.encode(batch.source, batch.source_mask)
        found = [
            [each[0] for each in beam_search(model, memory, lengths, limits)],
            greedy_search(model, memory, lengths, limits),
            sample(model, memory, lengths, limits, seed=4),
        ]
        for row, length in enumerate(lengths.tolist()):
            one = slice(row, row + 1)
            alone = model.encode(batch.source[one, :length], batch.source_mask[one, :length])
            (best,) = beam_search(model, alone, lengths[one], limits)[0]
            assert best.tokens == found[0][row].tokens
            assert best.score == pytest.approx(found[0][row].score, abs=1e-4)
            for hypotheses in found:
                tokens = torch.tensor([hypotheses[row].tokens])
                inputs = torch.cat([torch.tensor([[START]]), tokens[:, :-1]], dim=1)
                (scored,) = score_targets(
                    model, alone, inputs, tokens, torch.ones_like(tokens).bool()
                )
                assert scored.score == pytest.approx(hypotheses[row].score, abs=1e-4)
                assert torch.allclose(scored.attention, hypotheses[row].attention, atol=1e-4)


@every_kind
@torch.no_grad()
def test_features_read_apart_are_no_positions_but_count_at_every_step(kind: str) -> None:
    model = random_model(kind, features=4)
    rows = [[12, 14, 4, 5, 6, END], [13, 7, 8, END, 0, 0]]
    source = torch.tensor(rows)
    mask = source != 0
    inputs = torch.tensor([[2, 17, 18, 19], [2, 20, 21, 22]])
    decoded = model(source, mask, inputs)
    text = mask & (source < 12)
    assert (decoded.attention.transpose(1, 2)[~text] == 0).all()
    assert torch.allclose(decoded.attention.sum(-1), torch.ones(2, 4), atol=1e-5)
    other = model(source.masked_fill(source == 14, 15), mask, inputs)
    moved = (other.log_probabilities - decoded.log_probabilities).abs().amax(-1)
    assert (moved[0] > 1e-4).all() and (moved[1] == 0).all()
    alone = model(source[1:, :4], mask[1:, :4], inputs[1:])
    assert torch.allclose(alone.log_probabilities, decoded.log_probabilities[1:], atol=1e-5)
    state = model.start(model.encode(source, mask))
    for step, tokens in enumerate(inputs.t()):
        found, state, attention = model.step(tokens, state)
        assert torch.allclose(found, decoded.log_probabilities[:, step], atol=1e-5)
        assert torch.allclose(attention, decoded.attention[:, step], atol=1e-5)


@every_kind
def test_what_reads_apart_learns(kind: str) -> None:
    """Every parameter has a gradient, those of the features too."""
    model = random_model(kind, features=4)
    source, mask = torch.tensor([[12, 14, 4, 5, 6, END]]), torch.ones(1, 6).bool()
    inputs, outputs = torch.tensor([[2, 17, 18]]), torch.tensor([[17, 18, 3]])
    batch = Batch(source, mask, inputs, outputs, torch.ones(1, 3).bool(), [0])
    batch_loss(model, batch, 0.1).loss.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 0, name
