"""The Python face: ``regard.load``, then ``translate`` or ``caption``, ``score`` and ``align``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.alignment import Alignment
from regard.data.images.backbone import Backbone
from regard.data.pictures import Picture, see_images
from regard.data.tokenizers import Tokenizers
from regard.errors import UserError
from regard.evaluation.aligning import AlignedPair, Aligner, Unit, align_both_ways, align_texts
from regard.evaluation.attention_choice import AttentionChoice
from regard.evaluation.captioning import Caption, caption_images, score_captions
from regard.evaluation.choosing import choose_by_gold, choose_by_information
from regard.evaluation.exploring import Asked, Explored, explore_picture, explore_text
from regard.evaluation.looking import Look, look_at_picture, look_into
from regard.evaluation.prefixes import Prefix
from regard.evaluation.translating import Sampling, score_texts, translate_texts
from regard.evaluation.translation import Candidate, Translation
from regard.models import Model as Network
from regard.search import Ensemble, SearchConfiguration
from regard.training.configuration import Configuration
from regard.training.run import check_goes_with, load_run

__all__ = [
    "AlignedPair",
    "AttentionChoice",
    "Candidate",
    "Caption",
    "Explored",
    "Look",
    "Model",
    "Sampling",
    "Translation",
    "load",
]


@dataclass(frozen=True)
class Model:
    """A trained model, ready for use. Holds no state between calls.

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

    def align(
        self,
        pairs: Sequence[tuple[str, str]],
        *,
        features: Sequence[str] | None = None,
        choice: AttentionChoice | None = None,
        reverse: Model | None = None,
        reverse_choice: AttentionChoice | None = None,
        symmetrize: str = "grow-diag-final-and",
        unit: Unit = "word",
        batch_size: int = 64,
        attention: bool = True,
    ) -> list[AlignedPair]:
        """Which words of each source and its given target belong together, in order.

        Args:
            features: of each source, as in ``translate``.
            choice: whose attention it is read from: layer, head, step (``choose_attention`` finds
                them). Default: the attention that ``translate`` shows.
            reverse: a model of the opposite direction. The links of both are symmetrized.
            reverse_choice: the same of that model.
            symmetrize: how: a name in ``regard.evaluation.SYMMETRIZATIONS``.
            unit: ``word``, or ``token``: the model's own (letters, phones, subwords).
            batch_size: most pairs at once; changes speed, never an answer.
            attention: whether the weights are wanted too.

        Raises:
            UserError: there is no such attention; features that are missing, or given to a model
                that reads none. ValueError: an unknown symmetrization.
        """
        forward = self.aligner(features, unit, batch_size)
        if reverse is None:
            return align_texts(forward, pairs, choice, need_attention=attention)
        backward = reverse.aligner(None, unit, batch_size)
        choices = choice, reverse_choice
        return align_both_ways(
            forward, backward, pairs, choices, method=symmetrize, need_attention=attention
        )

    def choose_attention(
        self,
        pairs: Sequence[tuple[str, str]],
        gold: Sequence[Alignment] | None = None,
        *,
        features: Sequence[str] | None = None,
        unit: Unit = "word",
        batch_size: int = 64,
    ) -> AttentionChoice:
        """The attention that aligns these pairs best: ``choice`` of ``align``.

        gold: their links, as ``regard.evaluation.read_alignments`` reads them: the layer, head and
            step with the lowest alignment error rate. Without them: the layer whose attention,
            mean over heads, tells most about the source word (``word_information``).
        """
        aligner = self.aligner(features, unit, batch_size)
        if gold is None:
            return choose_by_information(aligner, pairs).choice
        return choose_by_gold(aligner, pairs, gold).choice

    def aligner(
        self, features: Sequence[str] | None = None, unit: Unit = "word", batch_size: int = 64
    ) -> Aligner:
        """What ``regard.evaluation.aligning`` and ``choosing`` take; arguments as of ``align``."""
        self._check_reads_texts()
        return Aligner(self.network, self.tokenizers, features, unit, batch_size)

    def look(
        self, source: str, target: str | Sequence[str], *, features: str | None = None
    ) -> Look:
        """Everything there is to be seen of a source and a target: all attention of the model, by
        layer and head, and what else could have been written.

        target: a text, or the ``tokens`` of an answer. features: of the source. Raises UserError
        for a blank or too long side, and for features as `translate`.
        """
        self._check_reads_texts()
        return look_into(self.network, self.tokenizers, source, target, features=features)

    def look_at(self, image: str | Path, caption: str | Sequence[str]) -> Look:
        """The same of an image and a caption: a text, or the ``tokens`` of a ``Caption``.

        Positions of the source are the cells of the image's grid, row by row from the top left.
        Raises UserError for an image that cannot be read, and for a blank or too long caption.
        """
        (seen,) = see_images([Path(image)], self.needed_backbone())
        if isinstance(seen, UserError):
            raise seen
        return look_at_picture(self.network, self.tokenizers, seen, caption)

    def explore(
        self,
        source: str | Picture,
        *,
        prefix: Prefix | None = None,
        hidden: Sequence[int] = (),
        features: str | None = None,
        beam: int | None = None,
    ) -> Explored[Any]:
        """The answer, the tree of the search with what it pruned, and what ``look`` gives.

        Args:
            source: a text, or a picture that ``regard.data.pictures.see_images`` gave.
            prefix: what the output is made to begin with, as in ``translate``.
            hidden: positions of the source that cannot be attended to; the encoder has read them.
            features: of a text. beam: as of ``translate``.

        Raises:
            UserError: a blank or too long text, features as of ``translate``, a prefix that cannot
                be written, positions that are not there.
        """
        search = self.search_configuration()
        if beam is not None:
            search = search.model_copy(update={"beam": beam})
        parts, asked = (self.network, self.tokenizers), Asked(prefix, tuple(hidden))
        if isinstance(source, Picture):
            return explore_picture(*parts, source, search, asked)
        self._check_reads_texts()
        return explore_text(*parts, source, search, asked, features=features)

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


def load(run: str | Path, *more: str | Path, steps: int | None = None) -> Model:
    """Load a run directory: configuration, tokenizer and tensors; nothing else is needed.

    Several runs answer together, each token by the mean of their probabilities. They must have the
    same tokenizers: train them on the same data with different seeds or recipes.

    Args:
        steps: how many steps a Universal Transformer makes, encoder and decoder; where they are
            adaptive, at most. Default: as many as it was trained with.

    Raises:
        UserError: a directory is not a run, is damaged, or does not go with the first; it has no
            steps to choose, or ``steps`` is less than 1.
    """
    loaded = load_run(Path(run), steps)
    network: Network | Ensemble = loaded.model
    if more:
        others = [load_run(Path(other), steps) for other in more]
        for other in others:
            check_goes_with(other, loaded)
        network = Ensemble([loaded.model, *(other.model for other in others)])
    parts = (loaded.directory, loaded.configuration, loaded.tokenizers)
    return Model(*parts, network, loaded.backbone)
