"""R-Drop: Liang et al. 2021, section 2, equations 1 to 4, sentence by sentence in numpy."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.data.batches import Batch
from regard.models import Model
from regard.training.objective import batch_loss

from .build import SOURCES, TARGET_VOCABULARY, batch, build

MASK = torch.tensor([[True, True, True], [True, True, False], [True, False, False]])
DECODERS: dict[str, dict[str, Any]] = {
    "recurrent": {"kind": "recurrent", "size": 6, "attention": {"size": 7}, "readout_size": 3},
    "transformer": {"kind": "transformer", "layers": 1, "heads": 2, "feed_forward_size": 7},
    "hard attention": {"kind": "hard_attention", "size": 6, "readout_size": 5},
}


def made(decoder: str) -> tuple[Model, Batch]:
    """A model in training, with much dropout, and three pairs with padding on both sides."""
    chosen = {"dropout": 0.4, **DECODERS[decoder]}
    encoder = {"kind": "recurrent", "size": 4, "dropout": 0.4}
    sections = {"embedding": {"size": 8}, "encoder": encoder, "decoder": chosen}
    source, source_mask, inputs = batch()
    outputs = torch.tensor([[12, 4, 3], [5, 3, 0], [3, 0, 0]])
    indices = list(range(len(SOURCES)))
    return build(sections).train(), Batch(source, source_mask, inputs, outputs, MASK, indices)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    return logits - np.log(np.exp(logits).sum())


def paper(one: np.ndarray, other: np.ndarray, target: int, alpha: float, s: float) -> float:
    """Equation 4 at one token, of log-probabilities; s: label smoothing, within equation 3."""

    def loss(logs: np.ndarray) -> float:
        return float(-(1 - s) * logs[target] - s * logs.mean())

    def kl(p: np.ndarray, q: np.ndarray) -> float:
        return float(sum(np.exp(a) * (a - b) for a, b in zip(p, q, strict=True)))

    return loss(one) + loss(other) + alpha / 2 * (kl(one, other) + kl(other, one))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("decoder", DECODERS)
def test_half_of_the_papers_loss(decoder: str, smoothing: float) -> None:
    """The mean over the real tokens, of two passes whose dropout differs."""
    model, given = made(decoder)
    torch.manual_seed(4)
    found = batch_loss(model, given, smoothing, r_drop=3.0)
    torch.manual_seed(4)
    with torch.no_grad():
        passes = [
            model(given.source, given.source_mask, given.inputs).log_probabilities.numpy()
            for _ in range(2)
        ]
    assert np.abs(passes[0] - passes[1]).max() > 0.01
    losses, plain = [], []
    for row, step in MASK.nonzero().tolist():
        one, other = (log_softmax(each[row, step]) for each in passes)
        assert len(one) == TARGET_VOCABULARY
        target = int(given.outputs[row, step])
        losses.append(paper(one, other, target, 3.0, smoothing) / 2)
        plain.append(-(one[target] + other[target]) / 2)
    assert found.loss.item() == pytest.approx(np.mean(losses), rel=1e-10)
    assert found.negative_log_likelihood.item() == pytest.approx(np.mean(plain), rel=1e-10)


@pytest.mark.parametrize("decoder", DECODERS)
def test_gradients_go_through_both_passes(decoder: str) -> None:
    """They are those of small steps, with the same dropout at each."""
    model, given = made(decoder)

    def loss() -> Tensor:
        torch.manual_seed(4)
        return batch_loss(model, given, 0.1, r_drop=3.0).loss

    weight = model.target_embedding.weight
    (gradient,) = torch.autograd.grad(loss(), weight)
    for row, column in ((2, 0), (12, 5), (5, 3)):
        with torch.no_grad():
            sides = []
            for step in (1e-5, -2e-5, 1e-5):
                weight[row, column] += step
                sides.append(loss().item())
        slope = (sides[0] - sides[1]) / 2e-5
        assert gradient[row, column].item() == pytest.approx(slope, rel=1e-5, abs=1e-8)
