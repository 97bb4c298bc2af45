"""A1, A10, A11, A12: captioning, from the vectors of a grid to log-probabilities."""

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.data.batches import Batch
from regard.models import Model, ModelConfiguration, build_model
from regard.models.encoders import GridShape
from regard.training.attention_costs import AttentionCosts
from regard.training.objective import batch_loss

from . import captioning as reference
from .build import INPUTS, TARGET_VOCABULARY, assert_close, randomize
from .recurrent import affine, array
from .selection import entropy

SHAPE = GridShape(2, 3, 4)
DECODER: dict[str, Any] = {
    "kind": "recurrent",
    "cell": "lstm",
    "size": 6,
    "readout": "deep",
    "start": {"from": "mean", "projection": "mlp"},
}
SOFT = {"attend": "before", "attention": {"score": "additive", "size": 7, "gate": True}}
TELL = {"attend": "never", "constant_context": True, "constant_context_from": "start"}


def build(decoder: dict[str, Any], encoder: dict[str, Any] | None = None, seed: int = 1) -> Model:
    """A tiny captioning model in evaluation mode, every parameter random."""
    sections = {
        "embedding": {"size": 5},
        "encoder": {"kind": "grid", **(encoder or {})},
        "decoder": {**DECODER, **decoder},
    }
    chosen = ModelConfiguration.model_validate(sections)
    return randomize(build_model(chosen, 0, TARGET_VOCABULARY, grid=SHAPE), seed).double().eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    """Grids, their mask, and INPUTS."""
    generator = torch.Generator().manual_seed(2)
    grids = torch.randn(len(INPUTS), 6, SHAPE.size, generator=generator, dtype=torch.float64)
    return grids, torch.ones(len(INPUTS), 6, dtype=torch.bool), torch.tensor(INPUTS)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("hard", [False, True])
def test_show_attend_and_tell(seed: int, hard: bool) -> None:
    attention = {**SOFT["attention"], "select": "hard" if hard else "soft"}
    model = build({**SOFT, "attention": attention}, seed=seed)
    grids, mask, inputs = batch()
    decoded, unseen = model(grids, mask, inputs), model(grids, mask, inputs, need_weights=False)
    for row, tokens in enumerate(INPUTS):
        expected = reference.show_attend_tell(model, list(grids[row].numpy()), tokens, hard=hard)
        assert_close(decoded.log_probabilities[row], expected.log_p)
        assert_close(unseen.log_probabilities[row], expected.log_p)
        assert_close(decoded.attention[row], expected.alpha)


def test_deep_output_with_the_tanh_of_the_code() -> None:
    model = build({**SOFT, "readout": "deep_tanh"})
    grids, mask, inputs = batch()
    decoded = model(grids, mask, inputs)
    for row, tokens in enumerate(INPUTS):
        expected = reference.show_attend_tell(model, list(grids[row].numpy()), tokens)
        assert_close(decoded.log_probabilities[row], expected.log_p)


def test_grids_that_are_projected() -> None:
    """Attention and first state read W a_j."""
    model = build(SOFT, {"size": 8})
    grids, mask, inputs = batch()
    decoded = model(grids, mask, inputs)
    for row, tokens in enumerate(INPUTS):
        grid = [affine(model.encoder.projection, a) for a in grids[row].numpy()]
        expected = reference.show_attend_tell(model, grid, tokens)
        assert_close(decoded.log_probabilities[row], expected.log_p)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_show_and_tell(seed: int) -> None:
    """A1: h_0 an MLP of the features, c = h_0."""
    model = build(TELL, seed=seed)
    grids, mask, inputs = batch()
    decoded = model(grids, mask, inputs)
    assert decoded.attention is None
    for row, tokens in enumerate(INPUTS):
        expected = reference.show_tell(model, list(grids[row].numpy()), tokens)
        assert_close(decoded.log_probabilities[row], expected)


def test_state_and_cell_have_networks_of_their_own() -> None:
    model = build(SOFT)
    of_state, of_cell = model.decoder.start_layers.projections
    assert not (set(of_state.parameters()) & set(of_cell.parameters()))
    grids, mask, _ = batch()
    ((s, m),) = model.start(model.encode(grids, mask)).layers
    assert not torch.allclose(s, m)
    for row in range(len(INPUTS)):
        mean = grids[row].numpy().mean(0)
        assert_close(s[0, row], reference.mlp(of_state, mean))
        assert_close(m[0, row], reference.mlp(of_cell, mean))
    assert array(of_state[0].weight).shape == (SHAPE.size, SHAPE.size)


def captions() -> Batch:
    """Three captions of different lengths, one for each picture."""
    grids, grid_mask, inputs = batch()
    mask = torch.arange(3)[None] < torch.tensor([3, 1, 2])[:, None]
    outputs = torch.tensor([[5, 11, 3], [3, 0, 0], [9, 3, 0]])
    return Batch(grids, grid_mask, inputs, outputs, mask, [0, 1, 2])


def negative_log_likelihood(log_p: Any, tokens: list[int]) -> float:
    return -sum(float(log_p[i, token]) for i, token in enumerate(tokens))


def test_doubly_stochastic_loss() -> None:
    """- log p(y) + lambda sum_j (1 - sum_i alpha_ij)^2 of every example, by the tokens of all."""
    model, given = build(SOFT), captions()
    for weight in (0.0, 1.0, 2.5):
        total = 0.0
        for row, length in enumerate(given.mask.sum(1).tolist()):
            tokens = given.inputs[row, :length].tolist()
            found = reference.show_attend_tell(model, list(given.source[row].numpy()), tokens)
            total += negative_log_likelihood(found.log_p, given.outputs[row, :length].tolist())
            for j in range(6):
                seen = sum(float(found.alpha[i, j]) for i in range(length))
                total += weight * (1 - seen) ** 2
        loss = batch_loss(model, given, attention=AttentionCosts(doubly_stochastic=weight)).loss
        assert loss.item() == pytest.approx(total / 6, abs=1e-12)


#: A problem whose every outcome can be counted: two words, three places.
PLACES, WORDS, DRAWS, BATCHES = 3, (4, 3), 4000, 12
HARD = {
    **DECODER,
    "size": 3,
    "attend": "before",
    "attention": {
        "score": "additive",
        "size": 2,
        "gate": True,
        "select": "hard",
        "hard_expectation": 0.0,
    },
}
#: The parameters whose gradients are compared: nothing but draws tells them of the words.
COMPARED = ("decoder.attention.score.v_a", "decoder.attention.query_projection.weight")


def drawing_model() -> tuple[Model, Tensor]:
    """A model to which it matters much where it looks, and a grid."""
    fixed = {"dropout": 0.0}
    sections = {
        "embedding": {"size": 3, **fixed},
        "encoder": {"kind": "grid", **fixed},
        "decoder": {**HARD, **fixed},
    }
    chosen = ModelConfiguration.model_validate(sections)
    model = randomize(build_model(chosen, 0, 7, grid=GridShape(1, PLACES, 2)), 4).double()
    model.decoder.readout.L_z.weight.data.mul_(6)
    generator = torch.Generator().manual_seed(3)
    return model, 2 * torch.randn(PLACES, 2, generator=generator, dtype=torch.float64)


def drawn(grid: Tensor, words: tuple[int, ...], draws: int) -> Batch:
    """The same picture and words again and again."""
    inputs, outputs = torch.tensor([[2, *words[:-1]], words])
    shape = (draws, len(words))
    return Batch(
        grid.expand(draws, -1, -1),
        torch.ones(draws, PLACES, dtype=torch.bool),
        inputs.expand(shape),
        outputs.expand(shape),
        torch.ones(shape, dtype=torch.bool),
        list(range(draws)),
    )


def parameters(model: Model) -> list[Tensor]:
    return [dict(model.named_parameters())[name] for name in COMPARED]


def slopes(model: Model, objective: Callable[[], float]) -> list[Tensor]:
    """Its gradients to the compared parameters, by differences."""
    found = []
    for parameter in parameters(model):
        numbers = parameter.data.view(-1)
        slope = torch.zeros_like(numbers)
        for n in range(len(numbers)):
            before, values = numbers[n].item(), []
            for step in (1e-5, -1e-5):
                numbers[n] = before + step
                values.append(objective())
            numbers[n] = before
            slope[n] = (values[0] - values[1]) / 2e-5
        found.append(slope.view_as(parameter))
    return found


def expected_log_likelihood(model: Model, grid: Tensor) -> float:
    """sum_l p(l) log p(y | l) over all places that could have been drawn."""
    total = 0.0
    for places in product(range(PLACES), repeat=len(WORDS)):
        inputs = [2, *WORDS[:-1]]
        found = reference.show_attend_tell(model, list(grid.numpy()), inputs, places=places)
        p = math.prod(float(found.alpha[i, place]) for i, place in enumerate(places))
        total -= p * negative_log_likelihood(found.log_p, list(WORDS))
    return total


@pytest.mark.parametrize("baseline", [0.0, -4.0])
def test_hard_attention_learns_by_its_bound(baseline: float) -> None:
    """The mean gradient of draws, each seen by the steps after it, is that of all outcomes.

    With lambda_r = 1, and whatever the baseline; the loss is by the tokens.
    """
    model, grid = drawing_model()
    given = drawn(grid, WORDS, DRAWS)
    costs = AttentionCosts(reward=1.0, baseline=baseline)
    torch.manual_seed(11)
    draws = []
    for _ in range(BATCHES):
        found = batch_loss(model.train(), given, attention=costs)
        draws.append(torch.autograd.grad(-len(WORDS) * found.loss, parameters(model)))
    exact = slopes(model.eval(), lambda: expected_log_likelihood(model, grid))
    for number, slope in enumerate(exact):
        each = torch.stack([draw[number] for draw in draws])
        error = each.std(0) / math.sqrt(BATCHES)
        assert ((each.mean(0) - slope).abs() < 5 * error + 1e-9).all()
        assert (slope.abs() > 20 * error).any()  # it tells a right slope from a wrong one


def test_entropy_of_where_it_may_look() -> None:
    """lambda_e grad H: exact, whatever was drawn."""
    model, grid = drawing_model()
    given = drawn(grid, WORDS[:1], 5)
    costs = AttentionCosts(reward=1.0, entropy=0.3)  # no baseline yet: no reward
    found = batch_loss(model.train(), given, attention=costs)
    gradients = torch.autograd.grad(-found.loss, parameters(model))

    def spread() -> float:
        alpha = reference.show_attend_tell(model, list(grid.numpy()), [2]).alpha
        return 0.3 * entropy(alpha[0].tolist())

    for gradient, slope in zip(gradients, slopes(model, spread), strict=True):
        assert (gradient - slope).abs().max() < 1e-8 < 1e-3 < slope.abs().max()


def test_batches_that_take_expectations_are_learned_as_usual() -> None:
    model, grid = drawing_model()
    given, costs = drawn(grid, WORDS, 2), AttentionCosts(reward=1.0, entropy=0.3, baseline=-1.0)
    model.decoder.chosen_attention = model.decoder.chosen_attention.model_copy(
        update={"hard_expectation": 1.0}
    )
    found = batch_loss(model.train(), given, attention=costs)
    soft = reference.show_attend_tell(model, list(grid.numpy()), [2, *WORDS[:-1]])
    expected = negative_log_likelihood(soft.log_p, list(WORDS)) / len(WORDS)
    assert found.loss.item() == pytest.approx(expected, abs=1e-12)
