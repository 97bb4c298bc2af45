"""A7, A8: Luong's scores, attentional output and input feeding."""

from typing import Any

import numpy as np
import pytest
import torch

from regard.attention import Attention, additive_scores, dot_scores, general_scores

from . import luong as reference
from .build import INPUTS, SOURCES, assert_close, batch, build, randomize


def configuration(name: str, kind: str, *, feeding: bool = False, layers: int = 1) -> Any:
    return {
        "embedding": {"size": 5},
        "encoder": {"cell": kind, "size": 4, "layers": layers},
        "decoder": {
            "cell": kind,
            "size": 8,
            "layers": layers,
            "attend": "after",
            "attention": {"score": name, "size": 7},
            "readout": "attentional",
            "readout_size": 3,
            "input_feeding": feeding,
        },
    }


@pytest.mark.parametrize("feeding", [False, True], ids=["", "feeding"])
@pytest.mark.parametrize("kind", ["lstm", "gru"])
@pytest.mark.parametrize("name", ["dot", "general", "concat"])
def test_whole_model(name: str, kind: str, feeding: bool) -> None:
    model = build(configuration(name, kind, feeding=feeding))
    decoded, unseen = model(*batch()), model(*batch(), need_weights=False)
    for row, (sentence, inputs) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        log_p, alpha = reference.luong(model, sentence, inputs, name, feeding=feeding)
        assert_close(decoded.log_probabilities[row], log_p)
        assert_close(unseen.log_probabilities[row], log_p)
        assert_close(decoded.attention[row, :, : len(sentence)], alpha)
        assert (decoded.attention[row, :, len(sentence) :] == 0).all()


@pytest.mark.parametrize("feeding", [False, True], ids=["", "feeding"])
def test_stacked(feeding: bool) -> None:
    model = build(configuration("general", "lstm", feeding=feeding, layers=2))
    decoded, unseen = model(*batch()), model(*batch(), need_weights=False)
    for row, (sentence, inputs) in enumerate(zip(SOURCES, INPUTS, strict=True)):
        log_p, alpha = reference.luong(model, sentence, inputs, "general", feeding=feeding)
        assert_close(decoded.log_probabilities[row], log_p)
        assert_close(unseen.log_probabilities[row], log_p)
        assert_close(decoded.attention[row, :, : len(sentence)], alpha)


def test_the_score_reads_the_new_state() -> None:
    """The first weights depend on what the cell makes of the first token."""
    model = build(configuration("dot", "lstm"))
    source, mask, inputs = batch()
    one = model(source, mask, inputs[:, :1]).attention
    other = model(source, mask, inputs[:, :1] + 1).attention
    assert (one - other).abs().max() > 1e-3


@pytest.mark.parametrize("name", ["dot", "general", "concat"])
def test_scores_of_a_layer(name: str) -> None:
    sizes = (6, 6) if name == "dot" else (6, 8)
    attention = randomize(Attention(*sizes, score=name, hidden_size=7)).double()
    s = torch.randn(2, 3, sizes[0], dtype=torch.float64)
    h = torch.randn(2, 4, sizes[1], dtype=torch.float64)
    f = reference.score(attention, name)
    weights = attention(s, h, need_weights=True).weights
    for row in range(2):
        for i in range(3):
            e = np.array([f(s[row, i].numpy(), h[row, j].numpy()) for j in range(4)])
            assert_close(weights[row, 0, i], reference.softmax(e))


def test_pure_scores_with_heads() -> None:
    """The public functions, head by head: each head has its own W_a and v_a."""
    generator = torch.Generator().manual_seed(3)
    q = torch.randn(2, 3, 4, 6, generator=generator, dtype=torch.float64)
    k = torch.randn(2, 3, 5, 7, generator=generator, dtype=torch.float64)
    same = torch.randn(2, 3, 5, 6, generator=generator, dtype=torch.float64)
    w_a = torch.randn(3, 6, 7, generator=generator, dtype=torch.float64)
    v_a = torch.randn(3, 6, generator=generator, dtype=torch.float64)
    for b, head, i, j in np.ndindex(2, 3, 4, 5):
        query, key, like = q[b, head, i], k[b, head, j], same[b, head, j]
        places = (b, head, i, j)
        expected = sum(float(x) * float(y) for x, y in zip(query, like, strict=True))
        assert float(dot_scores(q, same)[places]) == pytest.approx(expected, abs=1e-12)
        assert float(dot_scores(q, same, 0.25)[places]) == pytest.approx(expected / 4, abs=1e-12)
        bilinear = float(query.numpy() @ w_a[head].numpy() @ key.numpy())
        assert float(general_scores(q, k, w_a)[places]) == pytest.approx(bilinear, abs=1e-12)
        added = float(v_a[head].numpy() @ np.tanh(query.numpy() + like.numpy()))
        assert float(additive_scores(q, same, v_a)[places]) == pytest.approx(added, abs=1e-12)
