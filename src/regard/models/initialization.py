"""How a paper starts its parameters, where a recipe carries its name."""

from __future__ import annotations

from torch import nn

from regard.attention.scores import AdditiveScore
from regard.models.model import Model
from regard.nn.recurrent import RecurrentLayer


def initialize(model: Model, kind: str) -> None:
    """``glorot`` leaves what the parts did. ``bahdanau`` and ``luong`` follow the papers.

    Bahdanau et al. 2015, appendix B.1: recurrent matrices orthogonal; ``W_a``, ``U_a`` from
    N(0, 0.001^2); ``v_a`` zero, so that attention starts uniform; other weights from
    N(0, 0.01^2); biases zero. Luong et al. 2015, section 4.1: everything from U(-0.1, 0.1).
    """
    if kind == "luong":
        for parameter in _weights(model):
            nn.init.uniform_(parameter, -0.1, 0.1)
    elif kind == "bahdanau":
        _bahdanau(model)


def _weights(model: Model) -> list[nn.Parameter]:
    """All but layer norms, which neither paper has: a small or zero gain would close them."""
    norms = [part for part in model.modules() if isinstance(part, nn.LayerNorm)]
    left_out = {id(parameter) for norm in norms for parameter in norm.parameters()}
    return [parameter for parameter in model.parameters() if id(parameter) not in left_out]


def _bahdanau(model: Model) -> None:
    recurrent = {id(part.U) for part in model.modules() if isinstance(part, RecurrentLayer)}
    for parameter in _weights(model):
        if parameter.dim() < 2:
            nn.init.zeros_(parameter)
        elif id(parameter) not in recurrent:
            nn.init.normal_(parameter, std=0.01)
    attention = getattr(model.decoder, "attention", None)
    if attention is not None and isinstance(attention.score, AdditiveScore):
        nn.init.normal_(attention.query_projection.weight, std=0.001)
        nn.init.normal_(attention.key_projection.weight, std=0.001)
        nn.init.zeros_(attention.score.v_a)
