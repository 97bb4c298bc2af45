"""What `translate` prints for one line: text, n-best rows or a JSON object."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from regard.cli.lines import InputLine

if TYPE_CHECKING:
    from regard.api import Translation
    from regard.evaluation.answer import Answer

#: An input line and its translation as lines of output.
Form = Callable[[InputLine, "Translation"], list[str]]


def as_text(line: InputLine, answer: "Translation") -> list[str]:
    """The translation; an empty line for a blank or unreadable one."""
    return [one_line(answer.text)]


def as_nbest(line: InputLine, answer: "Translation") -> list[str]:
    """`number<TAB>score<TAB>text` for each candidate, best first; nothing for a blank line."""
    return [
        f"{line.number}\t{candidate.score:.6f}\t{one_line(candidate.text)}"
        for candidate in answer.nbest
    ]


def as_json(line: InputLine, answer: "Translation") -> list[str]:
    """One JSON object; a blank line has no score and empty lists, an unreadable one its `error`."""
    fields = asked(line.text, line.features) | translation_fields(answer)
    problem = line.problem or answer.problem
    if problem is not None:
        fields["error"] = problem
    return [json_line(fields)]


def asked(source: str, features: str | None) -> dict[str, Any]:
    """What was asked: the source and, where there are any, its features."""
    return {"source": source} | ({} if features is None else {"features": features})


def answer_fields(answer: "Answer") -> dict[str, Any]:
    """What every answer has, under the names that files, Python and `show` share."""
    fields = {
        "text": answer.text,
        "score": answer.score,
        "normalized_score": answer.normalized_score,
        "tokens": answer.tokens,
        "nbest": [{"text": each.text, "score": each.score} for each in answer.nbest],
    }
    return fields | steps_fields(answer)


def translation_fields(answer: "Translation") -> dict[str, Any]:
    """A translation, as `answer_fields`."""
    return answer_fields(answer) | {
        "source_tokens": answer.source_tokens,
        "attention": [[round(weight, 6) for weight in row] for row in answer.attention],
        "alignment": answer.alignment,
        "unseen": answer.unseen,
    }


def steps_fields(answer: "Answer") -> dict[str, Any]:
    """How many steps each token took and what they cost; nothing unless steps are adaptive."""
    fields: dict[str, Any] = {}
    for name in ("source_steps", "source_ponder", "steps", "ponder"):
        values = getattr(answer, name, ())  # a picture has no tokens that took any
        if values:
            fields[name] = values if name.endswith("steps") else [round(c, 6) for c in values]
    return fields


def scored_fields(
    source: str, answer: "Translation", features: str | None = None
) -> dict[str, Any]:
    """A given target as the model sees it, under the same names."""
    fields = asked(source, features) | translation_fields(answer)
    fields["token_scores"] = answer.token_scores
    fields["unseen_target"] = answer.unseen_target
    del fields["nbest"]
    return fields


def json_line(fields: Any) -> str:
    """JSON on one line, characters outside ASCII as they are."""
    return json.dumps(fields, ensure_ascii=False, allow_nan=False)


def one_line(text: str) -> str:
    """A text that stays on its line: line feeds become spaces."""
    return text.replace("\n", " ")
