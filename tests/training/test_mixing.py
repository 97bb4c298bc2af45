"""Teacher forcing mixed with the model's own predictions (EQUATIONS A14)."""

import math

import pytest
import torch
from safetensors.torch import load
from torch import Tensor

from regard.data.batches import Batch
from regard.models import Model, ModelConfiguration, build_model
from regard.training.configuration import TeacherForcingConfiguration
from regard.training.mixing import gold_share, mixed_inputs
from regard.training.train import train

from .tiny import read_all, reversals, tiny

VOCABULARY = 13
SHAPE = {"kind": "recurrent", "size": 8, "readout_size": 5}
LUONG = {**SHAPE, "attend": "after", "readout": "attentional", "attention": {"score": "dot"}}
DECODERS = {
    "rnnsearch": {**SHAPE, "attention": {"size": 6}},
    "luong": LUONG,
    "luong with feeding": {**LUONG, "input_feeding": True},
    "seq2seq": {**SHAPE, "attend": "never", "constant_context": True},
    "transformer": {"kind": "transformer", "layers": 2, "heads": 2, "feed_forward_size": 9},
}
every_decoder = pytest.mark.parametrize("decoder", DECODERS)


def share(updates: int, **settings: object) -> float:
    return gold_share(TeacherForcingConfiguration.model_validate(settings), updates)


def test_decays() -> None:
    assert share(10**9, share=0.3) == 0.3 and share(0, share=0.7) == 0.7
    linear = {"kind": "linear", "share": 0.9, "slope": 0.001, "minimum": 0.25}
    assert [share(k, **linear) for k in (0, 100, 10_000)] == pytest.approx([0.9, 0.8, 0.25])
    exponential = {"kind": "exponential", "base": 0.99}
    assert [share(k, **exponential) for k in (0, 1, 200)] == pytest.approx([1, 0.99, 0.99**200])
    m = 40.0
    sigmoid = {"kind": "inverse_sigmoid", "sigmoid": m}
    expected = [m / (m + math.exp(k / m)) for k in (0, 40, 300)]
    assert [share(k, **sigmoid) for k in (0, 40, 300)] == pytest.approx(expected)
    assert share(10**7, **sigmoid) == pytest.approx(0.0)


def made(decoder: str, steps: int = 5) -> tuple[Model, Batch]:
    """A model in which every parameter is random, and a batch of three padded sources."""
    sections = {
        "embedding": {"size": 8},
        "encoder": {"kind": "recurrent", "size": 4},
        "decoder": DECODERS[decoder],
    }
    model = build_model(ModelConfiguration.model_validate(sections), VOCABULARY, VOCABULARY)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    mask = torch.arange(6)[None] < torch.tensor([[4], [6], [1]])
    source = torch.randint(3, VOCABULARY, (3, 6)).masked_fill(~mask, 0)
    inputs = torch.randint(2, VOCABULARY, (3, steps))
    everything = torch.ones_like(inputs, dtype=torch.bool)
    return model.eval(), Batch(source, mask, inputs, inputs, everything, [0, 1, 2])


@torch.no_grad()
def by_hand(model: Model, given: Batch, coins: Tensor) -> Tensor:
    """Step after step from the mixed tokens, or from the gold ones for a Transformer."""
    transformer = "Transformer" in type(model.decoder).__name__
    state = model.start(model.encode(given.source, given.source_mask))
    mixed = given.inputs.clone()
    for i in range(mixed.shape[1] - 1):
        read = given.inputs[:, i] if transformer else mixed[:, i]
        found, state, _ = model.step(read, state)
        mixed[:, i + 1] = torch.where(coins[:, i], given.inputs[:, i + 1], found.argmax(-1))
    return mixed


@every_decoder
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.99])
def test_own_predictions_stand_where_the_coin_says(decoder: str, kept: float) -> None:
    model, given = made(decoder)
    torch.manual_seed(8)
    found = mixed_inputs(model, given, kept)
    torch.manual_seed(8)
    coins = torch.rand(3, 4) < kept
    assert torch.equal(found, by_hand(model, given, coins))
    assert torch.equal(found[:, 0], given.inputs[:, 0])
    assert ((found >= 0) & (found < VOCABULARY)).all() and not found.is_floating_point()


@every_decoder
def test_all_gold_is_left_alone(decoder: str) -> None:
    model, given = made(decoder)
    state = torch.get_rng_state()
    assert mixed_inputs(model, given, 1.0) is given.inputs
    assert torch.equal(torch.get_rng_state(), state)
    short = made(decoder, steps=1)[1]
    assert torch.equal(mixed_inputs(model, short, 0.0), short.inputs)


def test_a_coin_per_token() -> None:
    model, given = made("rnnsearch")
    gold = torch.full((3, 400), VOCABULARY + 1)  # never what a model says
    gold[:, 0] = 2
    embedding = model.target_embedding.weight
    model.target_embedding.weight = torch.nn.Parameter(embedding.new_ones(VOCABULARY + 2, 8))
    long = Batch(given.source, given.source_mask, gold, gold, gold > 0, [0, 1, 2])
    kept = mixed_inputs(model, long, 0.3)[:, 1:] == VOCABULARY + 1
    assert kept.double().mean().item() == pytest.approx(0.3, abs=0.06)
    rows = kept.double().mean(1)
    assert ((rows > 0.15) & (rows < 0.45)).all()  # not one coin a sentence
    columns = kept.double().mean(0)
    assert ((columns > 0) & (columns < 1)).any()  # nor one a step


@pytest.mark.parametrize("kind", ["recurrent", "transformer"])
def test_training_learns_and_resumes_bit_equal(tmp_path, kind: str) -> None:
    forcing = {"kind": "linear", "share": 1.0, "slope": 0.02, "minimum": 0.5}
    data, valid = reversals(60), reversals(10, seed=6)

    def run(name: str, updates: int, *, resume: bool = False) -> dict[str, Tensor]:
        configuration = tiny(kind, teacher_forcing=forcing, maximum_updates=updates)
        out = tmp_path / name
        train(configuration, data, valid, out, resume=resume, progress=False)
        files = read_all(out)
        last = max(name for name in files if name.startswith("checkpoints/weights"))
        return load(files[last])

    def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
        return all(torch.equal(one[name], other[name]) for name in one)

    whole = run("whole", 20)
    half = run("parts", 10)
    assert same(whole, run("parts", 20, resume=True)) and not same(whole, half)
