"""An answer to a text as a view: the tokens of both sides, and what attended to what."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from regard.views.attention_view import AttentionView

if TYPE_CHECKING:
    from regard.evaluation.translation import Translation


def translation_view(source: str, text: str, answer: Translation) -> AttentionView:
    """What a model made of a source, as `regard.Model.translate` and `score` give it.

    text: what was written, or given. Raises ValueError for an answer without attention.
    """
    return AttentionView(
        source=source,
        text=text,
        source_tokens=answer.source_tokens,
        tokens=answer.tokens,
        attention=answer.attention,
        score=answer.score,
        alignment=answer.alignment,
        probabilities=tuple(map(exp, answer.token_scores)),
        source_steps=answer.source_steps or None,
        source_ponder=answer.source_ponder or None,
        steps=answer.steps or None,
        ponder=answer.ponder or None,
    )
