"""The exponential average: its equation, its place in validation, checkpoints and resuming."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from regard.errors import UserError
from regard.training import session
from regard.training.checkpoint import read_checkpoint
from regard.training.exponential_average import ExponentialAverage, decay_after
from regard.training.interruption import TrainingInterrupted
from regard.training.optimizer import Adam
from regard.training.train import train

from .outcome import assert_same
from .test_resume import StopAt
from .tiny import reversals, tiny

TRAIN, VALID = reversals(60), reversals(8, seed=6)
EXPONENTIAL = {"kind": "exponential", "decay": 0.6}


def test_the_decay_rises_to_what_was_asked_for() -> None:
    assert decay_after(0.999, 1) == 2 / 11
    assert decay_after(0.999, 90) == 0.91
    assert decay_after(0.9, 90) == decay_after(0.9, 10**6) == 0.9
    assert decay_after(0.0, 5) == 0.0


def test_the_average_follows_its_equation() -> None:
    model = nn.Linear(3, 2).double()
    average = ExponentialAverage(model, 0.5)
    expected = model.weight.detach().clone()
    for update in range(1, 12):
        with torch.no_grad():
            model.weight.normal_()
        average.update(update)
        decay = min(0.5, (1 + update) / (10 + update))
        expected = decay * expected + (1 - decay) * model.weight.detach()
        torch.testing.assert_close(average.tensors()["weight"], expected, rtol=1e-12, atol=1e-12)


def test_in_place_of_the_weights_for_a_while() -> None:
    model = nn.Linear(2, 2)
    average = ExponentialAverage(model, 0.9)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    with torch.no_grad():
        model.weight += 1
    own = model.weight.detach().clone()
    with pytest.raises(KeyError), average.in_place():
        assert torch.equal(model.weight, before["weight"])
        raise KeyError
    assert torch.equal(model.weight, own)
    assert torch.equal(average.tensors()["weight"], before["weight"])


def test_another_models_average_is_refused() -> None:
    average = ExponentialAverage(nn.Linear(2, 2), 0.9)
    other = ExponentialAverage(nn.Linear(3, 2), 0.9).tensors()
    with pytest.raises(UserError, match=r"average\.weight"):
        average.fill(other)


def run(out: Path, stop: StopAt | None = None, **training: Any) -> Any:
    settings = {"average": EXPONENTIAL, **training}
    configuration = tiny("transformer", **settings)
    return train(configuration, TRAIN, VALID, out, progress=False, resume=True, stop=stop)


def test_what_is_validated_and_kept_is_the_average(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And training goes on with the weights as they were."""
    averages: list[dict[str, Tensor]] = []
    validated: list[dict[str, Tensor]] = []
    real_update, real_validate = Adam.update, session.validate

    def update(self: Adam, rate: float) -> None:
        if not averages:
            averages.append({name: p.detach().double() for name, p in self.parameters.items()})
        real_update(self, rate)
        decay, last = decay_after(0.6, len(averages)), averages[-1]
        parameters = self.parameters.items()
        averages.append({n: decay * last[n] + (1 - decay) * p.detach() for n, p in parameters})

    def validate(model: nn.Module, *rest: Any) -> Any:
        validated.append({name: p.detach().clone() for name, p in model.named_parameters()})
        return real_validate(model, *rest)

    monkeypatch.setattr(Adam, "update", update)
    monkeypatch.setattr(session, "validate", validate)
    result = run(tmp_path / "run", maximum_updates=20)
    assert len(validated) == 2 and result.averaged == ()
    for found, step in zip(validated, (10, 20), strict=True):
        for name, value in found.items():
            torch.testing.assert_close(value.double(), averages[step][name], rtol=0, atol=1e-6)
    kept = load_file(tmp_path / "run" / "model.safetensors")
    best = validated[0 if result.best_step == 10 else 1]
    assert all(torch.equal(kept[name], best[name]) for name in best)
    tensors = saved(tmp_path / "run", 20)
    assert all(torch.equal(tensors[f"average.{name}"], best) for name, best in validated[1].items())


def saved(directory: Path, step: int) -> dict[str, Tensor]:
    """The tensors of a checkpoint."""
    return read_checkpoint(directory / "checkpoints" / f"step-{step:08d}.safetensors").tensors


def test_averaging_changes_no_update(tmp_path: Path) -> None:
    run(tmp_path / "one", maximum_updates=12)
    run(tmp_path / "other", maximum_updates=12, average={"kind": "none"})
    one, other = (saved(tmp_path / name, 12) for name in ("one", "other"))
    assert all(torch.equal(one[name], tensor) for name, tensor in other.items())


def test_resuming_is_bit_equal(tmp_path: Path) -> None:
    run(tmp_path / "whole")
    for asked in (7, 9):
        with pytest.raises(TrainingInterrupted):
            run(tmp_path / "run", StopAt(asked))
    run(tmp_path / "run")
    assert_same(tmp_path / "whole", tmp_path / "run")


def test_a_stop_during_a_validation_leaves_the_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not the averages that were being validated."""
    run(tmp_path / "whole")
    stop = StopAt(10**9)

    def validate(*arguments: Any) -> Any:
        stop.left = 0
        return real(*arguments)

    real = session.validate
    monkeypatch.setattr(session, "validate", validate)
    with pytest.raises(TrainingInterrupted) as caught:
        run(tmp_path / "run", stop)
    assert caught.value.step == 10
    monkeypatch.setattr(session, "validate", real)
    run(tmp_path / "run")
    assert_same(tmp_path / "whole", tmp_path / "run")
