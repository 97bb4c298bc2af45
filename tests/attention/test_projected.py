"""Attention between projections that somebody else makes: the same as the call."""

from typing import Any

import pytest
import torch

from regard.attention import Attention

OPTIONS: dict[str, dict[str, Any]] = {
    "multi-head": {"heads": 2},
    "shared keys": {"heads": 4, "key_heads": 2},
    "additive": {"score": "additive", "project": True},
    "location": {"score": "location", "maximum_positions": 5, "project": True},
    "rotary": {"heads": 2, "position_scheme": "rotary"},
    "relative": {"heads": 2, "position_scheme": "relative"},
    "window": {"heads": 2, "window": 1},
    "sparse": {"heads": 2, "select": "entmax"},
}
KEY_MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_over_and_remember_are_the_call(options: dict[str, Any], causal: bool) -> None:
    attention = Attention(8, **options).double()
    x = torch.randn(2, 5, 8, dtype=torch.float64)
    expected = attention(x, key_mask=KEY_MASK, causal=causal, need_weights=True)
    values = attention.value_projection(x)
    keys = values if attention.key_projection is None else attention.key_projection(x)
    memory = attention.remember(keys, values, KEY_MASK)
    for wanted in (True, False):
        found = attention.over(
            attention.query_projection(x), memory, causal=causal, itself=True, need_weights=wanted
        )
        assert torch.allclose(attention.output_projection(found.context), expected.context)
        assert (found.weights is not None) == wanted
    shown = attention.over(attention.query_projection(x), memory, causal=causal, need_weights=True)
    assert torch.allclose(shown.weights, expected.weights)


@pytest.mark.parametrize("options", [{"gate": True}, {"local": "monotonic"}])
def test_what_reads_the_query_itself_is_refused(options: dict[str, Any]) -> None:
    attention = Attention(8, **options)
    x = torch.randn(2, 5, 8)
    with pytest.raises(ValueError, match="before it is projected"):
        attention.over(x, attention.prepare(x))
