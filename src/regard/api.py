"""The Python face: ``regard.load``, then ``translate`` or ``caption``, ``score`` and ``align``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.answering import Answering
from regard.data.alignment import Alignment
from regard.data.pictures import Picture, see_images
from regard.errors import UserError
from regard.evaluation.aligning import AlignedPair, Aligner, Unit, align_both_ways, align_texts
from regard.evaluation.attention_choice import AttentionChoice
from regard.evaluation.captioning import Caption
from regard.evaluation.choosing import choose_by_gold, choose_by_information
from regard.evaluation.exploring import Asked, Explored, explore_picture, explore_text
from regard.evaluation.looking import Look, look_at_picture, look_into
from regard.evaluation.prefixes import Prefix
from regard.evaluation.translating import Sampling
from regard.evaluation.translation import Candidate, Translation
from regard.evaluation.trust import Trust, trust_in_answers
from regard.models import Model as Network
from regard.search import Ensemble
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


class Model(Answering):
    """A trained model, ready for use: it answers, and can be looked into."""

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

    def trust(
        self,
        texts: Sequence[str],
        *,
        features: Sequence[str] | None = None,
        beam: int | None = None,
        length_penalty: float | None = None,
        batch_size: int = 64,
        resamples: int = 0,
    ) -> Trust:
        """How far its attention agrees with leaving source tokens out, over what it makes of texts.

        Each text is computed as often as it has tokens. resamples: bootstrap resamples for
        intervals, 0 = none. Other arguments and errors as of ``translate``; UserError for a model
        without attention. What is measured: ``regard.evaluation.trust``.
        """
        search: Any = {"beam": beam, "length_penalty": length_penalty, "batch_size": batch_size}
        answers = self.translate(texts, features=features, **search)
        parts = self.network, self.tokenizers
        return trust_in_answers(*parts, texts, answers, features=features, resamples=resamples)


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
