"""`training.matrix_products`: bfloat16 in training, in every thread, and nowhere else."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.data.batches import collate, encode_pairs
from regard.data.tokenizers import train_tokenizers
from regard.errors import UserError
from regard.models import build_model
from regard.nn.kernels import normed_linears, products, residual_linear
from regard.nn.kernels.products import rounded_factors
from regard.training import loop, loss_chunks, preparation, session, shards
from regard.training.loss import linear_cross_entropy
from regard.training.run import read_configuration
from regard.training.shards import Shards
from regard.training.train import train

from .tiny import reversals, tiny

TRAIN, VALID = reversals(60), reversals(8, seed=6)


@pytest.fixture(autouse=True)
def every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is exact everywhere, if slow."""
    monkeypatch.setattr(preparation, "multiplies_bfloat16", lambda: True)


def apart(one: Tensor, other: Tensor) -> float:
    return ((one - other).norm() / other.norm()).item()


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_near(smoothing: float) -> None:
    given = [torch.randn(90, 32), 0.3 * torch.randn(70, 32), 0.1 * torch.randn(70)]
    inputs = [tensor.requires_grad_() for tensor in given]
    targets = torch.randint(0, 70, (90,))
    found = []
    for rounded in (False, True):
        with rounded_factors(rounded):
            loss = linear_cross_entropy(*inputs, targets, smoothing, rows=40).loss
        found.append([loss, *torch.autograd.grad(loss, inputs)])
    exact, rounded_ones = found
    assert apart(rounded_ones[0], exact[0]) < 1e-3
    for one, other in zip(rounded_ones[1:], exact[1:], strict=True):
        assert 1e-5 < apart(one, other) < 1e-2


def test_every_thread_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "POSITIONS", 1)
    tokenizers = train_tokenizers(tiny().tokenization, TRAIN, 1)
    torch.manual_seed(2)
    model = build_model(tiny("transformer").model, tokenizers.source.size, tokenizers.target.size)
    batch, found = collate(encode_pairs(TRAIN, tokenizers), range(20)), {}
    for threads, rounded in ((1, False), (1, True), (2, True)):
        Shards(model.eval(), threads, rounded).backward(batch, 0.1)
        gradients = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        found[threads, rounded] = torch.cat(gradients)
    assert 1e-4 < apart(found[1, True], found[1, False]) < 3e-2
    # A thread that did not round would leave half of the difference.
    assert apart(found[2, True], found[1, False]) > 0.8 * apart(found[1, True], found[1, False])


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It learns as float32 does, says what it did, and validates in full precision."""
    types: dict[str, set[torch.dtype]] = {}
    training, multiplied = [True], products.factor

    def seen(tensor: Tensor) -> Tensor:
        found = multiplied(tensor)
        types.setdefault("training" if training[-1] else "validation", set()).add(found.dtype)
        return found

    def validated(*arguments: Any) -> Any:
        training.append(False)
        try:
            return validate(*arguments)
        finally:
            training.pop()

    validate = session.validate
    monkeypatch.setattr(session, "validate", validated)
    for module in (loss_chunks, normed_linears, residual_linear):
        monkeypatch.setattr(module, "factor", seen)
    monkeypatch.setattr(loop, "LOG_INTERVAL", 60)
    losses = {}
    for kind in ("float32", "bfloat16"):
        types.clear()
        configuration = tiny("transformer", matrix_products=kind, maximum_updates=60)
        train(configuration, TRAIN, VALID, tmp_path / kind, progress=False)
        assert types["training"] == {getattr(torch, kind)}
        assert types["validation"] == {torch.float32}
        assert read_configuration(tmp_path / kind)[0].training.matrix_products == kind
        told = (tmp_path / kind / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        (last,) = [line for line in map(json.loads, told) if line["kind"] == "training"]
        losses[kind] = last["loss"]
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.02)
    assert losses["bfloat16"] != losses["float32"]


def test_refused_where_it_would_be_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "multiplies_bfloat16", lambda: False)
    configuration = tiny("transformer", matrix_products="bfloat16")
    with pytest.raises(UserError, match=r"training\.matrix_products.*set it to float32"):
        train(configuration, TRAIN, VALID, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()
