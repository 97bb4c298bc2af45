"""Pictures of what trained translators attend to."""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from pictures.charts import SECOND, chart, label_cells, shade
from pictures.panels import panels
from pictures.translator import (
    EXAMPLE,
    Translator,
    attentional,
    recurrent,
    train_translator,
    transformer,
)
from regard.attention import Attention, masked_entmax, masked_sparsemax
from regard.attention.windows import LocalPredictive
from regard.data.batches import collate, encode_pairs
from regard.models import ModelConfiguration
from regard.views import attention_svg

_WIDTH = 3  # D of the local attention
_LONGEST = 24


@cache
def bahdanau() -> Translator:
    """Additive attention, from the state before the cell."""
    return train_translator(_before("additive"))


@cache
def luong(score: str) -> Translator:
    """A score of Luong's in the same decoder."""
    return train_translator(_before(score))


@cache
def _transformer() -> Translator:
    return train_translator(transformer())


def additive() -> str:
    """What Bahdanau's attention reads for each word."""
    translator = bahdanau()
    return attention_svg(translator.view(translator.weights()))


def luong_scores() -> str:
    """Dot and general side by side."""
    views = []
    for score in ("dot", "general"):
        translator = luong(score)
        rate, perplexity = translator.grade()
        heading = f"{score}: alignment error {rate:.0%}, perplexity {perplexity:.2f}"
        views.append((heading, translator.view(translator.weights())))
    return panels(views, about="Luong's attention with the dot and the general score")


def location_and_local() -> str:
    """The location score, and local-p with the position that each step predicts."""
    location = train_translator(_before("location", maximum_positions=_LONGEST))
    local = train_translator(attentional("dot", local="predictive", local_width=_WIDTH))
    (centers, weights), words = _predicted(local), _words()
    with chart(2, width=9.5, height=4.6) as made:
        for axes, rows in zip(made.axes, (location.weights(), weights), strict=True):
            shade(axes, rows)
            label_cells(axes, *words)
        made.axes[0].set_title("location: the state alone says where", pad=10)
        made.axes[1].set_title(f"local-p, D = {_WIDTH}: about the predicted position", pad=10)
        middles, rows = (centers - 1).tolist(), range(len(centers))
        made.axes[1].plot(middles, rows, "o", color=SECOND, markersize=4, clip_on=False)
        made.axes[1].errorbar(
            middles, rows, xerr=_WIDTH, fmt="none", ecolor=SECOND, elinewidth=0.8, alpha=0.7
        )
        made.axes[1].set_xlim(-0.5, len(words[0]) - 0.5)
    return made.svg


def sparse_attention() -> str:
    """The same scores through softmax, entmax and sparsemax."""
    translator = luong("dot")
    weights = translator.weights()
    scores = weights.clamp(min=1e-30).log()  # all three ignore what is added to every score
    shown = [
        (name, translator.view(rows))
        for name, rows in (
            ("softmax", weights),
            ("entmax, alpha 1.5", masked_entmax(scores)),
            ("sparsemax", masked_sparsemax(scores)),
        )
    ]
    return panels(shown, columns=3, width=380, about="The same scores through three selections")


def coverage_and_supervision() -> str:
    """One model without and with gold alignments in its loss."""
    trained = {
        "unsupervised": train_translator(attentional("general")),
        "with alignment_loss": train_translator(attentional("general"), supervised=True),
    }
    views = []
    for name, translator in trained.items():
        rate, _ = translator.grade()
        heading = f"{name}: alignment error {rate:.0%}"
        views.append((heading, translator.view(translator.weights())))
    return panels(views, about="Attention without and with supervision")


def multi_head() -> str:
    """What each of the four heads of a Transformer's cross-attention reads."""
    translator = _transformer()
    (weights,) = _heads(translator, "cross_attention")
    views = [
        (f"head {number}", translator.view(rows)) for number, rows in enumerate(weights, start=1)
    ]
    return panels(views, columns=2, width=420, about="Four heads of cross-attention")


def transformer_layer() -> str:
    """The three attentions of a Transformer, each the mean of its heads."""
    translator, (source, target) = _transformer(), _words()
    inputs = ["<s>", *target[:-1]]
    over_self = _heads(translator, "attention")[0].mean(0)
    back = _heads(translator, "self_attention")[0].mean(0)
    over_source = _heads(translator, "cross_attention")[0].mean(0)
    with chart(3, width=11.5, height=3.9) as made:
        for axes, title, rows, columns, labels in zip(
            made.axes,
            ("encoder over itself", "decoder over its past", "decoder over the encoder"),
            (over_self, back, over_source),
            (source, inputs, source),
            (source, inputs, target),
            strict=True,
        ):
            shade(axes, rows)
            label_cells(axes, columns, labels)
            axes.tick_params(labelsize=8)
            axes.set_title(title, pad=10)
    return made.svg


def _before(score: str, **attention: Any) -> ModelConfiguration:
    """Bahdanau's decoder with any score (EQUATIONS A4, A13)."""
    return recurrent(
        attend="before",
        attention={"score": score, "size": 64, **attention},
        readout="maxout",
        start={"from": "backward_first"},
    )


def _words() -> tuple[list[str], list[str]]:
    return [*EXAMPLE.source.split(), "</s>"], [*EXAMPLE.target.split(), "</s>"]


def _predicted(
    translator: Translator,
) -> tuple[Float[Tensor, " steps"], Float[Tensor, "steps source"]]:
    """``p_i`` of every step, counted from 1, and the weights."""
    local = translator.model.decoder.attention.local
    assert isinstance(local, LocalPredictive)
    centers: list[Tensor] = []
    hook = local.register_forward_pre_hook(
        lambda module, given: centers.append(module.center(given[0], given[3])[0, 0])
    )
    weights = translator.weights()
    hook.remove()
    return torch.cat(centers), weights


@torch.no_grad()
def _heads(translator: Translator, name: str) -> list[Float[Tensor, "heads queries positions"]]:
    """Weights of every attention of that name, layer by layer, on the example."""
    found: list[Tensor] = []

    def again(module: Attention, given: tuple, options: dict, _: object) -> None:  # type: ignore[type-arg]
        wanted = {**options, "need_weights": True}
        found.append(module.forward(*given, **wanted).weights[0])

    named = [m for n, m in translator.model.named_modules() if n.split(".")[-1] == name]
    attentions = [module for module in named if isinstance(module, Attention)]
    hooks = [module.register_forward_hook(again, with_kwargs=True) for module in attentions]
    batch = collate(encode_pairs([EXAMPLE], translator.tokenizers), [0])
    translator.model(batch.source, batch.source_mask, batch.inputs)
    for hook in hooks:
        hook.remove()
    return found
