"""Positions counted from a random number in training, from the first one in use."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.attention import coordinate_positions, sinusoidal_positions
from regard.errors import UserError
from regard.models import Model, ModelConfiguration, build_model
from regard.nn.randomness import drawing_from
from regard.training.recipes import load_recipe

from .matrix import VOCABULARY, batch

MOST = 7
TRANSFORMER = {"kind": "transformer", "layers": 2, "heads": 2, "feed_forward_size": 9}
UNIVERSAL = {"kind": "universal_transformer", "steps": 3, "heads": 2, "feed_forward_size": 9}
RECURRENT = {"kind": "recurrent", "size": 6}
SIDES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "transformer": (TRANSFORMER, TRANSFORMER),
    "learned": ({**TRANSFORMER, "positions": "learned", "maximum_positions": 20},) * 2,
    "universal": (UNIVERSAL, UNIVERSAL),
    "universal, adaptive": ({**UNIVERSAL, "adaptive": "graves", "halting_bias": 0.0},) * 2,
    "recurrent encoder": (RECURRENT, TRANSFORMER),
    "recurrent decoder": (UNIVERSAL, RECURRENT),
    "copying": (TRANSFORMER, {**TRANSFORMER, "copying": True}),
}
every_kind = pytest.mark.parametrize("kind", list(SIDES))


def make(kind: str, most: int = MOST) -> Model:
    """Without dropout, every parameter random, so that nothing but positions is drawn."""
    torch.manual_seed(4)
    encoder, decoder = ({**side, "dropout": 0.0} for side in SIDES[kind])
    sections = {"embedding": {"size": 8, "dropout": 0.0}, "encoder": encoder, "decoder": decoder}
    chosen = ModelConfiguration.model_validate({**sections, "position_offset": most})
    model = build_model(chosen, VOCABULARY, VOCABULARY)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return model.double()


def answers(model: Model, given: tuple[Tensor, ...], rows: int) -> list[Tensor]:
    """Different ones among so many rows that are all the same."""
    found: list[Tensor] = []
    for answer in model(*(tensor.expand(rows, -1) for tensor in given)).log_probabilities:
        if all((answer - known).abs().max() > 1e-9 for known in found):
            found.append(answer)
    return found


@every_kind
@torch.no_grad()
def test_training_draws_and_use_does_not(kind: str) -> None:
    """One answer for each number of 0 to 7 in training; in use, that of a model without offset."""
    model, plain = make(kind), make(kind, most=0)
    given = tuple(tensor[:1] for tensor in batch())
    (expected,) = answers(plain, given, 3)
    in_training = answers(model.train(), given, 150)
    assert len(in_training) == MOST + 1
    assert any((answer - expected).abs().max() < 1e-9 for answer in in_training)  # that of 0
    (in_use,) = answers(model.eval(), given, 3)
    assert (in_use - expected).abs().max() < 1e-9
    assert model.encode(*given[:2]).offset == 0


@every_kind
@torch.no_grad()
def test_source_and_target_count_from_the_same_number(kind: str) -> None:
    """And one token at a time gives what all at once gives."""
    model = make(kind).train()
    source, mask, inputs = batch()
    memory = model.encode(source, mask)
    features = model.all_steps(memory, inputs).features
    moved = model.all_steps(replace(memory, offset=memory.offset + 1), inputs).features
    assert torch.equal(features, moved) == (kind == "recurrent decoder")
    state = model.start(memory)
    whole = model.output(features)
    if kind == "copying":
        return  # its steps mix what is copied into the output
    for step, tokens in enumerate(inputs.t()):
        found, state = model.step(tokens, state)[:2]
        assert (found - whole[:, step]).abs().max() < 1e-10


@torch.no_grad()
def test_positions_are_those_from_the_offset_on() -> None:
    """A Transformer's from the offset, a Universal Transformer's from the one after it."""
    states = torch.zeros(2, 4, 8, dtype=torch.float64)
    start = torch.tensor([5, 2])
    added = make("transformer").encoder.positions(states, start)
    marked = make("universal").encoder.recurrence.mark(states, 2, start + 1)
    learned = make("learned").encoder.positions
    tables = (
        (added, sinusoidal_positions(9, 8, dtype=torch.float64)),
        (marked, coordinate_positions(9, 8, 2, dtype=torch.float64)),
        (learned(states, start), learned.learned.table),
    )
    for found, table in tables:
        assert torch.equal(found[0], table[5:9]) and torch.equal(found[1], table[2:6])


def test_follows_the_generator_of_its_thread() -> None:
    model, (source, mask, _) = make("transformer").train(), batch()

    def drawn(seed: int) -> list[int]:
        with drawing_from(torch.Generator().manual_seed(seed)):
            return model.encode(source.repeat(4, 1), mask.repeat(4, 1)).offset.tolist()

    assert drawn(1) == drawn(1) != drawn(2)


@torch.no_grad()
def test_rows_that_are_selected_keep_it() -> None:
    model, (source, mask, _) = make("universal").train(), batch()
    memory = replace(model.encode(source, mask), offset=torch.tensor([3, 0, 6]))
    rows = torch.tensor([2, 2, 0])
    assert memory.select(rows).offset.tolist() == [6, 6, 3]
    state = model.step(torch.tensor([5, 6, 7]), model.start(memory)).state
    assert state.select(rows).position.tolist() == [7, 7, 4]
    assert state.reorder(rows.new_tensor([0, 1, 2])).position.tolist() == [4, 1, 7]


@pytest.mark.parametrize(
    ("recipe", "settings", "said"),
    [
        ("rnnsearch", ["model.position_offset=5"], "position_offset is for positions"),
        (
            "transformer-tiny",
            ["model.position_offset=5"]
            + [f"model.{side}.positions=rotary" for side in ("encoder", "decoder")],
            "position_offset is for positions",
        ),
        ("transformer-tiny", ["model.position_offset=-1"], "model.position_offset"),
        (
            "transformer-tiny",
            [
                "model.position_offset=57",
                "model.encoder.positions=learned",
                "batching.maximum_length=200",
            ],
            "plus model.position_offset (257)",
        ),
    ],
)
def test_where_there_is_nothing_to_count(recipe: str, settings: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said.replace("(", r"\(").replace(")", r"\)")):
        load_recipe(recipe, settings)


def test_learned_positions_may_just_reach() -> None:
    settings = ["model.encoder.positions=learned", "batching.maximum_length=200"]
    chosen = load_recipe("transformer-tiny", [*settings, "model.position_offset=56"])
    assert chosen.model.position_offset == 56
