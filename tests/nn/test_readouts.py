"""What stands between state and output layer, against its equation written out."""

import math

import pytest
import torch

from regard.nn.readout import DeepReadout, JoinedReadout, make_readout


def test_joined() -> None:
    """EQUATIONS A9: ``[c_i; s_i]``, the context first."""
    state, context = torch.randn(2, 3, 4), torch.randn(2, 3, 5)
    joined = JoinedReadout()(state, context)
    for row in range(2):
        for i in range(3):
            expected = [*context[row, i].tolist(), *state[row, i].tolist()]
            assert joined[row, i].tolist() == expected
    assert not list(JoinedReadout().parameters())


@pytest.mark.parametrize("squash", [False, True])
def test_deep(squash: bool) -> None:
    """EQUATIONS A11: ``E y_{i-1} + L_h s_i + L_z c_i``, and the tanh of the authors' code."""
    readout = DeepReadout(4, 3, 5, squash=squash).double()
    torch.nn.init.normal_(readout.L_h.bias)
    state, embedded, context = (torch.randn(2, 6, size).double() for size in (4, 3, 5))
    found = readout(state, embedded, context)
    L_h, b, L_z = (p.tolist() for p in (readout.L_h.weight, readout.L_h.bias, readout.L_z.weight))
    for row in range(2):
        for i in range(6):
            s, y, c = (each[row, i].tolist() for each in (state, embedded, context))
            for k in range(3):
                summed = y[k] + b[k]
                summed += sum(L_h[k][m] * s[m] for m in range(4))
                summed += sum(L_z[k][m] * c[m] for m in range(5))
                expected = math.tanh(summed) if squash else summed
                assert found[row, i, k].item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("kind", "size"),
    [("maxout", 7), ("attentional", 7), ("joined", 9), ("deep", 3), ("deep_tanh", 3), ("none", 4)],
)
def test_sizes(kind: str, size: int) -> None:
    """What the output layer is made for is what comes."""
    readout, features = make_readout(kind, 4, 3, 5, 7)
    assert features == size
    state, embedded, context = (torch.randn(1, 2, part) for part in (4, 3, 5))
    if kind in ("attentional", "joined"):
        assert readout is not None
        assert readout(state, context).shape == (1, 2, size)
    elif kind != "none":
        assert readout is not None
        assert readout(state, embedded, context).shape == (1, 2, size)


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match="readout 'mean' is none of"):
        make_readout("mean", 4, 3, 5, 7)
