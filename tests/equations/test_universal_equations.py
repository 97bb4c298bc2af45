"""C4-C6: the Universal Transformer, and adaptive computation time."""

from typing import Any

import pytest
import torch

from regard.models import Model
from regard.nn.halting import Halting, Tally
from regard.nn.transformer import DecoderLayer, EncoderLayer, LayerOptions
from regard.training.loss import Loss
from regard.training.objective import batch_loss

from . import universal as reference
from .build import INPUTS, SOURCES, assert_close, batch, build, randomize

ADAPTIVE = ["none", "graves", "tensor2tensor"]


def make(adaptive: str, norm: str = "post", steps: int = 4, **more: Any) -> Model:
    both = {
        "kind": "universal_transformer",
        "steps": steps,
        "heads": 2,
        "feed_forward_size": 7,
        "norm": norm,
        "adaptive": adaptive,
        "halting_epsilon": 0.1,
        **more,
    }
    embedding = {"size": 6, "scaled": True}
    return build({"embedding": embedding, "encoder": both, "decoder": both})


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("adaptive", ADAPTIVE)
def test_whole_universal_transformer(adaptive: str, norm: str) -> None:
    """C4 and C6; with adaptive steps C5, or the variant that the authors released."""
    model = make(adaptive, norm)
    source, mask, inputs = batch()
    decoded = model(source, mask, inputs)
    memory = model.encode(source, mask)
    target = model.all_steps(memory, inputs).pondered
    for row, sentence in enumerate(SOURCES):
        log_p, read, written = reference.universal_transformer(
            model, sentence, INPUTS[row], norm, adaptive
        )
        assert_close(decoded.log_probabilities[row], log_p)
        if adaptive == "none":
            assert memory.pondered is None and target is None
            continue
        for pondered, (taken, rest) in ((memory.pondered, read), (target, written)):
            assert pondered is not None
            assert pondered.steps[row, : len(taken)].tolist() == taken
            costs = [n + r for n, r in zip(taken, rest, strict=True)]
            assert_close(pondered.cost[row, : len(taken)], costs)
    if adaptive != "none":  # a test of one number of steps alone would show little
        assert memory.pondered is not None and target is not None
        both = torch.cat([memory.pondered.steps[mask], target.steps.flatten()])
        assert len(both.unique()) > 1


def halted(variant: str, probability: float, most: int, epsilon: float = 0.01) -> list[Tally]:
    """Every step of one position that halts with the same probability at each."""
    unit = Halting(2, variant, 0.0, epsilon).double()
    torch.nn.init.zeros_(unit.linear.weight)
    torch.nn.init.constant_(unit.linear.bias, torch.logit(torch.tensor(probability)))
    state = torch.eye(2, dtype=torch.float64)
    tally, found = unit.begin(state[None, :1]), []
    for step in range(1, most + 1):
        made = state[None, (step - 1) % 2][:, None]
        tally = unit.after(tally, made, made, last=step == most)
        found.append(tally)
    return found


@pytest.mark.parametrize(
    ("probability", "most", "weights", "steps", "remainder"),
    [
        (0.6, 8, [0.6, 0.4, 0, 0, 0, 0, 0, 0], 2, 0.4),
        (0.1, 2, [0.1, 0.9], 2, 0.9),
        (0.995, 3, [1.0, 0, 0], 1, 1.0),
        (0.3, 1, [1.0], 1, 1.0),
    ],
)
def test_halting_by_hand(
    probability: float, most: int, weights: list[float], steps: int, remainder: float
) -> None:
    """Graves's: p = .6 takes two steps of .6 and .4; p = .1 with two at most .1 and .9."""
    tallies = halted("graves", probability, most)
    found = [tally.weight.item() for tally in tallies]
    assert found == pytest.approx(weights, abs=1e-6) and sum(found) == pytest.approx(1.0)
    last = tallies[-1]
    assert int(last.steps) == steps and last.remainder.item() == pytest.approx(remainder, abs=1e-6)
    assert last.pondered().mean().item() == pytest.approx(steps + remainder, abs=1e-6)
    assert not bool(last.going)


def test_the_released_variant_by_hand() -> None:
    """p = .6: the first state is left with .36, the second has .4. No remainder at the last."""
    two = halted("tensor2tensor", 0.6, 2)[-1]
    assert_close(two.output, [[[0.36, 0.4]]], 1e-6)
    cut = halted("tensor2tensor", 0.1, 2)[-1]
    assert_close(cut.output, [[[0.09, 0.1]]], 1e-6)
    assert bool(cut.going) and int(cut.steps) == 2 and cut.remainder.item() == 0


def test_one_step_is_one_layer() -> None:
    """T = 1: a Transformer layer over embeddings with coordinates; halting then weighs it by 1."""
    plain, adaptive = make("none", steps=1), make("graves", steps=1)
    adaptive.load_state_dict(plain.state_dict(), strict=False)
    source, mask, inputs = batch()
    layer = randomize(EncoderLayer(LayerOptions(6, 2, 7, norm="post"))).double().eval()
    layer.load_state_dict(plain.encoder.layer.state_dict())
    read = plain.encoder.recurrence.mark(plain.source_embedding(source), 1)
    assert_close(plain.encode(source, mask).states, layer(read, mask).detach())
    memory = plain.encode(source, mask)
    second = randomize(DecoderLayer(LayerOptions(6, 2, 7, norm="post"), 6)).double().eval()
    second.load_state_dict(plain.decoder.layer.state_dict())
    read = plain.decoder.recurrence.mark(plain.target_embedding(inputs), 1)
    made, _, _ = second(read, second.cross_attention.prepare(memory))
    assert_close(plain.all_steps(memory, inputs).features, made.detach())
    expected = plain(source, mask, inputs).log_probabilities.detach()
    assert_close(adaptive(source, mask, inputs).log_probabilities, expected)


def test_steps_are_no_part_of_the_weights() -> None:
    """Trained with two steps, used with five."""
    few, many = make("none", steps=2), make("none", steps=5)
    many.load_state_dict(few.state_dict())
    log_p, _, _ = reference.universal_transformer(many, SOURCES[0], INPUTS[0], "post", "none")
    source, mask, inputs = batch()
    assert_close(many(source, mask, inputs).log_probabilities[0], log_p)
    assert few.state_dict().keys() == many.state_dict().keys()


def test_pondering_costs_its_mean_over_real_positions() -> None:
    """The loss gains tau (mean(N + R) of the source + that of the target), padding left out."""
    model = make("graves", halting_bias=0.0)
    given = _Batch()
    plain, costly = batch_loss(model, given), batch_loss(model, given, ponder_cost=0.5)
    memory = model.encode(given.source, given.source_mask)
    both, target = memory.pondered, model.all_steps(memory, given.inputs).pondered
    assert both is not None and target is not None
    expected = both.cost[given.source_mask].mean() + target.cost[given.mask].mean()
    assert_close(costly.loss - plain.loss, (0.5 * expected).item())
    assert torch.equal(costly.negative_log_likelihood, plain.negative_log_likelihood)
    assert (both.steps[~given.source_mask] == 0).all()


def test_only_remainders_have_a_gradient() -> None:
    """d(N + R)/dw = dR/dw: thinking longer costs, through the probabilities before the last."""
    model = make("graves")
    given = _Batch()
    loss: Loss = batch_loss(model, given, ponder_cost=1.0)
    plain: Loss = batch_loss(model, given)
    unit = model.encoder.recurrence.halting.linear.bias
    (gradient,) = torch.autograd.grad(loss.loss - plain.loss, unit)
    assert gradient < 0  # a larger bias halts sooner


class _Batch:
    """As much of a batch as the objective reads."""

    def __init__(self) -> None:
        self.source, self.source_mask, self.inputs = batch()
        self.outputs = (self.inputs + 1) % 13
        self.mask = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 0]]).bool()
