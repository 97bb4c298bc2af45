"""R-Drop's loss over an output layer: the formula, without the logits; and trained with."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.data.batches import collate, encode_pairs
from regard.data.tokenizers import train_tokenizers
from regard.errors import UserError
from regard.models import Model, build_model
from regard.training import shards
from regard.training.interruption import TrainingInterrupted
from regard.training.loss import linear_cross_entropy
from regard.training.metrics import read_metrics
from regard.training.objective import batch_loss
from regard.training.problems import resolve
from regard.training.r_drop import divergence, paired_cross_entropy, paired_loss
from regard.training.train import train

from .outcome import assert_same
from .test_loss import layer
from .test_resume import StopAt
from .tiny import reversals, tiny

TRAIN, VALID = reversals(60), reversals(8, seed=6)
ALPHA = 5.0


def passes(dtype: torch.dtype = torch.float64) -> tuple[tuple[Tensor, Tensor], Tensor, Tensor]:
    """Features of two passes, weight and bias as a pair, targets."""
    features, weight, bias, targets = layer(dtype)
    other = (features.detach() + 0.3 * torch.randn_like(features)).requires_grad_()
    return (features, other), (weight, bias), targets


def by_formula(features: Any, weights: Any, targets: Tensor, smoothing: float) -> Any:
    one, other = (torch.nn.functional.linear(each, *weights).log_softmax(-1) for each in features)
    return paired_loss((one, other), targets, one.shape[1], ALPHA, smoothing)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("rows", [1, 8, 1000, None])
def test_chunks_equal_the_formula(smoothing: float, rows: int | None) -> None:
    features, weights, targets = passes()
    fused = paired_cross_entropy(features, *weights, targets, ALPHA, smoothing, rows)
    formula = by_formula(features, weights, targets, smoothing)
    torch.testing.assert_close(tuple(fused), tuple(formula), rtol=1e-12, atol=1e-12)
    for mine, theirs in zip(
        torch.autograd.grad(3 * fused.loss, [*features, *weights]),
        torch.autograd.grad(3 * formula.loss, [*features, *weights]),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs, rtol=1e-11, atol=1e-12)


def test_gradients_are_those_of_small_steps() -> None:
    features, weights, targets = passes()

    def loss(one: Tensor, other: Tensor, *weights: Tensor) -> Tensor:
        return paired_cross_entropy((one, other), *weights, targets[:6], ALPHA, 0.1, 4).loss

    assert torch.autograd.gradcheck(loss, (features[0][:6], features[1][:6], *weights))


def test_equal_passes_have_no_distance() -> None:
    features, weights, targets = passes()
    twice = (features[0], features[0])
    plain = linear_cross_entropy(features[0], *weights, targets, 0.1)
    found = paired_cross_entropy(twice, *weights, targets, ALPHA, 0.1)
    torch.testing.assert_close(tuple(found), tuple(plain))


def test_distance_by_hand() -> None:
    """(3/4, 1/4, 0) and (1/4, 3/4, 0): each divergence is ln 3 / 2."""
    one = torch.tensor([[0.75, 0.25, 0.0]], dtype=torch.float64).log().requires_grad_()
    other = one.detach()[:, [1, 0, 2]]
    found = divergence(one, other)
    torch.testing.assert_close(found, torch.tensor([3.0], dtype=torch.float64).log())
    assert torch.autograd.grad(found.sum(), one)[0].isfinite().all()


def test_extreme_logits_stay_finite() -> None:
    features, weights, targets = passes(torch.float32)
    far = (features[0] * 500, features[1] * -500)
    found = paired_cross_entropy(far, *weights, targets, ALPHA, 0.1)
    formula = by_formula(far, weights, targets, 0.1)
    torch.testing.assert_close(tuple(found), tuple(formula), rtol=1e-4, atol=1e-4)
    assert all(each.isfinite().all() for each in torch.autograd.grad(found.loss, weights))


def test_no_logits_are_kept() -> None:
    features = tuple(torch.randn(200, 4, requires_grad=True) for _ in range(2))
    weight = torch.randn(300, 4, requires_grad=True)
    kept: list[int] = []

    def pack(tensor: Tensor) -> Tensor:
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        paired_cross_entropy(features, weight, None, torch.arange(200), ALPHA, 0.1, rows=16)
    assert kept and max(kept) <= max(weight.numel(), 2 * features[0].numel())


def test_wrong_targets_are_refused() -> None:
    features, weights, targets = passes()
    with pytest.raises(ValueError, match="37 rows of features and 1 targets"):
        paired_cross_entropy(features, *weights, targets[:1], ALPHA)


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_both_routes_give_the_same_loss_and_gradients(kind: str) -> None:
    """By the output layer, and from all log-probabilities of a model that is no such layer."""
    tokenizers = train_tokenizers(tiny().tokenization, TRAIN, 1)
    torch.manual_seed(2)
    model: Model = build_model(tiny(kind).model, tokenizers.source.size, tokenizers.target.size)
    model.double().train()
    batch = collate(encode_pairs(TRAIN, tokenizers), range(12))
    found = []
    for fused in (True, False):
        model.fused_output = fused
        torch.manual_seed(7)
        loss = batch_loss(model, batch, 0.1, r_drop=ALPHA)
        found.append((*loss, *torch.autograd.grad(loss.loss, list(model.parameters()))))
    torch.testing.assert_close(found[0], found[1], rtol=1e-9, atol=1e-12)


def run(out: Path, kind: str, threads: int, stop: StopAt | None = None) -> None:
    data = tiny(kind, maximum_updates=12, threads=threads).as_dict()
    data["training"]["r_drop"] = 1.0
    if kind == "pointer":
        data["model"]["decoder"]["copying_unseen"] = 0.0
    configuration = resolve(data, kind)
    train(configuration, TRAIN, VALID, out, progress=False, resume=True, stop=stop)


@pytest.mark.parametrize(
    ("kind", "threads"), [("recurrent", 1), ("pointer", 1), ("transformer", 2)]
)
def test_training_is_resumed_bit_by_bit(
    kind: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "POSITIONS", 1)
    before = torch.get_num_threads()
    try:
        run(tmp_path / "whole", kind, threads)
        with pytest.raises(TrainingInterrupted):
            run(tmp_path / "stopped", kind, threads, StopAt(7))
        run(tmp_path / "stopped", kind, threads)
    finally:
        torch.set_num_threads(before)
    assert_same(tmp_path / "whole", tmp_path / "stopped")


def test_scheduled_sampling_goes_with_it(tmp_path: Path) -> None:
    """Both passes read the same mixture, and training learns."""
    forcing = {"kind": "constant", "share": 0.7}
    out = tmp_path / "run"
    settings = {"maximum_updates": 50, "validation_interval": 50}
    configuration = tiny(r_drop=1.0, teacher_forcing=forcing, **settings)
    train(configuration, TRAIN, VALID, out, progress=False)
    (line,) = (line for line in read_metrics(out / "metrics.jsonl") if line["kind"] == "training")
    assert 1.0 < line["loss"] < math.log(len("abcdefgh") + 1)


def test_symbols_hidden_at_random_are_refused() -> None:
    with pytest.raises(UserError, match=r"training.r_drop .* model.decoder.copying_unseen"):
        tiny("pointer", r_drop=1.0)
