"""Tiny translators of scenes, English to German, trained in seconds: what pictures look into."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention import alignment_loss
from regard.data.alignment import Alignment
from regard.data.batches import Batch, bucket, collate, encode_pairs
from regard.data.configuration import (
    BatchingConfiguration,
    TokenizationConfiguration,
    TokenizerConfiguration,
)
from regard.data.pairs import Pair, Pairs
from regard.data.scenes import generate_scenes, scene_alignments, scene_pairs, scene_text
from regard.data.tokenizers import Tokenizers, train_tokenizers
from regard.evaluation import alignment_error_rate, links_from_attention
from regard.models import Model, ModelConfiguration, build_model
from regard.training.configuration import TrainingConfiguration
from regard.training.objective import batch_loss
from regard.training.optimizer import Adam, clip_gradients
from regard.views import AttentionView

EXAMPLE = Pair(
    "A small red star is to the left of the large blue circle.",
    "Links von dem großen blauen Kreis befindet sich ein kleiner roter Stern.",
)
SCENES, HELD_OUT = 1500, 200
UPDATES = 250
_PEAK = 0.006


@dataclass(frozen=True)
class Translator:
    """A trained model and its tokens."""

    model: Model
    tokenizers: Tokenizers

    @torch.no_grad()
    def weights(self, pair: Pair = EXAMPLE) -> Float[Tensor, "tokens source"]:
        """What each token of a given translation attends to."""
        batch = collate(encode_pairs([pair], self.tokenizers), [0])
        attention = self.model(batch.source, batch.source_mask, batch.inputs).attention
        assert attention is not None
        return attention[0]

    @torch.no_grad()
    def grade(self) -> tuple[float, float]:
        """Alignment error rate and perplexity on sentences that were not trained on."""
        pairs, alignments, _ = _data(HELD_OUT, SCENES)
        examples = encode_pairs(pairs, self.tokenizers)
        batch = collate(examples, range(len(examples)))
        decoded = self.model(batch.source, batch.source_mask, batch.inputs)
        chosen = decoded.log_probabilities.gather(2, batch.outputs[..., None])[..., 0]
        found = []
        for weights, example in zip(decoded.attention, examples, strict=True):
            source, target = len(example.source), len(example.target)
            words = ([*range(source - 1), -1], [*range(target - 1), -1])
            found.append(links_from_attention(weights[:target, :source].tolist(), *words))
        sure = [alignment.sure for alignment in alignments]
        rate = alignment_error_rate(found, sure, [each.possible for each in alignments])
        return rate, chosen[batch.mask].mean().neg().exp().item()

    def view(self, weights: Float[Tensor, "tokens source"], pair: Pair = EXAMPLE) -> AttentionView:
        """Weights as regard shows them."""
        return AttentionView(
            pair.source,
            pair.target,
            (*pair.source.split(), "</s>"),
            (*pair.target.split(), "</s>"),
            weights.tolist(),
        )


def recurrent(**decoder: Any) -> ModelConfiguration:
    """A recurrent model at the size of a picture."""
    size = {"cell": "gru", "size": 64, "readout_size": 32, "dropout": 0.0}
    return ModelConfiguration.model_validate(
        {
            "embedding": {"size": 32, "dropout": 0.0},
            "encoder": {"kind": "recurrent", "cell": "gru", "size": 32, "dropout": 0.0},
            "decoder": {"kind": "recurrent", **size, **decoder},
        }
    )


def attentional(score: str, **attention: Any) -> ModelConfiguration:
    """Luong's model (EQUATIONS A8) with a GRU; the first state is 0: all must be attended to."""
    return recurrent(
        attend="after",
        readout="attentional",
        attention={"score": score, **attention},
        start={"from": "zero", "projection": "none"},
    )


def transformer() -> ModelConfiguration:
    """One layer of four heads on each side."""
    stack = {
        "kind": "transformer",
        "layers": 1,
        "heads": 4,
        "feed_forward_size": 64,
        "dropout": 0.0,
    }
    embedding = {"size": 64, "dropout": 0.0, "scaled": True}
    return ModelConfiguration.model_validate(
        {"embedding": embedding, "encoder": stack, "decoder": stack}
    )


def train_translator(
    configuration: ModelConfiguration,
    *,
    supervised: bool = False,
    ponder_cost: float = 0.0,
    updates: int = UPDATES,
) -> Translator:
    """Adam with warm-up and cooldown, from seed 1.

    supervised: gold alignments are learned too (regard.attention.alignment_loss). ponder_cost: of
    adaptive steps.
    """
    (pairs, _, gold), tokenizers = _data(SCENES), _tokenizers()
    examples = encode_pairs(pairs, tokenizers)
    torch.manual_seed(1)
    model = build_model(configuration, tokenizers.source.size, tokenizers.target.size)
    optimizer = Adam(model, TrainingConfiguration(optimizer="adam"))
    batching = BatchingConfiguration(tokens=1024)
    update, epoch = 0, 0
    while update < updates:
        for indices in bucket(examples, batching, 1, epoch)[: updates - update]:
            update += 1
            batch = collate(examples, indices)
            optimizer.forget_gradients()
            if supervised:
                loss = _supervised_loss(model, batch, gold)
            else:
                loss = batch_loss(model, batch, ponder_cost=ponder_cost).loss
            loss.backward()
            clip_gradients(model, 1.0)
            optimizer.update(_PEAK * min(1.0, update / 30, (updates + 1 - update) / 75))
        epoch += 1
    return Translator(model.eval(), tokenizers)


def _supervised_loss(
    model: Model, batch: Batch, gold: Float[Tensor, "pairs steps source"]
) -> Float[Tensor, ""]:
    """The same, and as much again for weights that are not where the gold links are."""
    decoded = model(batch.source, batch.source_mask, batch.inputs)
    assert decoded.attention is not None
    chosen = decoded.log_probabilities.gather(2, batch.outputs[..., None])[..., 0]
    links = gold[batch.indices, : batch.inputs.shape[1], : batch.source.shape[1]]
    return -chosen[batch.mask].mean() + alignment_loss(
        decoded.attention[:, None], links, batch.mask
    )


@cache
def _data(
    count: int, skipped: int = 0
) -> tuple[Pairs, list[Alignment], Float[Tensor, "pairs steps source"]]:
    """Pairs without the example, their gold links, and the sure ones as tensors."""
    scenes = generate_scenes(skipped + count, 1)[skipped:]
    scenes = [scene for scene in scenes if scene_text(scene, "en") != EXAMPLE.source]
    pairs, alignments = scene_pairs(scenes, "en", "de"), scene_alignments(scenes, "en", "de")
    longest = 1 + max(len(text.split()) for pair in pairs for text in (pair.source, pair.target))
    gold = torch.zeros(len(scenes), longest, longest)
    for row, alignment in enumerate(alignments):
        for i, j in alignment.sure:
            gold[row, j, i] = 1.0
    return pairs, alignments, gold


@cache
def _tokenizers() -> Tokenizers:
    """A token a word."""
    space = TokenizerConfiguration(kind="space")
    settings = TokenizationConfiguration(joint=False, source=space, target=space)
    return train_tokenizers(settings, _data(SCENES)[0], 1)
