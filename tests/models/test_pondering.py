"""Adaptive steps in whole models: how many each token took, whoever stands beside it."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.models import Model, ModelConfiguration, build_model
from regard.search import Ensemble, SearchConfiguration, beam_search

from .matrix import LENGTHS, VOCABULARY, batch

ADAPTIVE = ["graves", "tensor2tensor"]
every_variant = pytest.mark.parametrize("adaptive", ADAPTIVE)


def make(adaptive: str, steps: int = 6, norm: str = "pre", **options: Any) -> Model:
    """A small one, every parameter random; in float64, in evaluation mode."""
    torch.manual_seed(6)
    both = {"kind": "universal_transformer", "steps": steps, "heads": 2, "feed_forward_size": 9}
    both |= {"adaptive": adaptive, "norm": norm, **options}
    sections = {"embedding": {"size": 8}, "encoder": both, "decoder": both}
    model = build_model(ModelConfiguration.model_validate(sections), VOCABULARY, VOCABULARY)
    for name, parameter in model.named_parameters():
        wide = "embedding" in name or "halting" in name  # so that steps differ
        nn.init.normal_(parameter, std=2.0 if wide else 0.5)
    return model.double().eval()


def halt_with(part: Any, probability: float) -> None:
    """Every position halts with the same probability at each step."""
    linear = part.recurrence.halting.linear
    nn.init.zeros_(linear.weight)
    nn.init.constant_(linear.bias, torch.logit(torch.tensor(probability).double()).item())


def taken(model: Model, source: Tensor, mask: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Steps and costs, of the source and of the target."""
    memory = model.encode(source, mask)
    read, written = model.pondering(memory), model.all_steps(memory, inputs).pondered
    assert read is not None and written is not None
    return read, written.pairs


@pytest.mark.parametrize(
    ("probability", "most", "weights", "cost"),
    [(0.6, 6, (0.6, 0.4), 2.4), (0.1, 2, (0.1, 0.9), 2.9)],
)
@torch.no_grad()
def test_halting_by_hand(
    probability: float, most: int, weights: tuple[float, float], cost: float
) -> None:
    """p = .6 takes two steps, weighted .6 and .4; p = .1 with two at most .1 and .9."""
    adaptive = make("graves", most, "post")
    source, mask, inputs = batch()
    halt_with(adaptive.encoder, probability)
    halt_with(adaptive.decoder, probability)
    expected = torch.tensor([2.0, cost]).double()
    read, written = taken(adaptive, source, mask, inputs)
    assert (read[mask] - expected).abs().max() < 1e-6
    assert (written - expected).abs().max() < 1e-6

    plain = [make("none", steps, "post") for steps in (1, 2)]
    for model in plain:
        model.load_state_dict(adaptive.state_dict(), strict=False)
    memory = adaptive.encode(source, mask)
    states = [model.encode(source, mask).states for model in plain]
    both = weights[0] * states[0] + weights[1] * states[1]
    assert (memory.states - both)[mask].abs().max() < 1e-6
    first, second = (model.all_steps(memory, inputs, need_weights=True) for model in plain)
    found = adaptive.all_steps(memory, inputs, need_weights=True)
    for mixed, one, two in zip(found[:2], first[:2], second[:2], strict=True):
        assert (mixed - weights[0] * one - weights[1] * two).abs().max() < 1e-6


@every_variant
@torch.no_grad()
def test_batch_order_and_padding_change_no_steps(adaptive: str) -> None:
    model = make(adaptive)
    source, mask, inputs = batch()
    read, written = taken(model, source, mask, inputs)
    assert len(read[mask][:, 0].unique()) > 1 < len(written[..., 0].unique())
    assert (read[~mask] == 0).all() and (read[mask][:, 0] >= 1).all()
    for row, length in enumerate(LENGTHS.tolist()):
        one = slice(row, row + 1)
        alone = taken(model, source[one, :length], mask[one, :length], inputs[one, :3])
        assert (alone[0] - read[one, :length]).abs().max() < 1e-10
        assert (alone[1] - written[one, :3]).abs().max() < 1e-10
    order = torch.tensor([2, 0, 1])
    wide = (nn.functional.pad(each, (0, 3))[order] for each in (source, mask))
    moved = taken(model, *wide, inputs[order])
    assert (moved[0][:, :6] - read[order]).abs().max() < 1e-10
    assert (moved[1] - written[order]).abs().max() < 1e-10


@every_variant
@torch.no_grad()
def test_a_token_at_a_time_takes_as_many(adaptive: str) -> None:
    """And states that are re-indexed carry them along."""
    model = make(adaptive)
    source, mask, inputs = batch()
    _, written = taken(model, source, mask, inputs)
    state = model.start(model.encode(source, mask))
    assert state.pondering is None
    rows = torch.tensor([2, 0, 0])
    for step, tokens in enumerate(inputs.t()):
        state = model.step(tokens, state).state
        assert (state.pondering - written[:, step]).abs().max() < 1e-10
        for moved in (state.select(rows), state.reorder(rows)):
            assert torch.equal(moved.pondering, state.pondering[rows])
        assert len(state.select(rows[:1]).pondering) == 1


@every_variant
@torch.no_grad()
def test_beam_search_gives_every_token_its_own(adaptive: str) -> None:
    """Those of a teacher-forced pass over what was found; the same for any batch and beam place."""
    model = make(adaptive)
    source, mask, _ = batch()
    lengths = mask.sum(1)
    search = SearchConfiguration(beam=4, maximum_length_ratio=1.0, maximum_length_extra=3)
    found = beam_search(model, model.encode(source, mask), lengths, search, nbest=4)
    seen = set()
    for row, hypotheses in enumerate(found):
        length = int(lengths[row])
        memory = model.encode(source[row : row + 1, :length], mask[row : row + 1, :length])
        for hypothesis in hypotheses:
            read = torch.tensor([[2, *hypothesis.tokens[:-1]]])
            expected = model.all_steps(memory, read).pondered
            assert expected is not None and hypothesis.pondering is not None
            assert (hypothesis.pondering - expected.pairs[0]).abs().max() < 1e-10
            seen.update(hypothesis.pondering[:, 0].tolist())
    assert len(seen) > 1


@torch.no_grad()
def test_an_ensemble_has_the_mean_of_those_that_ponder() -> None:
    models = [make("graves"), make("graves", halting_bias=0.0), make("none")]
    for parameter in models[1].parameters():
        parameter.mul_(-1.0)
    source, mask, inputs = batch()
    both = Ensemble(models)
    memory = both.encode(source, mask)
    read = [model.pondering(each) for model, each in zip(models, memory, strict=True)]
    assert read[2] is None and read[0] is not None and read[1] is not None
    assert torch.equal(both.pondering(memory), (read[0] + read[1]) / 2)
    state = both.step(inputs[:, 0], both.start(memory)).state
    one, two, three = (each.pondering for each in state.states)
    assert three is None and torch.equal(state.pondering, (one + two) / 2)
    assert Ensemble(models[2:]).pondering(memory[2:]) is None


@torch.no_grad()
def test_features_that_are_read_apart_take_no_steps() -> None:
    """The steps of the text stand where the text does, and are those of the text alone."""
    both = {"kind": "universal_transformer", "steps": 5, "heads": 2, "adaptive": "graves"}
    sections = {"embedding": {"size": 8}, "encoder": both, "decoder": both, "features": "encoder"}
    torch.manual_seed(4)
    model = build_model(ModelConfiguration.model_validate(sections), 15, 10, 5)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    model.double().eval()
    source = torch.tensor([[11, 14, 4, 5, 6, 3], [10, 7, 8, 3, 0, 0]])
    mask = source != 0
    memory = model.encode(source, mask)
    found = model.pondering(memory)
    assert found is not None and memory.pondered is not None
    costs = []
    for row, (apart, length) in enumerate([(2, 6), (1, 4)]):
        text = source[row : row + 1, apart:length]
        alone = model.pondering(model._encode_text(text, torch.ones_like(text).bool()))
        assert (found[row, :apart] == 0).all() and (found[row, length:] == 0).all()
        assert (found[row, apart:length] - alone[0]).abs().max() < 1e-10
        costs.append(alone[0, :, 1])
    assert memory.pondered.mean().item() == pytest.approx(torch.cat(costs).mean().item())
    chosen = memory.select(torch.tensor([1, 1]))
    assert torch.equal(model.pondering(chosen), found[[1, 1]])


@pytest.mark.parametrize("adaptive", ["none", *ADAPTIVE])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_no_gradient_comes_from_a_later_token(adaptive: str, norm: str) -> None:
    """Causality by autograd: what step i says, and the cost of it, come from tokens up to i."""
    model = make(adaptive, norm=norm)
    source, mask, _ = batch()
    inputs = torch.tensor([[2, 5, 7, 9]]).expand(3, 4)  # each token once, so that rows tell steps
    decoding = model.all_steps(model.encode(source, mask), inputs)
    said = model.output(decoding.features).square().sum(-1)
    if decoding.pondered is not None:
        said = said + decoding.pondered.cost
    for step in range(4):
        (gradient,) = torch.autograd.grad(
            said[:, step].sum(), model.target_embedding.weight, retain_graph=True
        )
        found = [bool(gradient[token].any()) for token in inputs[0].tolist()]
        assert found == [i <= step for i in range(4)]


def test_steps_are_chosen_in_the_configuration() -> None:
    """Of whatever part is a Universal Transformer; the rest stays as it is."""
    both = {"kind": "universal_transformer", "steps": 4, "heads": 2}
    whole = ModelConfiguration.model_validate({"encoder": both, "decoder": both})
    chosen = whole.with_steps(7)
    assert (chosen.encoder.steps, chosen.decoder.steps) == (7, 7)
    assert chosen.with_steps(4) == whole
    half = ModelConfiguration.model_validate({"encoder": both})
    assert half.with_steps(2).encoder.steps == 2
    assert half.with_steps(2).decoder == half.decoder
    with pytest.raises(ValueError, match="the encoder is 'recurrent', the decoder 'recurrent'"):
        ModelConfiguration().with_steps(3)
    with pytest.raises(ValueError, match="steps is 0; it must be at least 1"):
        whole.with_steps(0)
