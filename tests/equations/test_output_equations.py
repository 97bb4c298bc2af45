"""A15: log-probabilities throughout, never the logarithm of a softmax."""

import math

import pytest
import torch

from regard.nn.output import OutputLayer

from .build import SOURCE_VOCABULARY, SOURCES, batch, build
from .recurrent import log_softmax


def test_what_a_softmax_would_lose_is_kept() -> None:
    layer = OutputLayer(1, 3)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.0], [-1000.0], [0.0]]))
    found = layer(torch.ones(1, 1))
    assert found[0].tolist() == pytest.approx([-math.log(2), -1000 - math.log(2), -math.log(2)])
    found.sum().backward()
    assert layer.weight.grad is not None and layer.weight.grad.isfinite().all()


def test_is_the_log_of_a_distribution() -> None:
    layer = OutputLayer(5, 7).double()
    features = 3 * torch.randn(2, 3, 5, dtype=torch.float64)
    found = layer(features)
    for row in range(2):
        for step in range(3):
            logits = layer.weight.detach().numpy() @ features[row, step].numpy()
            assert abs(found[row, step].detach().numpy() - log_softmax(logits)).max() < 1e-12


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_at_least_float32(dtype: torch.dtype) -> None:
    layer = OutputLayer(5, 7).to(dtype)
    assert layer(torch.randn(2, 5, dtype=dtype)).dtype == torch.float32


def test_step_and_forward_give_distributions() -> None:
    model = build({"embedding": {"size": 5}, "encoder": {"size": 4}, "decoder": {"size": 6}})
    source, mask, inputs = batch()
    decoded = model(source, mask, inputs).log_probabilities
    assert torch.allclose(decoded.exp().sum(-1), torch.ones(3, 3, dtype=torch.float64), atol=1e-14)
    step = model.step(inputs[:, 0], model.start(model.encode(source, mask)))
    assert torch.allclose(step.log_probabilities.exp().sum(-1), torch.ones(3).double(), atol=1e-14)
    assert max(map(max, SOURCES)) < SOURCE_VOCABULARY
