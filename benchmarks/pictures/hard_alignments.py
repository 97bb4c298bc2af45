"""A picture of the alignments that exact hard attention learns, of letters to phones."""

from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from pictures.panels import panels
from regard.data.batches import bucket, collate, encode_pairs
from regard.data.configuration import (
    BatchingConfiguration,
    TokenizationConfiguration,
    TokenizerConfiguration,
)
from regard.data.pairs import Pair, Pairs
from regard.data.pronunciations import AlignedPronunciation, Pronunciations, read_pronunciations
from regard.data.tokenizers import Tokenizers, train_tokenizers
from regard.evaluation import alignment_error_rate, links_from_attention
from regard.models import ModelConfiguration, build_model
from regard.models.hard_attention_model import HardAttentionModel
from regard.training.configuration import TrainingConfiguration
from regard.training.objective import batch_loss
from regard.training.optimizer import Adam, clip_gradients
from regard.views import AttentionView

WORDS, GRADED, UPDATES = 4000, 500, 250
EXAMPLE = "schiacciapatate"
#: As the papers call them.
KINDS: dict[str, dict[str, Any]] = {
    "0-HARD": {"order": 0, "monotonic": False},
    "0-MONO": {"order": 0},
    "1-MONO": {"order": 1},
}
_PEAK = 0.006


class Pronouncer:
    """A small model, trained with warm-up and cooldown from seed 1."""

    def __init__(self, kind: str, updates: int = UPDATES) -> None:
        pairs = Pairs(tuple(_data().train)[:WORDS], "pronunciations", 0)
        self.tokenizers = _tokenizers()
        examples = encode_pairs(pairs, self.tokenizers)
        torch.manual_seed(1)
        sizes = self.tokenizers.source.size, self.tokenizers.target.size
        model = build_model(_configuration(kind), *sizes)
        assert isinstance(model, HardAttentionModel)
        self.model = model
        optimizer = Adam(model, TrainingConfiguration(optimizer="adam"))
        update, epoch = 0, 0
        while update < updates:
            batches = bucket(examples, BatchingConfiguration(tokens=600), 1, epoch)
            for indices in batches[: updates - update]:
                update += 1
                optimizer.forget_gradients()
                batch_loss(model, collate(examples, indices)).loss.backward()
                clip_gradients(model, 1.0)
                optimizer.update(_PEAK * min(1.0, update / 30, (updates + 1 - update) / 75))
            epoch += 1
        model.eval()

    def read(self, pairs: list[Pair]) -> Float[Tensor, "pairs phones letters"]:
        """p(a_i | y, x) of given pronunciations."""
        batch = collate(encode_pairs(pairs, self.tokenizers), range(len(pairs)))
        with torch.no_grad():
            memory = self.model.encode(batch.source, batch.source_mask)
        return self.model.posteriors(memory, batch.inputs, batch.outputs, batch.mask)

    def error_rate(self) -> float:
        """Of the alignments of words that were not trained on."""
        graded = _data().aligned[:GRADED]
        found = []
        for weights, one in zip(self.read([one.pair for one in graded]), graded, strict=True):
            letters, phones = len(one.pair.source), len(one.pair.target.split())
            rows = weights[: phones + 1, : letters + 1].tolist()
            found.append(links_from_attention(rows, [*range(letters), -1], [*range(phones), -1]))
        sure = [one.alignment.sure for one in graded]
        return alignment_error_rate(found, sure, [one.alignment.possible for one in graded])


def exact_hard_attention() -> str:
    """What 0-HARD, 0-MONO and 1-MONO read for each phone of a word."""
    pair = _example().pair
    views = []
    for kind in KINDS:
        pronouncer = Pronouncer(kind)
        phones = (*pair.target.split(), "</s>")
        rows = pronouncer.read([pair])[0].tolist()
        view = AttentionView(pair.source, pair.target, (*pair.source, "</s>"), phones, rows)
        views.append((f"{kind}: alignment error {pronouncer.error_rate():.0%}", view))
    return panels(views, columns=3, width=380, about="Alignments of three kinds of hard attention")


def _example() -> AlignedPronunciation:
    return next(one for one in _data().aligned if one.pair.source == EXAMPLE)


@cache
def _data() -> Pronunciations:
    return read_pronunciations()


@cache
def _tokenizers() -> Tokenizers:
    settings = TokenizationConfiguration(
        joint=False,
        source=TokenizerConfiguration(kind="character"),
        target=TokenizerConfiguration(kind="space"),
    )
    return train_tokenizers(settings, _data().train, 1)


def _configuration(kind: str) -> ModelConfiguration:
    return ModelConfiguration.model_validate(
        {
            "embedding": {"size": 32, "dropout": 0.0},
            "encoder": {"kind": "recurrent", "size": 32, "dropout": 0.0},
            "decoder": {
                "kind": "hard_attention",
                "cell": "gru",
                "size": 64,
                "readout_size": 64,
                "dropout": 0.0,
                **KINDS[kind],
            },
        }
    )
