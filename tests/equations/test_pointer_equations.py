"""The pointer-generator mixture: See, Liu & Manning 2017, section 2.2."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.models import Model, ModelConfiguration, build_model

from . import pointer as reference
from .build import SOURCE_VOCABULARY, TARGET_VOCABULARY, assert_close, randomize

#: What each source id is copied as: two vocabularies; specials never, nor what the target lacks.
TABLE = [-1, -1, -1, -1, 9, 4, -1, 12, 5, 6, 11]


def open_symbol(number: int) -> int:
    """The source id of what is the target id `number`, and is no symbol of the source."""
    return SOURCE_VOCABULARY + number


#: Repeated symbols, symbols never seen by either side (two, one twice; one), one that only the
#: source never saw, and one that is nowhere among the target's.
SOURCES = [
    [4, open_symbol(13), 9, 4, open_symbol(14), open_symbol(13), 3],
    [7, open_symbol(10), 6, 3],
    [open_symbol(13), 8, 8, 8, 3],
]
INPUTS = [[2, 13, 4], [2, 5, 10], [2, 8, 13]]
OUTPUTS = [[13, 9, 14], [10, 12, 3], [5, 13, 3]]
WIDTH = TARGET_VOCABULARY + 2

DECODERS: dict[str, Any] = {
    "after": {
        "kind": "recurrent",
        "cell": "lstm",
        "size": 8,
        "attend": "after",
        "attention": {"score": "general"},
        "readout": "attentional",
        "readout_size": 3,
    },
    "before": {
        "kind": "recurrent",
        "size": 6,
        "attention": {"score": "additive", "size": 7},
        "readout_size": 3,
        "start": {"from": "backward_first"},
    },
    "transformer": {"kind": "transformer", "layers": 2, "heads": 2, "feed_forward_size": 7},
}
STEPS = {
    "after": reference.luong_steps,
    "before": reference.bahdanau_steps,
    "transformer": reference.transformer_steps,
}
every_decoder = pytest.mark.parametrize("name", DECODERS)


def model_of(name: str, **more: Any) -> Model:
    decoder = {**DECODERS[name], "copying": True, **more}
    encoder: dict[str, Any] = {"kind": "recurrent", "size": 4}
    if name == "transformer":
        encoder = {"kind": "transformer", "layers": 1, "heads": 2, "feed_forward_size": 7}
    elif name == "after":
        encoder["cell"] = "lstm"
    sections = {"embedding": {"size": 6}, "encoder": encoder, "decoder": decoder}
    chosen = ModelConfiguration.model_validate(sections)
    model = build_model(chosen, SOURCE_VOCABULARY, TARGET_VOCABULARY, copies=TABLE)
    return randomize(model).double().eval()


def batch() -> tuple[Tensor, Tensor, Tensor]:
    longest = max(map(len, SOURCES))
    source = torch.tensor([row + [0] * (longest - len(row)) for row in SOURCES])
    mask = torch.tensor([[i < len(row) for i in range(longest)] for row in SOURCES])
    return source, mask, torch.tensor(INPUTS)


def words(source: list[int]) -> list[int]:
    """The target id that each position is copied as, or -1."""
    last = SOURCE_VOCABULARY
    return [TABLE[number] if number < last else number - last for number in source]


def expected(model: Model, name: str, row: int) -> np.ndarray:
    """P of one sentence, alone and without padding."""
    source = reference.known(SOURCES[row], SOURCE_VOCABULARY)
    inputs = reference.known(INPUTS[row], TARGET_VOCABULARY)
    steps = STEPS[name](model, source, inputs)
    return reference.pointer(model, steps, words(SOURCES[row]), WIDTH)[0]


@every_decoder
def test_whole_model(name: str) -> None:
    """Eq. 8 and 9, over the extended vocabulary; what a sentence has not is impossible."""
    model = model_of(name)
    decoded, unseen = model(*batch()), model(*batch(), need_weights=False)
    for row in range(3):
        p = expected(model, name, row)
        assert np.allclose(p.sum(-1), 1.0, atol=1e-12)
        assert_close(decoded.log_probabilities[row].exp(), p)
        assert_close(unseen.log_probabilities[row].exp(), p)
        impossible = decoded.log_probabilities[row] == -torch.inf
        assert impossible.sum() == (p == 0).sum() == 3 * (0, 2, 1)[row]


@every_decoder
def test_steps(name: str) -> None:
    model = model_of(name)
    source, mask, inputs = batch()
    state = model.start(model.encode(source, mask))
    rows = [expected(model, name, row) for row in range(3)]
    for i, tokens in enumerate(inputs.t()):
        step = model.step(tokens, state)
        state = step.state
        assert_close(step.log_probabilities.exp(), [row[i] for row in rows])


@every_decoder
def test_losses(name: str) -> None:
    """-log P of each target, what the output layer cannot write too; and their mean over the
    vocabulary, of the mixture."""
    model = model_of(name)
    source, mask, inputs = batch()
    outputs = torch.tensor(OUTPUTS)
    real = torch.tensor([[1, 1, 1], [1, 1, 0], [1, 1, 1]]).bool()
    losses = model.token_losses(source, mask, inputs, outputs, real)
    number = 0
    for row in range(3):
        p = expected(model, name, row)
        for i in range(int(real[row].sum())):
            assert_close(losses.negative_log_likelihood[number], -np.log(p[i, OUTPUTS[row][i]]))
            assert_close(losses.spread[number], -np.log(p[i, :TARGET_VOCABULARY]).mean())
            number += 1
    assert number == len(losses.spread)
    plain = model.token_losses(source, mask, inputs, outputs, real, need_spread=False)
    assert torch.equal(plain.negative_log_likelihood, losses.negative_log_likelihood)


@every_decoder
def test_gradients_of_the_losses_are_those_of_the_distribution(name: str) -> None:
    model = model_of(name)
    source, mask, inputs = batch()
    outputs, real = torch.tensor(OUTPUTS), torch.ones(3, 3, dtype=torch.bool)
    outward = torch.randn(2, 9, dtype=torch.float64)
    losses = model.token_losses(source, mask, inputs, outputs, real)
    log_p = model(source, mask, inputs, need_weights=False).log_probabilities
    chosen = -log_p.gather(2, outputs[..., None]).flatten()
    spread = -log_p[..., :TARGET_VOCABULARY].mean(-1).flatten()
    results = []
    for pair in (losses, (chosen, spread)):
        total = (outward * torch.stack(list(pair))).sum()
        results.append(torch.autograd.grad(total, list(model.parameters()), retain_graph=True))
    for (parameter, _), one, other in zip(model.named_parameters(), *results, strict=True):
        assert_close(one, other, 1e-10 * (1 + float(other.abs().max())))
        assert other.abs().max() > 0 or parameter.endswith("key_projection.bias")


@pytest.mark.parametrize(("bias", "never"), [(60.0, "copied"), (-60.0, "written")])
def test_a_switch_that_is_shut_copies_or_writes_alone(bias: float, never: str) -> None:
    """p_gen is 1, or 0, in float32 too; nothing becomes infinite that has some probability."""
    model = model_of("after").float()
    with torch.no_grad():
        model.decoder.generation_gate.linear.weight.zero_()
        model.decoder.generation_gate.linear.bias.fill_(bias)
    source, mask, inputs = batch()
    log_p = model(source, mask, inputs).log_probabilities
    losses = model.token_losses(source, mask, inputs, torch.tensor(OUTPUTS), inputs > 0)
    assert losses.negative_log_likelihood.isfinite().all() and losses.spread.isfinite().all()
    (losses.negative_log_likelihood.sum() + losses.spread.sum()).backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())
    unwritten = log_p[0, :, TARGET_VOCABULARY:]
    assert unwritten.isfinite().all()
    if never == "copied":
        torch.testing.assert_close(
            log_p[..., :TARGET_VOCABULARY],
            model.output(model.features(source, mask, inputs, inputs > 0).values).unflatten(
                0, (3, 3)
            ),
        )
        assert (unwritten < -50).all()
    else:
        assert unwritten.logsumexp(-1).max() > -10
