"""Training from the beginning to an end: what is written, when it ends, what is refused."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from regard.data.batches import collate, encode_pairs
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import train_tokenizers
from regard.errors import UserError
from regard.evaluation.score import Score
from regard.models import build_model
from regard.training import budget, loop, session
from regard.training.configuration import Configuration
from regard.training.ending import TrainingResult
from regard.training.loss import linear_cross_entropy
from regard.training.metrics import read_metrics
from regard.training.progress import Glance, Silence
from regard.training.run import load_run
from regard.training.schedule import learning_rate
from regard.training.tensors import model_tensors, read_tensors
from regard.training.train import train
from regard.training.validation import Validation, prepare_validation, validate

from .tiny import Clock, reversals, tiny

TRAIN, VALID = reversals(60), reversals(8, seed=6)


class Told(Silence):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.glances: list[Glance] = []
        self.closed = False

    def message(self, text: str) -> None:
        self.messages.append(text)

    def training(self, glance: Glance) -> None:
        self.glances.append(glance)

    def close(self) -> None:
        self.closed = True


def run(out: Path, configuration: Configuration | None = None, **options: Any) -> TrainingResult:
    options = {"progress": False, **options}
    return train(configuration or tiny(), TRAIN, VALID, out, **options)


def lines(out: Path, kind: str) -> list[dict[str, Any]]:
    return [line for line in read_metrics(out / "metrics.jsonl") if line["kind"] == kind]


def scores(monkeypatch: pytest.MonkeyPatch, *values: float, seconds: float = 0.01) -> None:
    """Let the validations of a run give these, one after the other."""
    left = list(values)

    def given(*_: object) -> Validation:
        return Validation(Score("exact_match", left.pop(0), None, "higher"), 2.0, seconds)

    monkeypatch.setattr(session, "validate", given)


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_a_run(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LOG_INTERVAL", 10)
    out, told = tmp_path / "run", Told()
    configuration = tiny(kind, warmup=10, maximum_updates=50, validation_interval=20)
    result = run(out, configuration, progress=told)
    assert (result.reason, result.step, result.metric) == ("maximum_updates", 50, "exact_match")
    assert result.directory == out and told.closed

    (start,) = lines(out, "start")
    assert (start["pairs"], start["too_long"], start["blank"]) == (60, 0, 0)
    assert start["vocabulary"] == {"source": 12, "target": 12} and start["joint"]
    assert start["parameters"] == sum(p.numel() for p in load_run(out).model.parameters())
    assert 0 < start["padding"] < 0.5 and start["threads"] == 1

    training = lines(out, "training")
    assert [line["step"] for line in training] == [10, 20, 30, 40, 50]
    assert training[-1]["loss"] < training[0]["loss"]
    for line in training:
        assert line["learning_rate"] == learning_rate(line["step"], configuration.training)
        assert line["perplexity"] > 1 and 0 <= line["padding"] < 0.5
    tokens = sum(len(pair.target.split()) + 1 for pair in TRAIN)
    epochs, rest = divmod(50, start["batches"])
    assert epochs * tokens <= training[-1]["target_tokens"] <= (epochs + (rest > 0)) * tokens
    assert training[-1]["epoch"] == epochs + (rest > 0)
    assert result.target_tokens == training[-1]["target_tokens"] == training[-1]["source_tokens"]

    assert [line["step"] for line in lines(out, "validation")][:3] == [20, 40, 50]
    (end,) = lines(out, "end")
    assert end["exact_match"] == result.score and end["reason"] == "maximum_updates"
    assert [glance.step for glance in told.glances] == list(range(1, 51))
    assert told.glances[-1].share == 1 and told.glances[-1].seconds_left == 0
    assert any("60 pairs of reversals" in message for message in told.messages)
    assert any("1 thread" in message for message in told.messages)


def test_exactly_one_epoch_counts_every_token_once(tmp_path: Path) -> None:
    result = run(tmp_path / "run", tiny(maximum_epochs=1, maximum_updates=0))
    assert (result.reason, result.epoch) == ("maximum_epochs", 1)
    assert result.target_tokens == sum(len(pair.target.split()) + 1 for pair in TRAIN)


def test_the_model_is_the_best_validated_one(tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = run(out, tiny(maximum_updates=90, validation_interval=30))
    loaded = load_run(out)
    data = prepare_validation(VALID, loaded.tokenizers, loaded.configuration)
    again = validate(
        loaded.model, loaded.tokenizers, data, loaded.configuration, lambda done, total: None
    )
    assert again.score.value == result.score
    validations = lines(out, "validation")
    assert result.score == max(line["exact_match"] for line in validations)
    kept = next(line for line in validations if line["exact_match"] == result.score)
    assert again.perplexity == pytest.approx(kept["perplexity"], rel=1e-5)


def weights(out: Path, step: int) -> dict[str, torch.Tensor]:
    path = out / "checkpoints" / f"weights-{step:08d}.safetensors"
    return read_tensors(path, "weights")[0]


def test_a_better_average_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores(monkeypatch, 10, 30, 20, 40)
    out, told = tmp_path / "run", Told()
    result = run(out, tiny(maximum_updates=30, average={"count": 2}), progress=told)
    assert (result.score, result.best_step, result.averaged) == (40, 20, (20, 30))
    model = model_tensors(load_run(out).model)
    one, other = weights(out, 20), weights(out, 30)
    for name, tensor in model.items():
        torch.testing.assert_close(tensor, (one[name] + other[name]) / 2)
    assert lines(out, "validation")[-1]["average_of"] == [20, 30]
    assert lines(out, "end")[0]["averaged"] == [20, 30]
    assert any("40.00, which is better: it is kept" in message for message in told.messages)


@pytest.mark.parametrize("average", [30.0, 29.0])
def test_an_average_that_is_no_better_is_not_kept(
    average: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores(monkeypatch, 10, 30, 20, average)
    out, told = tmp_path / "run", Told()
    result = run(out, tiny(maximum_updates=30), progress=told)
    assert (result.score, result.best_step, result.averaged) == (30, 20, ())
    model = model_tensors(load_run(out).model)
    for name, tensor in weights(out, 20).items():
        assert torch.equal(model[name], tensor)
    assert any("not better than 30.00: not kept" in message for message in told.messages)


def test_without_averaging_no_weights_are_kept(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run(out, tiny(maximum_updates=20, average={"kind": "none"}))
    assert not list(out.glob("checkpoints/weights-*"))
    assert all("average_of" not in line for line in lines(out, "validation"))


def test_patience(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores(monkeypatch, 30, 20, 31, 31, 10, 31)
    result = run(tmp_path / "run", tiny(maximum_updates=500, validation_interval=5, patience=2))
    assert (result.reason, result.step, result.best_step) == ("patience", 25, 15)


def test_minutes_are_kept_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the time at most is kept for the end, here all of that half."""
    monkeypatch.setattr(budget, "time", Clock())
    scores(monkeypatch, *range(1, 100), seconds=1e6)
    out = tmp_path / "run"
    configuration = tiny(maximum_updates=0, patience=0, validation_interval=10)
    result = run(out, configuration, minutes=2 / 60)
    assert result.reason == "minutes" and result.step > 10
    assert 1 < result.elapsed_seconds < 1.2
    assert load_run(out)


def test_minutes_too_few_for_an_update_still_leave_a_model(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run(out, minutes=1e-6).step == 0
    assert load_run(out)


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_padding_changes_neither_loss_nor_gradient(kind: str) -> None:
    """Padding of any width, filled with any ids."""
    tokenizers = train_tokenizers(tiny().tokenization, TRAIN, 1)
    model = build_model(tiny(kind).model, tokenizers.source.size, tokenizers.target.size).eval()
    batch = collate(encode_pairs(TRAIN, tokenizers), range(9))
    found = []
    for extra, filling in ((0, 0), (3, 0), (7, 5)):
        source, inputs, outputs = (
            F.pad(ids, (0, extra), value=filling)
            for ids in (batch.source, batch.inputs, batch.outputs)
        )
        source_mask, mask = (F.pad(m, (0, extra)) for m in (batch.source_mask, batch.mask))
        features = model.features(source, source_mask, inputs, mask).values
        loss = linear_cross_entropy(features, *model.output_weights(), outputs[mask], 0.1).loss
        found.append((loss, *torch.autograd.grad(loss, list(model.parameters()))))
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-4, atol=1e-6)


def test_training_that_diverges_says_so(tmp_path: Path) -> None:
    out = tmp_path / "run"
    configuration = tiny(learning_rate=1e30, warmup=0, schedule="constant")
    with pytest.raises(UserError) as caught:
        run(out, configuration)
    message = str(caught.value)
    assert "no longer a number at update" in message and "training.learning_rate (1e+30)" in message
    assert (out / "checkpoints").is_dir()


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (Pairs((), "nothing.tsv", 0), "nothing.tsv: there are no training pairs"),
        (Pairs((Pair("a " * 300, "b"),), "long.tsv", 0), "long.tsv: every pair has more than"),
    ],
)
def test_data_that_cannot_be_trained_on(pairs: Pairs, said: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(UserError) as caught:
        train(tiny(), pairs, VALID, out, progress=False)
    assert said in str(caught.value) and not out.exists()


def test_validation_without_pairs(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(UserError, match="there are no validation pairs"):
        train(tiny(), TRAIN, Pairs((), "nothing", 0), out, progress=False)
    assert not out.exists()


def test_training_that_nothing_would_end(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing would ever end"):
        run(tmp_path / "run", tiny(maximum_updates=0, patience=0))


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), float("inf")])
def test_minutes_that_are_no_time(minutes: float, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="minutes is"):
        run(tmp_path / "run", minutes=minutes)


def test_a_model_whose_sizes_do_not_fit(tmp_path: Path) -> None:
    data = tiny("transformer").as_dict()
    data["model"]["encoder"]["heads"] = 5
    out = tmp_path / "run"
    with pytest.raises(UserError, match="model"):
        run(out, Configuration.model_validate(data))
    assert not out.exists()


def fill_disk_after(writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    left = [writes]
    real = os.fsync

    def fsync(descriptor: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)


@pytest.mark.parametrize("writes", [0, 3, 6])
def test_a_disk_that_is_full_from_the_start_leaves_nothing(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    fill_disk_after(writes, monkeypatch)
    with pytest.raises(UserError, match="the disk is full"):
        run(out)
    assert not out.exists()


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    pairs = Pairs((*TRAIN.pairs, Pair("a " * 300, "b")), "mixed.tsv", 7)
    told = Told()
    out = tmp_path / "run"
    train(tiny(maximum_updates=1), pairs, VALID, out, progress=told)
    (start,) = lines(out, "start")
    assert (start["pairs"], start["too_long"], start["blank"]) == (60, 1, 7)
    first = told.messages[0]
    assert "60 pairs of mixed.tsv" in first
    assert "1 left out" in first and "7 dropped" in first
