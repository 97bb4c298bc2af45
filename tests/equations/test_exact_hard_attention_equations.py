"""Hard attention summed exactly over all alignments (0-HARD, 0-MONO, 1-HARD, 1-MONO)."""

from typing import Any

import numpy as np
import pytest
import torch

from . import exact_hard_attention as reference
from .build import INPUTS, SOURCES, assert_close, batch, build

KINDS: dict[str, dict[str, Any]] = {
    "0-hard": {"order": 0, "monotonic": False},
    "0-mono": {"order": 0, "monotonic": True},
    "1-hard": {"order": 1, "monotonic": False, "jump": 2},
    "1-mono": {"order": 1, "monotonic": True, "jump": 2},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def configuration(kind: str, name: str = "general", cell: str = "lstm", layers: int = 1) -> Any:
    return {
        "embedding": {"size": 5},
        "encoder": {"cell": cell, "size": 4, "layers": layers},
        "decoder": {
            "kind": "hard_attention",
            "cell": cell,
            "size": 8,
            "layers": layers,
            "attention": {"score": name, "size": 7},
            "readout_size": 6,
            **KINDS[kind],
        },
    }


CASES = [
    ("0-hard", "general", "lstm", 1),
    ("0-mono", "general", "lstm", 2),
    ("0-mono", "additive", "gru", 1),
    ("0-hard", "dot", "gru", 1),
    ("1-hard", "general", "lstm", 1),
    ("1-mono", "general", "gru", 2),
]


@pytest.mark.parametrize(("kind", "name", "cell", "layers"), CASES)
def test_whole_model(kind: str, name: str, cell: str, layers: int) -> None:
    """Step by step: log p(y_i | y_<i, x) is a ratio of two sums over all alignments."""
    model = build(configuration(kind, name, cell, layers))
    decoded, unseen = model(*batch()), model(*batch(), need_weights=False)
    for row, (sentence, inputs) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        log_p, prior = reference.hard_attention(model, sentence, inputs)
        assert_close(decoded.log_probabilities[row], log_p)
        assert_close(unseen.log_probabilities[row], log_p)
        assert_close(decoded.attention[row, :, : len(sentence)], prior)
        assert (decoded.attention[row, :, len(sentence) :] == 0).all()


@every_kind
def test_a_sentence_is_the_sum_over_alignments(kind: str) -> None:
    """log p(y | x) is the sum of what its tokens cost, padded or not."""
    model = build(configuration(kind))
    source, mask, inputs = batch()
    outputs = torch.cat([inputs[:, 1:], torch.tensor([[3], [3], [3]])], dim=1)
    real = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 1]]).bool()
    plain, spread = model.token_losses(source, mask, inputs, outputs, real)
    alone = model.token_losses(source, mask, inputs, outputs, real, need_spread=False)
    assert torch.equal(plain, alone.negative_log_likelihood)
    rows = iter(plain.split(real.sum(1).tolist()))
    for row, sentence in enumerate(SOURCES):
        tokens = outputs[row, real[row]].tolist()
        expected = reference.parts(model, sentence, INPUTS[row]).likelihood(tokens)
        assert_close(-next(rows).sum(), np.log(expected))
    log_probabilities = model(source, mask, inputs).log_probabilities[real]
    assert_close(spread, -log_probabilities.mean(1).detach())


@every_kind
def test_what_was_read_once_all_is_known(kind: str) -> None:
    model = build(configuration(kind))
    source, mask, inputs = batch()
    outputs = torch.cat([inputs[:, 1:], torch.tensor([[3], [3], [3]])], dim=1)
    real = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 1]]).bool()
    found = model.posteriors(model.encode(source, mask), inputs, outputs, real)
    for row, sentence in enumerate(SOURCES):
        tokens = outputs[row, real[row]].tolist()
        expected = reference.parts(model, sentence, INPUTS[row]).posteriors(tokens)
        assert_close(found[row, : len(tokens), : len(sentence)], expected)
        assert (found[row, len(tokens) :] == 0).all()
        assert (found[row, :, len(sentence) :] == 0).all()


@every_kind
def test_gradients_are_those_of_forward(kind: str) -> None:
    """Of the losses, by their kernels, and of the log-probabilities of all steps."""
    model = build(configuration(kind))
    source, mask, inputs = batch()
    outputs = torch.cat([inputs[:, 1:], torch.tensor([[3], [3], [3]])], dim=1)
    real = torch.tensor([[1, 1, 1], [1, 0, 0], [1, 1, 0]]).bool()
    found = []
    for method in (type(model).token_losses, type(model).__mro__[1].token_losses):
        model.zero_grad()
        plain, spread = method(model, source, mask, inputs, outputs, real)
        (0.9 * plain + 0.1 * spread).mean().backward()
        found.append([parameter.grad.clone() for parameter in model.parameters()])
    for one, other in zip(*found, strict=True):
        assert_close(one, other.numpy())


@pytest.mark.parametrize("kind", ["0-mono", "1-mono"])
def test_never_backward(kind: str) -> None:
    """Transitions to earlier positions are exactly impossible, and what a token tells of a late
    position leaves nothing on those before it."""
    model = build(configuration(kind))
    decoder = model.decoder
    source, mask, inputs = batch()
    state = decoder.start(model.encode(source, mask))
    states, _ = decoder.states(model.target_embedding(inputs), state)
    at_last = torch.full((3, 5), -1e9, dtype=torch.float64)
    for position in range(4):
        before = at_last.clone()
        before[:, position] = 0.0
        came = torch.zeros(3, 2, 5, dtype=torch.float64)
        prior = decoder.priors(states, state.source, before, came).exp()
        possible = mask[:, position]
        assert (prior[possible, :, :position] == 0).all()
        assert torch.allclose(prior[possible].sum(-1), torch.ones(1, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["0-hard", "1-hard"])
def test_backward_is_possible(kind: str) -> None:
    model = build(configuration(kind))
    assert (reference.parts(model, SOURCES[0], INPUTS[0]).move[0][2, :2] > 0).all()


def test_the_first_step_of_0_mono_may_read_anywhere() -> None:
    """It is 0-HARD's."""
    mono, hard = (build(configuration(kind)) for kind in ("0-mono", "0-hard"))
    one, other = mono(*batch()), hard(*batch())
    assert_close(one.log_probabilities[:, 0], other.log_probabilities[:, 0].detach())
    assert (one.log_probabilities[:, 1] - other.log_probabilities[:, 1]).abs().max() > 1e-3
