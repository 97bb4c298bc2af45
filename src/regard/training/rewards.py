"""Rewards: how good a caption that a model wrote of a training picture is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.pairs import Pairs
from regard.data.tokenizers import Tokenizer
from regard.evaluation.captions import CiderD, DocumentFrequencies, caption_tokens
from regard.evaluation.captions.cider import WeightedReferences
from regard.search import Hypothesis

#: The end of a caption counts as a word: one that stops short, or that never ends, lacks n-grams.
END_WORD = "</s>"


@dataclass(frozen=True)
class CaptionRewards:
    """CIDEr-D against what people wrote of the same picture, from 0 to 10.

    references: of each picture, by its number among the training data's. How rare an n-gram is, is
    counted over the training captions.
    """

    metric: CiderD
    references: Mapping[int, WeightedReferences]
    tokenizer: Tokenizer

    @classmethod
    def of(cls, pairs: Pairs, tokenizer: Tokenizer) -> CaptionRewards:
        """By all captions of these pairs, whose sources are pictures."""
        captions: dict[int, list[list[str]]] = {}
        for pair in pairs:
            assert pair.picture is not None
            words = [*caption_tokens(pair.target), END_WORD]
            captions.setdefault(pair.picture.number, []).append(words)
        metric = CiderD(DocumentFrequencies.of(captions.values()))
        references = {number: metric.prepare(each) for number, each in captions.items()}
        return cls(metric, references, tokenizer)

    def of_captions(
        self, pictures: Sequence[int], captions: Sequence[Hypothesis]
    ) -> Float[Tensor, " captions"]:
        """The reward of each caption of a picture, which its number names; float64."""
        rewards = [
            self.metric.score(self._words(caption), self.references[picture])
            for picture, caption in zip(pictures, captions, strict=True)
        ]
        return torch.tensor(rewards, dtype=torch.float64)

    def _words(self, caption: Hypothesis) -> list[str]:
        words = list(caption_tokens(self.tokenizer.decode(caption.tokens)))
        return [*words, END_WORD] if caption.ended else words
