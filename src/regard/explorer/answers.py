"""Answers: a question put to a model, as the JSON that the page reads.

`answer` has the names of `show --json`; beside it stand what only the page needs: the element that
`show --out x.html` has, and the search as a tree.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields, replace
from math import exp, isfinite
from typing import Any

from regard.errors import UserError
from regard.evaluation.exploring import Explored
from regard.evaluation.looking import Look
from regard.explorer.bodies import Refused
from regard.explorer.photos import Photo, Photos
from regard.explorer.questions import MOST_TOKENS, WHERE_TO, Question
from regard.explorer.shelf import Shelved
from regard.search.tree import SearchTree
from regard.views.attention_view import AttentionView
from regard.views.caption_view import seen_caption_view
from regard.views.json_view import attention_json
from regard.views.labels import visible
from regard.views.page_html import attention_element
from regard.views.translation_view import translation_view


def answer_question(shelf: Sequence[Shelved], photos: Photos, question: Question) -> dict[str, Any]:
    """What the page is told. Raises UserError and Refused for what cannot be answered."""
    if question.model >= len(shelf):
        raise Refused(404, f"there is no model {question.model}; there are {len(shelf)}")
    shelved = shelf[question.model]
    if shelved.model.reads_pictures != (question.photo is not None):
        read = "photos" if shelved.model.reads_pictures else "texts"
        raise UserError(f"{shelved.name} reads {read}")
    photo = None if question.photo is None else photos.get(question.photo)
    explored = _explore(shelved, photo, question)
    view = _view(explored, photo, question)
    look = explored.look
    return {
        "answer": _plain(explored, question, photo) if view is None else _fields(explored, view),
        "html": None if view is None else attention_element(view, heading=False),
        "sourceWords": look.source_words,
        "words": look.words,
        "labels": [visible(token) for token in explored.answer.tokens],
        "sourceLabels": _source_labels(explored, photo, question),
        "nextBest": [[(name, visible(name), p) for name, p in each] for each in look.next_best],
        "tree": _tree(explored.tree, explored.names),
        "begun": explored.begun,
        "ended": explored.answer.ended,
        "notice": shelved.notice(),
    }


def _explore(shelved: Shelved, photo: Photo | None, question: Question) -> Explored[Any]:
    model = shelved.model
    target = model.tokenizers.target
    prefix = question.write if not question.tokens else question.tokens
    if question.tokens and question.write.strip():
        prefix = (*question.tokens, *target.tokenize(question.write).tokens)
    options: Any = {"prefix": prefix, "hidden": question.hidden, "beam": question.beam}
    if photo is not None:
        return model.explore(photo.pictures[question.model], **options)
    text = question.text or ""
    length = len(model.tokenizers.source.encode(text))
    if length > MOST_TOKENS:
        raise Refused(
            413,
            f"text has {length:,} tokens for this model; at most {MOST_TOKENS} are searched "
            f"with every hypothesis kept ({WHERE_TO})",
        )
    features = question.features if model.tokenizers.features is not None else None
    return model.explore(text, features=features, **options)


def _view(explored: Explored[Any], photo: Photo | None, question: Question) -> AttentionView | None:
    """None for a model without attention."""
    answer = explored.answer
    if not answer.attention:
        return None
    if photo is None:
        view = translation_view(question.text or "", answer.text, answer)
    else:
        view = seen_caption_view(photo.name, photo.seen[question.model], answer)
    return replace(view, **{each.name: getattr(explored.look, each.name) for each in fields(Look)})


def _fields(explored: Explored[Any], view: AttentionView) -> dict[str, Any]:
    return json.loads(attention_json(view)) | _nbest(explored)


def _plain(explored: Explored[Any], question: Question, photo: Photo | None) -> dict[str, Any]:
    """The same names where there is no attention."""
    answer = explored.answer
    named = {"source": question.text} if photo is None else {"image": photo.name}
    read = {"source_tokens": answer.source_tokens, "alignment": ()} if photo is None else {}
    return {
        "text": answer.text,
        "score": answer.score,
        "tokens": answer.tokens,
        **named,
        **read,
        "attention": (),
        "token_probabilities": [exp(score) for score in answer.token_scores],
    } | _nbest(explored)


def _nbest(explored: Explored[Any]) -> dict[str, Any]:
    return {"nbest": [{"text": each.text, "score": each.score} for each in explored.answer.nbest]}


def _source_labels(explored: Explored[Any], photo: Photo | None, question: Question) -> list[str]:
    if photo is not None:
        return list(photo.seen[question.model].cell_names())
    return [visible(token) for token in explored.answer.source_tokens]


def _tree(tree: SearchTree, names: Sequence[str]) -> dict[str, Any]:
    """Nodes as rows; a score that is no number (all was ruled out) as null."""
    rows = [
        (
            visible(name),
            node.parent,
            node.step,
            _number(node.score),
            _number(node.normalized_score),
            exp(node.log_probability),
            node.fate,
            node.last_step,
        )
        for node, name in zip(tree.nodes, names, strict=True)
    ]
    return {"nodes": rows, "answers": tree.answers()}


def _number(value: float) -> float | None:
    return round(value, 6) if isfinite(value) else None
