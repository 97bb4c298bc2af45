"""Run directories: saved, moved, damaged."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from regard.errors import UserError
from regard.training.run import load_run, read_configuration
from regard.training.tensors import encode_tensors, model_tensors, read_tensors
from regard.training.train import train

from .tiny import read_all, reversals, tiny


@pytest.fixture(scope="module", params=["recurrent", "transformer"])
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("run") / request.param
    configuration = tiny(request.param, maximum_updates=2)
    train(configuration, reversals(30), reversals(5, seed=6), out, progress=False)
    return out


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """A copy, elsewhere, to be damaged."""
    return Path(shutil.copytree(trained, tmp_path / "moved"))


def test_what_is_loaded_is_what_was_saved(run: Path) -> None:
    tensors, facts = read_tensors(run / "model.safetensors", "a model")
    loaded = load_run(run)
    assert not loaded.model.training
    assert facts == {"regard": loaded.version}
    assert (loaded.vocabulary.source, loaded.vocabulary.target) == (12, 12)
    assert loaded.tokenizers.joint and loaded.configuration.training.maximum_updates == 2
    own = model_tensors(loaded.model)
    assert own.keys() == tensors.keys()
    for name, tensor in own.items():
        assert torch.equal(tensor, tensors[name]), name


def test_loading_leaves_the_random_state(run: Path) -> None:
    before = torch.get_rng_state()
    load_run(run)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_run_needs_no_checkpoints_nor_metrics(run: Path) -> None:
    shutil.rmtree(run / "checkpoints")
    (run / "metrics.jsonl").unlink()
    load_run(run)


def test_tied_tensors_are_stored_once(run: Path) -> None:
    loaded = load_run(run)
    tensors, _ = read_tensors(run / "model.safetensors", "a model")
    tied = loaded.configuration.model.embedding
    shared = [name for name, _ in loaded.model.named_parameters(remove_duplicate=False)]
    assert len(shared) - len(tensors) == int(tied.share) + int(tied.tie_output)


def test_configuration_tells_version_and_vocabulary(run: Path) -> None:
    configuration, vocabulary, version = read_configuration(run)
    assert configuration.recipe == "tiny" and vocabulary.source == 12 and version


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def refill(path: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors, facts = read_tensors(path, "a model")
    change(tensors)
    path.write_bytes(encode_tensors(tensors, facts))


def rename(tensors: dict[str, torch.Tensor]) -> None:
    tensors["another"] = tensors.pop("output.bias")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda run: (run / "config.yaml").unlink(), "is not a run directory: it has no config"),
        (lambda run: (run / "model.safetensors").unlink(), "model.safetensors does not exist"),
        (lambda run: truncate(run / "model.safetensors"), "model.safetensors is damaged"),
        (lambda run: (run / "model.safetensors").write_bytes(b""), "model.safetensors is damaged"),
        (lambda run: shutil.rmtree(run / "tokenizer"), "tokenizer does not exist"),
        (lambda run: (run / "tokenizer" / "joint.json").unlink(), "joint.json"),
        (lambda run: truncate(run / "tokenizer" / "joint.json"), "joint.json is damaged"),
        (
            lambda run: refill(run / "model.safetensors", lambda t: t.pop("output.bias")),
            "model.safetensors does not fit its config.yaml: the tensor output.bias is missing",
        ),
        (
            lambda run: refill(run / "model.safetensors", rename),
            "the tensor output.bias is missing",
        ),
        (
            lambda run: refill(run / "model.safetensors", lambda t: t.update(x=torch.ones(1))),
            "it has no place for x",
        ),
        (
            lambda run: refill(
                run / "model.safetensors", lambda t: t.update({"output.bias": torch.ones(3)})
            ),
            "output.bias is float32[3], it should be float32[12]",
        ),
        (
            lambda run: refill(
                run / "model.safetensors", lambda t: t.update({"output.bias": torch.ones(12).int()})
            ),
            "output.bias is int32[12], it should be float32[12]",
        ),
        (lambda run: edit(run / "config.yaml", "recipe:", "recipee:"), "did you mean recipe?"),
        (lambda run: edit(run / "config.yaml", "warmup: 10", "warmup: -1"), "training.warmup is"),
        (lambda run: edit(run / "config.yaml", "warmup: 10", "warmup: {"), ": not YAML: "),
        (lambda run: edit(run / "config.yaml", "source: 12", "source: 13"), "has 12 symbols"),
        (lambda run: edit(run / "config.yaml", "source: 12", "source: x"), "vocabulary.source is"),
        (lambda run: edit(run / "config.yaml", "source: 12, ", ""), "vocabulary should have"),
        (lambda run: edit(run / "config.yaml", "regard:", "version:"), "regard should be the vers"),
    ],
)
def test_what_is_damaged_is_named(run: Path, damage: Callable[[Path], object], said: str) -> None:
    damage(run)
    with pytest.raises(UserError) as caught:
        load_run(run)
    message = str(caught.value)
    assert said in message and str(run) in message and "\n" not in message


def test_what_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        load_run(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match="is a file where a run directory should be"):
        load_run(tmp_path / "file")
    with pytest.raises(UserError, match="is not a run directory"):
        load_run(tmp_path)


def test_the_same_training_gives_the_same_files(trained: Path, tmp_path: Path) -> None:
    """Byte by byte, but for the seconds in metrics.jsonl and in the checkpoints' headers."""
    out = tmp_path / "again"
    configuration = tiny(trained.name, maximum_updates=2)
    train(configuration, reversals(30), reversals(5, seed=6), out, progress=False)
    first, second = read_all(trained), read_all(out)
    assert first.keys() == second.keys()
    for name in first:
        if name != "metrics.jsonl" and "step-" not in name:
            assert first[name] == second[name], name


def test_metrics_are_json(trained: Path) -> None:
    lines = (trained / "metrics.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    assert [json.loads(line)["kind"] for line in lines] == ["start", "validation", "end"]
