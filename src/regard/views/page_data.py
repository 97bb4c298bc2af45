"""What the page's script reads of a view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from regard.views.attention_view import AttentionView
from regard.views.labels import is_right_to_left, visible
from regard.views.packing import PackedView
from regard.views.page_image import image_data
from regard.views.steps_strip import short, steps_text

START = "<s>"


def page_data(view: AttentionView, packed: PackedView) -> dict[str, Any]:
    """A view with its packed weights, all text as it is to be shown."""
    source = _side(view.source, view.source_tokens, view.source_words)
    output = _side(view.text, view.tokens, view.words)
    data: dict[str, Any] = {
        "shown": packed.shown.as_dict(),
        "shownAs": view.shown,
        "stacks": [
            {
                "kind": stack.kind,
                "layers": stack.weights.shape[0],
                "heads": stack.weights.shape[1],
                "steps": stack.steps,
                "mean": stack.mean,
                **weights.as_dict(),
            }
            for stack, weights in packed.stacks
        ],
        "source": source | {"steps": _took(view.source_steps, view.source_ponder)},
        "output": output
        | {
            "steps": _took(view.steps, view.ponder),
            "probabilities": _rounded(view.probabilities),
            "nextBest": _others(view),
        },
    }
    if view.image is not None:
        data["source"]["tokens"] = view.source_tokens  # names of cells, whose spaces are spaces
        data["image"] = image_data(view.image)
    if view.opens_at is not None and any(stack.kind == "cross" for stack, _ in packed.stacks):
        layer, head = view.opens_at
        data["opensAt"] = {"layer": layer - 1, "head": "mean" if head is None else head - 1}
    if any(stack.kind == "decoder" for stack, _ in packed.stacks):
        read = (START, *view.tokens[:-1])
        words = None if view.words is None else (-1, *view.words[:-1])
        data["read"] = _side(view.text, read, words)
    return data


def _side(text: str, tokens: Sequence[str], words: Sequence[int] | None) -> dict[str, Any]:
    return {
        "tokens": [visible(token) for token in tokens],
        "words": words,
        "wordLabels": None if words is None else [visible(word) for word in text.split()],
        "rtl": is_right_to_left(text),
    }


def _took(
    steps: tuple[float, ...] | None, costs: tuple[float, ...] | None
) -> list[dict[str, str]] | None:
    """What the page says of each token's steps."""
    if steps is None:
        return None
    known = costs or [None] * len(steps)
    return [
        {"short": short(taken), "said": steps_text(taken, cost)}
        for taken, cost in zip(steps, known, strict=True)
    ]


def _rounded(probabilities: Sequence[float] | None) -> list[float] | None:
    """To six digits each: small ones stay what they are."""
    return None if probabilities is None else [float(f"{p:.6g}") for p in probabilities]


def _others(view: AttentionView) -> list[list[tuple[str, float]]] | None:
    if view.next_best is None:
        return None
    return [
        [(visible(token), float(f"{probability:.3g}")) for token, probability in others]
        for others in view.next_best
    ]
