"""Tiny models of every combination of encoder and decoder that can be made."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.models import Model, ModelConfiguration, build_model

VOCABULARY = 13

TRANSFORMER = {"kind": "transformer", "layers": 2, "heads": 2, "feed_forward_size": 9}
UNIVERSAL = {"kind": "universal_transformer", "heads": 2, "feed_forward_size": 7}

ENCODERS: dict[str, dict[str, Any]] = {
    "gru, both ways": {"kind": "recurrent", "cell": "gru", "size": 4},
    "gru, one way": {"kind": "recurrent", "cell": "gru", "size": 8, "bidirectional": False},
    "lstm, both ways, 2 layers": {"kind": "recurrent", "cell": "lstm", "size": 4, "layers": 2},
    "lstm, one way": {"kind": "recurrent", "cell": "lstm", "size": 8, "bidirectional": False},
    "library gru, residual and norm": {
        "kind": "recurrent",
        "cell": "library_gru",
        "size": 4,
        "layers": 2,
        "residual": True,
        "layer_norm": True,
    },
    "transformer, pre": {
        "kind": "transformer",
        "layers": 2,
        "heads": 2,
        "feed_forward_size": 7,
        "norm": "pre",
    },
    "transformer, post": {
        "kind": "transformer",
        "layers": 1,
        "heads": 4,
        "feed_forward_size": 7,
        "norm": "post",
        "activation": "gelu",
    },
    "transformer, rotary, gated, shared keys": {
        "kind": "transformer",
        "layers": 2,
        "heads": 4,
        "key_heads": 2,
        "feed_forward_size": 7,
        "activation": "swiglu",
        "positions": "rotary",
    },
    "transformer, learned": {
        "kind": "transformer",
        "layers": 1,
        "heads": 2,
        "feed_forward_size": 7,
        "positions": "learned",
        "maximum_positions": 12,
    },
    "transformer, alibi": {**TRANSFORMER, "positions": "alibi"},
    "transformer, relative": {**TRANSFORMER, "positions": "relative"},
    "transformer, no positions": {**TRANSFORMER, "positions": "none"},
    "universal": {**UNIVERSAL, "steps": 3},
    "universal, adaptive": {**UNIVERSAL, "steps": 4, "adaptive": "graves", "halting_bias": 0.0},
    "universal, adaptive, released": {**UNIVERSAL, "steps": 4, "adaptive": "tensor2tensor"},
}


def recurrent(attend: str, score: str = "additive", **options: Any) -> dict[str, Any]:
    attention = {"score": score, "size": 6, **options.pop("attention", {})}
    shape = {"kind": "recurrent", "cell": "gru", "size": 6, "readout_size": 5}
    return {**shape, "attend": attend, "attention": attention, **options}


def hard(order: int, **options: Any) -> dict[str, Any]:
    shape = {"kind": "hard_attention", "size": 6, "readout_size": 5}
    return {**shape, "order": order, **options}


MULTI_HEAD = {"heads": 2, "project": True}
EXPECTATION = {"select": "hard", "hard_expectation": 1.0, "hard_use": "expectation"}
FIRST = {"from": "backward_first"}
MEAN = {"from": "mean", "projection": "linear"}
ZERO = {"from": "zero"}
SAME = {"from": "last", "projection": "none"}

DECODERS: dict[str, dict[str, Any]] = {
    "rnnsearch": recurrent("before", start=FIRST),
    "before, lstm, 2 layers": recurrent("before", cell="lstm", layers=2),
    "before, library gru": recurrent("before", cell="library_gru"),
    "before, layer norm": recurrent("before", layer_norm=True, start=FIRST),
    "before, lstm, residual and norm": recurrent(
        "before", cell="lstm", layers=3, residual=True, layer_norm=True
    ),
    "after, residual and norm": recurrent(
        "after", layers=2, residual=True, layer_norm=True, readout="attentional"
    ),
    "feeding, residual and norm": recurrent(
        "after",
        "general",
        layers=2,
        residual=True,
        layer_norm=True,
        readout="attentional",
        input_feeding=True,
    ),
    "before, concat, no readout": recurrent("before", "concat", readout="none", start=MEAN),
    "before, general, attentional": recurrent("before", "general", readout="attentional"),
    "before, multi-head": recurrent("before", "scaled_dot", attention=MULTI_HEAD, start=ZERO),
    "before, additive heads": recurrent("before", attention={**MULTI_HEAD, "project": None}),
    "luong-dot": recurrent("after", "dot", cell="lstm", size=8, readout="attentional", start=SAME),
    "luong-general": recurrent("after", "general", readout="attentional"),
    "luong, concat, 2 layers": recurrent("after", "concat", layers=2, readout="attentional"),
    "after, maxout": recurrent("after", start=MEAN),
    "after, multi-head": recurrent(
        "after", "scaled_dot", attention=MULTI_HEAD, cell="lstm", readout="attentional"
    ),
    "feeding, dot": recurrent(
        "after", "dot", size=8, readout="attentional", input_feeding=True, start=SAME
    ),
    "feeding, lstm, 2 layers": recurrent(
        "after", cell="lstm", layers=2, readout="attentional", input_feeding=True, start=ZERO
    ),
    "before, coverage and gate": recurrent("before", attention={"coverage": True, "gate": True}),
    "feeding, coverage": recurrent(
        "after",
        attention={"coverage": True, "heads": 2, "project": False},
        readout="attentional",
        input_feeding=True,
    ),
    "before, local-m": recurrent("before", attention={"local": "monotonic", "local_width": 2}),
    "luong-local-p, sparse": recurrent(
        "after",
        "general",
        attention={"local": "predictive", "local_width": 2, "select": "entmax"},
        readout="attentional",
    ),
    "luong-local-m": recurrent(
        "after", "dot", size=8, attention={"local": "monotonic"}, readout="attentional", start=SAME
    ),
    "luong-location": recurrent(
        "after", "location", attention={"maximum_positions": 9}, readout="attentional"
    ),
    "before, shared keys": recurrent(
        "before", "scaled_dot", attention={**MULTI_HEAD, "key_heads": 1}
    ),
    "cs224n": recurrent("after", "dot", cell="lstm", size=8, readout="joined", start=SAME),
    "cs224n, feeding": recurrent("after", readout="joined", input_feeding=True),
    "show-attend-tell": recurrent(
        "before", cell="lstm", readout="deep", attention={"gate": True}, start=MEAN
    ),
    "before, deep with tanh": recurrent("before", readout="deep_tanh"),
    "before, hard by expectation": recurrent("before", attention=EXPECTATION),
    "after, hard by expectation": recurrent("after", attention=EXPECTATION, readout="attentional"),
    "pointer": recurrent("after", "general", readout="attentional", copying=True),
    "pointer, before": recurrent("before", copying=True),
    "pointer, feeding": recurrent(
        "after",
        attention={"coverage": True, "heads": 2, "project": False},
        cell="lstm",
        readout="attentional",
        input_feeding=True,
        copying=True,
    ),
    "never, deep": recurrent("never", readout="deep", constant_context=True),
    "seq2seq": recurrent("never", constant_context=True),
    "never, no readout": recurrent("never", readout="none"),
    "never, from its start": recurrent(
        "never",
        constant_context=True,
        constant_context_from="start",
        start={"from": "mean", "projection": "mlp"},
    ),
    "never, lstm, 2 layers": recurrent(
        "never", cell="lstm", layers=2, constant_context=True, readout="none", start=MEAN
    ),
    "0-hard": hard(0, monotonic=False, attention={"score": "additive", "size": 7}),
    "0-mono, gru, 2 layers": hard(0, cell="gru", layers=2, start=MEAN),
    "0-mono, location": hard(0, attention={"score": "location", "maximum_positions": 9}),
    "1-hard": hard(1, monotonic=False, jump=1),
    "1-mono": hard(1, jump=2, start=ZERO),
    "transformer, pre": {
        "kind": "transformer",
        "layers": 2,
        "heads": 4,
        "feed_forward_size": 9,
        "norm": "pre",
    },
    "transformer, post": {
        "kind": "transformer",
        "layers": 2,
        "heads": 2,
        "feed_forward_size": 9,
        "norm": "post",
        "activation": "gelu",
        "shown_layer": 2,
    },
    "transformer, rotary, gated, shared keys": {
        "kind": "transformer",
        "layers": 2,
        "heads": 4,
        "key_heads": 1,
        "feed_forward_size": 9,
        "activation": "swiglu",
        "positions": "rotary",
    },
    "transformer, alibi": {**TRANSFORMER, "positions": "alibi"},
    "transformer, relative": {**TRANSFORMER, "positions": "relative"},
    "transformer, learned": {**TRANSFORMER, "positions": "learned", "maximum_positions": 4},
    "universal": {**UNIVERSAL, "steps": 3},
    "universal, pre": {**UNIVERSAL, "steps": 2, "norm": "pre", "activation": "swiglu"},
    "universal, adaptive": {**UNIVERSAL, "steps": 4, "adaptive": "graves", "halting_bias": 0.0},
    "universal, adaptive, released": {**UNIVERSAL, "steps": 4, "adaptive": "tensor2tensor"},
    "transformer, no positions": {**TRANSFORMER, "positions": "none"},
    "pointer, transformer": {
        "kind": "transformer",
        "layers": 2,
        "heads": 2,
        "feed_forward_size": 9,
        "copying": True,
    },
}


def possible(encoder: str, decoder: str) -> bool:
    """A backward state needs two directions; pondering must reach the loss."""
    chosen = DECODERS[decoder]
    from_backward = chosen.get("start") == FIRST
    unfused = chosen.get("copying") or chosen["kind"] == "hard_attention"
    return not (
        (from_backward and "both ways" not in encoder) or (unfused and "adaptive" in encoder)
    )


#: Every decoder reads these, and these read every encoder.
CORE_ENCODERS = ("gru, both ways", "gru, one way", "lstm, both ways, 2 layers", "transformer, pre")
CORE_DECODERS = ("rnnsearch", "luong-general", "seq2seq", "transformer, pre", "universal, adaptive")
COMBINATIONS = [
    (encoder, decoder)
    for encoder in ENCODERS
    for decoder in DECODERS
    if (encoder in CORE_ENCODERS or decoder in CORE_DECODERS) and possible(encoder, decoder)
]
every_combination = pytest.mark.parametrize(
    ("encoder", "decoder"), COMBINATIONS, ids=[f"{e} -> {d}" for e, d in COMBINATIONS]
)
#: Each encoder and each decoder at least once.
some = [(e, "after, maxout") for e in ENCODERS] + [("gru, both ways", d) for d in DECODERS]
some_combinations = pytest.mark.parametrize(
    ("encoder", "decoder"), some, ids=[f"{e} -> {d}" for e, d in some]
)


def build(encoder: str, decoder: str, dtype: torch.dtype = torch.float64) -> Model:
    """In evaluation mode, every parameter random, so that biases and norms count."""
    model = fresh(encoder, decoder)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.to(dtype).eval()


def fresh(encoder: str, decoder: str, **more: Any) -> Model:
    """As `build_model` starts it, in training mode."""
    sections = {
        "embedding": {"size": 8},
        "encoder": ENCODERS[encoder],
        "decoder": DECODERS[decoder],
    }
    chosen = ModelConfiguration.model_validate({**sections, **more})
    return build_model(chosen, VOCABULARY, VOCABULARY)


#: Three sources of different lengths, the longest in the middle.
LENGTHS = torch.tensor([4, 6, 1])


def batch(steps: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    """Padded sources, their mask, and decoder inputs."""
    mask = torch.arange(6)[None] < LENGTHS[:, None]
    source = torch.randint(3, VOCABULARY, (3, 6)).masked_fill(~mask, 0)
    return source, mask, torch.randint(2, VOCABULARY, (3, steps))
