"""Captions and their references in tokens: what every caption metric counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from regard.evaluation.captions.tokens import caption_tokens
from regard.evaluation.checks import check_answers


@dataclass(frozen=True)
class Captions:
    """One caption an image and the image's references, cut into tokens.

    hypotheses: `[images]` of tokens; references: `[images][references]` of tokens.
    """

    hypotheses: Sequence[Sequence[str]]
    references: Sequence[Sequence[Sequence[str]]]

    @classmethod
    def cut(cls, hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> "Captions":
        """Cut raw captions into `caption_tokens`.

        Raises UserError when the counts differ, there are none, or an image has no reference.
        """
        check_answers(hypotheses, references, source="image", target="reference")
        return cls(
            [caption_tokens(caption) for caption in hypotheses],
            [[caption_tokens(reference) for reference in each] for each in references],
        )
