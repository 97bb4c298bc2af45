"""Answering: what a model writes to the sources of pairs, whether these are texts or pictures."""

from __future__ import annotations

from collections.abc import Sequence

from regard.data.pairs import Pair
from regard.data.tokenizers import Tokenizers
from regard.evaluation.answer import Answer
from regard.evaluation.captioning import caption_pictures
from regard.evaluation.translating import translate_texts
from regard.models import Model
from regard.search import Ensemble, SearchConfiguration


def answer_pairs(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    pairs: Sequence[Pair],
    search: SearchConfiguration,
    *,
    batch_size: int = 64,
    beam: int | None = None,
) -> Sequence[Answer]:
    """The answer to the source of every pair, in order; without attention.

    batch_size, beam: as of `translate_texts`.
    """
    pictures = [pair.picture for pair in pairs if pair.picture is not None]
    if pictures:
        return caption_pictures(
            model,
            tokenizers,
            pictures,
            search,
            batch_size=batch_size,
            beam=beam,
            need_attention=False,
        )
    features = [pair.features for pair in pairs]
    return translate_texts(
        model,
        tokenizers,
        [pair.source for pair in pairs],
        search,
        features=features if any(features) else None,
        batch_size=batch_size,
        beam=beam,
        need_attention=False,
    )
