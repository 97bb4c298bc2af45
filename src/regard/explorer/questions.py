"""Questions: what the page asks, checked."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from regard.explorer.bodies import Refused

#: Most characters of a text, of features, and of what an output is to begin with.
MOST_CHARACTERS = 4000
#: Most tokens of a text, and widest beam: every hypothesis of the search is kept and sent.
MOST_TOKENS = 500
MOST_BEAM = 20
_MOST_FORCED = 4000
WHERE_TO = "for longer texts there is `regard translate`"


class Question(BaseModel):
    """What one model is asked.

    model: its number on the page.
    text, photo: the source: a text, or the name that the server gave to a photo.
    features: of the text.
    beam: in place of the model's own.
    tokens, write: what the output begins with: tokens of an answer, then a text.
    hidden: positions of the source that cannot be attended to.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    model: Annotated[int, Field(ge=0)]
    text: str | None = None
    photo: str | None = None
    features: str | None = None
    beam: Annotated[int, Field(ge=1, le=MOST_BEAM)] | None = None
    tokens: Annotated[tuple[str, ...], Field(max_length=_MOST_FORCED)] = ()
    write: str = ""
    hidden: Annotated[tuple[int, ...], Field(max_length=_MOST_FORCED)] = ()


def read_question(body: bytes) -> Question:
    """The question in a body. Raises Refused, in one line, for whatever is none."""
    try:
        question = Question.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"])) or "the question"
        raise Refused(400, f"{where}: {first['msg']}") from error
    for name in ("text", "features", "write"):
        length = len(getattr(question, name) or "")
        if length > MOST_CHARACTERS:
            raise Refused(
                413,
                f"{name} has {length:,} characters; at most {MOST_CHARACTERS:,} are taken here "
                f"({WHERE_TO})",
            )
    if (question.text is None) == (question.photo is None):
        raise Refused(400, "give text or photo, one of the two")
    return question
