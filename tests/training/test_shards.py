"""A batch computed in parts, side by side: the same numbers, and the same again."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.data.batches import Batch, collate, encode_pairs, split
from regard.data.tokenizers import train_tokenizers
from regard.models import Model, build_model
from regard.models.model import Features
from regard.training import shards
from regard.training.configuration import Configuration
from regard.training.interruption import TrainingInterrupted
from regard.training.loss import Loss
from regard.training.objective import batch_loss
from regard.training.shards import Shards
from regard.training.train import train

from .outcome import assert_same
from .tiny import reversals, tiny

TRAIN, VALID = reversals(60), reversals(8, seed=6)
KINDS = ["recurrent", "pointer", "transformer"]


@pytest.fixture(autouse=True)
def restored_threads() -> Any:
    """Torch's number of threads, afterwards, is what it was."""
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shards of any size are worth a thread's while."""
    monkeypatch.setattr(shards, "POSITIONS", 1)


def job(kind: str, **decoder: Any) -> tuple[Model, Batch]:
    tokenizers = train_tokenizers(tiny().tokenization, TRAIN, 1)
    torch.manual_seed(2)
    configuration = tiny(kind).model
    configuration = configuration.model_copy(
        update={"decoder": configuration.decoder.model_copy(update=decoder)}
    )
    model = build_model(configuration, tokenizers.source.size, tokenizers.target.size)
    return model, collate(encode_pairs(TRAIN, tokenizers), range(20))


def twice(batch: Batch, rows: int) -> Batch:
    """The first rows, and the same again."""
    chosen_rows = torch.arange(rows).repeat(2)
    chosen = (batch.source, batch.source_mask, batch.inputs, batch.outputs, batch.mask)
    return Batch(*(tensor[chosen_rows] for tensor in chosen), chosen_rows.tolist())


def computed(model: Model, batch: Batch, threads: int) -> tuple[Loss, list[Tensor]]:
    loss = Shards(model, threads).backward(batch, 0.1)
    gradients = [parameter.grad for parameter in model.parameters()]
    assert all(gradient is not None for gradient in gradients)
    return loss, [gradient for gradient in gradients if gradient is not None]


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_whole_batch(kind: str, small: None) -> None:
    model, batch = job(kind)
    model = model.eval().double()
    whole = computed(model, batch, 1)
    for threads in (2, 3, 50):
        torch.testing.assert_close(computed(model, batch, threads), whole, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_one_thread_computes_as_autograd_does(kind: str) -> None:
    model, batch = job(kind)
    torch.manual_seed(5)
    loss, found = computed(model.train(), batch, 1)
    torch.manual_seed(5)
    expected = batch_loss(model, batch, 0.1)
    model.zero_grad()
    expected.loss.backward()
    assert loss.loss.item() == expected.loss.item()
    for parameter, gradient in zip(model.parameters(), found, strict=True):
        assert torch.equal(parameter.grad, gradient)


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_follows_the_seed_alone(kind: str, small: None) -> None:
    """Bit by bit, whichever thread is the faster one."""
    model, batch = job(kind)
    found = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        found.append(computed(model.train(), batch, 2)[1])
    assert all(torch.equal(*pair) for pair in zip(found[0], found[1], strict=True))
    assert not all(torch.equal(*pair) for pair in zip(found[0], found[2], strict=True))


def test_shards_drop_different_elements(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = job("transformer")
    features = model.features
    kept: list[Tensor] = []

    def recorded(*arguments: Tensor) -> Features:
        found = features(*arguments)
        kept.append(found.values.detach())
        return found

    monkeypatch.setattr(model, "features", recorded)
    computed(model.train(), twice(batch, 10), 2)
    assert len(kept) == 2 and kept[0].shape == kept[1].shape
    assert not torch.allclose(kept[0], kept[1])


@pytest.mark.parametrize("kind", KINDS)
def test_resuming_changes_nothing(kind: str, small: None, tmp_path: Path) -> None:
    configuration = tiny(kind, threads=2, maximum_updates=15)
    run(tmp_path / "whole", configuration)
    for asked in (6, 5):
        with pytest.raises(TrainingInterrupted):
            run(tmp_path / "stopped", configuration, StopAt(asked))
    run(tmp_path / "stopped", configuration)
    assert_same(tmp_path / "whole", tmp_path / "stopped")
    assert torch.get_num_threads() == 2


class StopAt:
    """A `stop` that gives a signal when it is asked for the n-th time."""

    def __init__(self, asked: int) -> None:
        self.left = asked

    def __call__(self) -> int | None:
        self.left -= 1
        return 2 if self.left < 0 else None


def run(out: Path, configuration: Configuration, stop: StopAt | None = None) -> None:
    train(configuration, TRAIN, VALID, out, progress=False, resume=True, stop=stop)


def test_what_draws_globally_stays_whole() -> None:
    """Its random numbers would depend on which thread is the faster one."""
    assert Shards(job("transformer")[0], 2).most == 2
    assert Shards(job("transformer", attention_dropout=0.1)[0], 2).most == 1


def test_small_batches_stay_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model, batch = job("transformer")
    positions = batch.source_mask.numel() + batch.mask.numel()
    calls: list[Batch] = []
    compute = Shards._compute

    def counted(self: Shards, shard: Batch, *rest: Any) -> Any:
        calls.append(shard)
        return compute(self, shard, *rest)

    monkeypatch.setattr(Shards, "_compute", counted)
    for least, expected in ((positions, 1), (positions // 2, 2), (positions // 3, 3), (1, 4)):
        monkeypatch.setattr(shards, "POSITIONS", least)
        calls.clear()
        computed(model, batch, 4)
        assert len(calls) == expected


@pytest.mark.parametrize("shard", [0, 1])
def test_a_fault_in_a_shard_is_told(
    shard: int, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, batch = job("transformer")
    torch.set_num_threads(2)
    features, bad = model.features, split(batch, 2)[shard].source

    def faulty(source: Tensor, *rest: Tensor) -> Tensor:
        if torch.equal(source, bad):
            raise RuntimeError("out of memory")
        return features(source, *rest)

    monkeypatch.setattr(model, "features", faulty)
    with pytest.raises(RuntimeError, match="out of memory"):
        Shards(model, 2).backward(batch, 0.1)
    assert torch.get_num_threads() == 2
