"""A4-A6: Bahdanau's decoder, from the encoder's states to log-probabilities."""

import numpy as np
import pytest
import torch

from regard.attention import Attention
from regard.nn.readout import MaxoutReadout

from . import bahdanau as reference
from .build import INPUTS, SOURCES, assert_close, batch, build, randomize

RNNSEARCH = {
    "embedding": {"size": 5},
    "encoder": {"cell": "gru", "size": 4},
    "decoder": {
        "cell": "gru",
        "size": 6,
        "attend": "before",
        "attention": {"score": "additive", "size": 7},
        "readout": "maxout",
        "readout_size": 3,
        "start": {"from": "backward_first", "projection": "tanh"},
    },
}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whole_model(seed: int) -> None:
    model = build(RNNSEARCH, seed=seed)
    decoded, unseen = model(*batch()), model(*batch(), need_weights=False)
    for row, (sentence, inputs) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        log_p, alpha, _ = reference.rnnsearch(model, sentence, inputs)
        assert_close(decoded.log_probabilities[row], log_p)
        assert_close(unseen.log_probabilities[row], log_p)
        assert_close(decoded.attention[row, :, : len(sentence)], alpha)
        assert (decoded.attention[row, :, len(sentence) :] == 0).all()


def test_states_step_by_step() -> None:
    """s_0 is tanh(W_s backward h_1) of each sentence alone; then each s_i."""
    model = build(RNNSEARCH)
    source, mask, inputs = batch()
    state = model.start(model.encode(source, mask))
    expected = [reference.rnnsearch(model, s, i)[2] for s, i in zip(SOURCES, INPUTS, strict=True)]
    for i in range(inputs.shape[1] + 1):
        assert_close(state.layers[0][0][0], [states[i] for states in expected])
        if i < inputs.shape[1]:
            state = model.step(inputs[:, i], state).state


def test_the_score_reads_the_state_before() -> None:
    """alpha_1 and log p(y_1) come before the cell moves: what the cell holds cannot matter."""
    model = build(RNNSEARCH)
    source, mask, inputs = batch()
    before = model(source, mask, inputs[:, :1])
    randomize(model.decoder.cells, seed=9)
    after = model(source, mask, inputs[:, :1])
    assert torch.equal(before.attention, after.attention)
    assert torch.equal(before.log_probabilities, after.log_probabilities)


def test_context_enters_every_gate() -> None:
    model = build(RNNSEARCH)
    for gate in range(3):
        changed = build(RNNSEARCH)
        with torch.no_grad():
            changed.decoder.cells.first().W[5:, 6 * gate : 6 * (gate + 1)] = 0.0
        one, other = model(*batch()), changed(*batch())
        first = (one.log_probabilities - other.log_probabilities)[:, 0].abs().max()
        later = (one.log_probabilities - other.log_probabilities)[:, 1:].abs().max()
        assert first == 0 and later > 1e-3


def test_parameters_of_the_alignment_are_the_papers() -> None:
    """W_a, U_a and v_a; no bias, no projection of the value."""
    attention = build(RNNSEARCH).decoder.attention
    shapes = {name: tuple(parameter.shape) for name, parameter in attention.named_parameters()}
    assert shapes == {
        "query_projection.weight": (7, 6),
        "key_projection.weight": (7, 8),
        "score.v_a": (1, 7),
    }


def test_alignment_alone() -> None:
    attention = randomize(Attention(6, 8, score="additive", hidden_size=7)).double()
    s = torch.randn(2, 3, 6, dtype=torch.float64)
    h = torch.randn(2, 4, 8, dtype=torch.float64)
    context, weights = attention(s, h, need_weights=True)
    assert_close(attention(s, h).context, context.detach())
    for row in range(2):
        for i in range(3):
            c, alpha = reference.attend(attention, s[row, i].numpy(), list(h[row].numpy()))
            assert_close(context[row, i], c)
            assert_close(weights[row, 0, i], alpha)


def test_maxout_pairs_neighbours() -> None:
    readout = MaxoutReadout(2, 1, 1, 3)
    with torch.no_grad():
        readout.linear.weight.zero_()
        readout.linear.bias.copy_(torch.tensor([1.0, 2.0, 5.0, 4.0, -3.0, -6.0]))
    features = readout(torch.randn(1, 1, 2), torch.randn(1, 1, 1), torch.randn(1, 1, 1))
    assert features.tolist() == [[[2.0, 5.0, -3.0]]]


def test_softmax_runs_over_source_positions() -> None:
    decoded = build(RNNSEARCH)(*batch())
    assert decoded.attention.shape == (3, 3, 5)
    assert np.allclose(decoded.attention.detach().sum(-1), 1.0, atol=1e-14)
