"""A trained model that answers: texts translated, images captioned, given targets scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.data.images.backbone import Backbone
from regard.data.tokenizers import Tokenizers
from regard.errors import UserError
from regard.evaluation.captioning import Caption, caption_images, score_captions
from regard.evaluation.prefixes import Prefix
from regard.evaluation.translating import Sampling, score_texts, translate_texts
from regard.evaluation.translation import Translation
from regard.models import Model as Network
from regard.search import Ensemble, SearchConfiguration
from regard.training.configuration import Configuration


@dataclass(frozen=True)
class Answering:
    """A trained model and its answers. Holds no state between calls.

    network: the ``torch.nn.Module``, in evaluation mode; of several runs, their ensemble, and all
        else is that of the first.
    backbone: what makes features of the images that it captions; None for one that reads texts, and
        for one whose features came ready-made.
    """

    directory: Path
    configuration: Configuration
    tokenizers: Tokenizers
    network: Network | Ensemble
    backbone: Backbone | None = None

    def translate(
        self,
        texts: Sequence[str],
        *,
        features: Sequence[str] | None = None,
        prefixes: Sequence[Prefix | None] | None = None,
        beam: int | None = None,
        nbest: int = 1,
        length_penalty: float | None = None,
        batch_size: int = 64,
        attention: bool = True,
        sample: bool = False,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 1,
        first: int = 0,
    ) -> list[Translation]:
        """Translate texts, in order: answer i is for text i; blank texts stay blank.

        Args:
            features: of each text, such as ``V;PST``, for a model that was trained with features.
            prefixes: what each answer is made to begin with: a text, or ``tokens`` of an answer;
                None where it is free. Scores stay the model's own.
            beam: hypotheses kept at each step; 1 is greedy. Default: the configuration's.
            nbest: candidates to list in ``Translation.nbest``; at most ``beam``.
            length_penalty: hypotheses are ranked by ``score / length**length_penalty``.
            batch_size: most texts at once; changes speed, never an answer.
            attention: whether attention, alignment and steps are wanted; it is faster without.
            sample: draw at random in place of a search, with temperature, top_k and top_p.
            seed, first: of sampling; ``first`` is the number of the first text in a longer job.

        Raises:
            UserError: options out of range; features that are missing, or given to a model that
                reads none. TypeError: a single string in place of a list.
        """
        if isinstance(texts, str):
            raise TypeError("translate takes a list of texts: write [text] for a single one")
        self._check_reads_texts()
        return translate_texts(
            self.network,
            self.tokenizers,
            texts,
            self.search_configuration(length_penalty),
            features=features,
            prefixes=prefixes,
            batch_size=batch_size,
            beam=beam,
            nbest=nbest,
            need_attention=attention,
            sampling=Sampling(seed, temperature, top_k, top_p, first) if sample else None,
        )

    def caption(
        self,
        images: Sequence[str | Path],
        *,
        beam: int | None = None,
        nbest: int = 1,
        length_penalty: float | None = None,
        batch_size: int = 32,
        attention: bool = True,
        sampling: Sampling | None = None,
    ) -> list[Caption]:
        """Describe images, in order; one that cannot be read has a ``problem`` and no text.

        Args:
            beam, nbest, length_penalty: as of ``translate``.
            batch_size: most images in memory at once; changes speed, never an answer.
            attention: whether tokens and attention are wanted; it is faster without.
            sampling: draw at random in place of a search.

        Raises:
            UserError: the model reads texts, or options are out of range. TypeError: a single path
                in place of a list.
        """
        if isinstance(images, str | Path):
            raise TypeError("caption takes a list of images: write [image] for a single one")
        return caption_images(
            self.network,
            self.tokenizers,
            [Path(image) for image in images],
            self.needed_backbone(),
            self.search_configuration(length_penalty),
            batch_size=batch_size,
            beam=beam,
            nbest=nbest,
            need_attention=attention,
            sampling=sampling,
        )

    def score(
        self,
        pairs: Sequence[tuple[str, str | Sequence[str]]],
        *,
        features: Sequence[str] | None = None,
        length_penalty: float | None = None,
        batch_size: int = 64,
        attention: bool = True,
    ) -> list[Translation]:
        """The log-probability of given targets, each a text or a list of ``tokens``.

        ``features`` are those of each source, as in ``translate``. The answer for a pair with a
        blank side has no score.
        """
        self._check_reads_texts()
        return score_texts(
            self.network,
            self.tokenizers,
            pairs,
            self.search_configuration(length_penalty),
            features=features,
            batch_size=batch_size,
            need_attention=attention,
        )

    def score_captions(
        self,
        pairs: Sequence[tuple[str | Path, str | Sequence[str]]],
        *,
        length_penalty: float | None = None,
        batch_size: int = 32,
        attention: bool = True,
    ) -> list[Caption]:
        """The log-probability of given captions of images, each a text or a list of ``tokens``."""
        return score_captions(
            self.network,
            self.tokenizers,
            [(Path(image), caption) for image, caption in pairs],
            self.needed_backbone(),
            self.search_configuration(length_penalty),
            batch_size=batch_size,
            need_attention=attention,
        )

    @property
    def reads_pictures(self) -> bool:
        """Whether it captions images, and translates nothing."""
        return self.configuration.model.reads_pictures

    def _check_reads_texts(self) -> None:
        if self.reads_pictures:
            raise UserError(
                f"{self.directory} reads images, not texts: use `regard caption`, or caption() in "
                "Python"
            )

    def needed_backbone(self) -> Backbone:
        """What makes features of images. Raises UserError where it reads texts or has none."""
        if not self.reads_pictures:
            raise UserError(
                f"{self.directory} reads texts, not images: use `regard translate`, or translate() "
                "in Python"
            )
        if self.backbone is None:
            raise UserError(
                f"{self.directory} was trained on features that were ready-made, and does not know "
                "how they are made of images"
            )
        return self.backbone

    def search_configuration(self, length_penalty: float | None = None) -> SearchConfiguration:
        """How it searches: as its configuration says, but for a length penalty that is given."""
        search = self.configuration.search
        if length_penalty is None:
            return search
        fields = search.model_dump() | {"length_penalty": length_penalty}
        return SearchConfiguration.model_validate(fields)
