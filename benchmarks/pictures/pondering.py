"""Pictures of adaptive computation time: what each step gave a token, how many it took."""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from pictures.charts import chart
from pictures.translator import EXAMPLE, Translator, train_translator
from regard.data.batches import collate, encode_pairs
from regard.evaluation.translating import translate_texts
from regard.models import ModelConfiguration
from regard.search import SearchConfiguration
from regard.views import AttentionView, attention_svg

STEPS = 5
_PONDER_COST = 0.004


def universal_transformer() -> str:
    """Weights of every step, of the source's words and of the target's."""
    texts = {"encoder": EXAMPLE.source, "decoder": EXAMPLE.target}
    with chart(2, width=9.0, height=3.4) as made:
        found = zip(made.axes, texts.items(), step_weights(_translator()), strict=True)
        for axes, (side, text), weights in found:
            tokens = [*text.split(), "</s>"]
            axes.imshow(weights.numpy(), cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
            axes.set_xticks(range(len(tokens)), tokens, rotation=55, ha="right")
            axes.set_yticks(range(STEPS), [f"step {t}" for t in range(1, STEPS + 1)])
            cost = (weights > 0).sum(0).float().mean().item()
            axes.set_title(f"{side}: {cost:.1f} steps a word")
    return made.svg


def steps_of_tokens() -> str:
    """The same model's translation of the source, as `regard show` draws it."""
    translator = _translator()
    (found,) = translate_texts(
        translator.model, translator.tokenizers, [EXAMPLE.source], SearchConfiguration()
    )
    view = AttentionView(
        source=EXAMPLE.source,
        text=found.text,
        source_tokens=found.source_tokens,
        tokens=found.tokens,
        attention=found.attention,
        source_steps=found.source_steps,
        source_ponder=found.source_ponder,
        steps=found.steps,
        ponder=found.ponder,
    )
    return attention_svg(view)


@cache
def _translator() -> Translator:
    return train_translator(_configuration(), ponder_cost=_PONDER_COST)


@torch.no_grad()
def step_weights(translator: Translator) -> list[Float[Tensor, "steps tokens"]]:
    """Of the example, encoder's and decoder's."""
    model = translator.model
    batch = collate(encode_pairs([EXAMPLE], translator.tokenizers), [0])
    source = model.source_embedding(batch.source)
    memory = model.encode(batch.source, batch.source_mask)
    prepared = model.decoder.layer.cross_attention.prepare(memory)
    return [
        _weights(model.encoder, source, lambda read: model.encoder.layer(read, None)),
        _weights(
            model.decoder,
            model.target_embedding(batch.inputs),
            lambda read: model.decoder.layer(read, prepared)[0],
        ),
    ]


def _weights(part: Any, states: Tensor, layer: Any) -> Float[Tensor, "steps tokens"]:
    progress, found = part.recurrence.begin(states), []
    for step in range(1, STEPS + 1):
        read = part.recurrence.mark(progress.states, step)
        progress = part.recurrence.after(progress, read, layer(read), step)
        assert progress.tally is not None
        found.append(progress.tally.weight[0])
    return torch.stack(found)


def _configuration() -> ModelConfiguration:
    both = {
        "kind": "universal_transformer",
        "steps": STEPS,
        "adaptive": "graves",
        "heads": 4,
        "feed_forward_size": 128,
        "dropout": 0.0,
    }
    embedding = {"size": 64, "dropout": 0.0, "scaled": True}
    return ModelConfiguration.model_validate(
        {"embedding": embedding, "encoder": both, "decoder": both}
    )
