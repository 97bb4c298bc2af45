"""Adam, against its paper in plain numbers."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from regard.errors import UserError
from regard.training import optimizer as module
from regard.training.configuration import TrainingConfiguration
from regard.training.optimizer import Adam, clip_gradients

SETTINGS = {"betas": (0.9, 0.98), "epsilon": 1e-4}


def network() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).double()


def train(model: nn.Module, adam: Adam, updates: int, first: int = 0) -> None:
    for step in range(first, first + updates):
        generator = torch.Generator().manual_seed(step)
        adam.forget_gradients()
        model(torch.randn(5, 3, dtype=torch.float64, generator=generator)).square().sum().backward()
        adam.update(0.01 * (step + 1))


def by_hand(
    parameter: np.ndarray, gradients: list[np.ndarray], rates: list[float], kind: str, decay: float
) -> np.ndarray:
    first, second = np.zeros_like(parameter), np.zeros_like(parameter)
    for t, (gradient, rate) in enumerate(zip(gradients, rates, strict=True), start=1):
        if kind == "adam":
            gradient = gradient + decay * parameter
        else:
            parameter = parameter - rate * decay * parameter
        first = 0.9 * first + 0.1 * gradient
        second = 0.98 * second + 0.02 * gradient**2
        step = (first / (1 - 0.9**t)) / (np.sqrt(second / (1 - 0.98**t)) + 1e-4)
        parameter = parameter - rate * step
    return parameter


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("kind", ["adam", "adamw"])
def test_follows_the_paper(kind: str, fused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not fused:
        monkeypatch.setattr(module, "_fused", module._plain)
    model = nn.Linear(3, 2).double()
    start = {name: p.detach().numpy().copy() for name, p in model.named_parameters()}
    adam = Adam(model, TrainingConfiguration(optimizer=kind, weight_decay=0.1, **SETTINGS))
    normal = np.random.default_rng(0).normal
    gradients = {name: [normal(size=p.shape) for _ in range(4)] for name, p in start.items()}
    rates = [0.1, 0.2, 0.05, 0.3]
    for step, rate in enumerate(rates):
        for name, parameter in model.named_parameters():
            parameter.grad = torch.from_numpy(gradients[name][step])
        adam.update(rate)
    for name, parameter in model.named_parameters():
        decay = 0.1 if name == "weight" else 0.0
        expected = by_hand(start[name], gradients[name], rates, kind, decay)
        np.testing.assert_allclose(parameter.detach().numpy(), expected, rtol=1e-10)


def test_state_put_back_goes_on_bit_by_bit() -> None:
    whole = network()
    train(whole, Adam(whole, TrainingConfiguration(**SETTINGS)), 6)
    first = network()
    adam = Adam(first, TrainingConfiguration(**SETTINGS))
    train(first, adam, 4)
    tensors = {name: tensor.clone() for name, tensor in adam.tensors().items()}
    second = network()
    second.load_state_dict(first.state_dict())
    adam = Adam(second, TrainingConfiguration(**SETTINGS))
    adam.fill(tensors)
    train(second, adam, 2, first=4)
    for name, parameter in second.named_parameters():
        assert torch.equal(parameter, whole.get_parameter(name)), name


def test_state_of_another_model_is_refused() -> None:
    adam = Adam(network(), TrainingConfiguration())
    tensors = adam.tensors()
    del tensors["1.bias.second_moment"]
    with pytest.raises(UserError, match=r"1\.bias\.second_moment"):
        adam.fill(tensors)


def test_a_parameter_without_a_gradient_stays() -> None:
    model = network()
    before = model[1].weight.detach().clone()
    adam = Adam(model, TrainingConfiguration(weight_decay=0.1))
    model[0](torch.ones(1, 3, dtype=torch.float64)).sum().backward()
    adam.update(0.1)
    assert torch.equal(model[1].weight, before)


@pytest.mark.parametrize(("limit", "expected"), [(0.0, 5.0), (10.0, 5.0), (1.0, 1.0)])
def test_clipping(limit: float, expected: float) -> None:
    model = nn.Linear(1, 1)
    model.weight.grad, model.bias.grad = torch.tensor([[3.0]]), torch.tensor([4.0])
    assert clip_gradients(model, limit).item() == pytest.approx(5.0)
    assert model.bias.grad.item() == pytest.approx(4.0 * expected / 5, rel=1e-5)
    norm = math.hypot(model.weight.grad.item(), model.bias.grad.item())
    assert norm == pytest.approx(expected, rel=1e-5)


def test_making_one_does_not_import_the_compiler() -> None:
    """Which `torch.optim` does, for seconds."""
    code = (
        "import sys, torch; from regard.training.optimizer import Adam\n"
        "from regard.training.configuration import TrainingConfiguration\n"
        "Adam(torch.nn.Linear(1, 1), TrainingConfiguration())\n"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
