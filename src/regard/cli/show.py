"""The show verb: draw what a model attends to."""

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Beam, LengthPenalty, Run, Steps, Threads
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.evaluation.looking import Look
    from regard.views.attention_view import AttentionView


def show(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to translate.")],
    model: Run,
    target: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Draw it for this target, not for the model's own."),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(metavar="FEATURES", help="What is asked of TEXT, as in V;PST."),
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to; .html, .png, .svg or .json.")
    ] = Path("attention.html"),
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    steps: Steps = None,
    threads: Threads = None,
) -> None:
    """Draw which source tokens each target token attended to.

    Where steps are adaptive, how many each token took is drawn too. Prints the target to standard
    output.
    """
    from regard.cli.answers import one_line
    from regard.cli.features import check_features
    from regard.cli.reading import load_model
    from regard.cli.streams import report, text_argument, write_lines
    from regard.cli.unseen import UnseenSymbols
    from regard.views.save import check_suffix, save_view

    suffix = check_suffix(out)
    source = _not_blank(text_argument(text, "TEXT"), "TEXT")
    given = None if target is None else _not_blank(text_argument(target, "--target"), "--target")
    tag = None if features is None else text_argument(features, "--features")
    tags = None if tag is None else [tag]
    loaded = load_model(model, threads, steps=steps)
    check_features(loaded, tags is not None)
    if given is None:
        options: Any = {"beam": beam, "length_penalty": length_penalty}
        answer: Any = loaded.translate([source], features=tags, **options)[0]
        shown = answer.text
    else:
        answer, shown = loaded.score([(source, given)], features=tags)[0], given
    UnseenSymbols().tell(answer, "TEXT")
    view = _view(source, shown, answer, loaded.configuration.recipe)
    if suffix == ".html":
        asked = answer.tokens if given is None else given
        view = _looked_into(view, loaded.look(source, asked, features=tag))
    save_view(view, out)
    write_lines([one_line(shown)])
    report(f"wrote {out}")


def _not_blank(text: str, name: str) -> str:
    if not text.strip():
        raise UserError(f"{name} is blank; give some text")
    return text


def _view(source: str, text: str, answer: Any, recipe: str) -> "AttentionView":
    from math import exp

    from regard.views.attention_view import AttentionView

    if answer.problem is not None:
        raise UserError(f"TEXT has {answer.problem}")
    if not answer.attention:
        raise UserError(f"a model of the recipe {recipe} has no attention to draw")
    return AttentionView(
        source=source,
        text=text,
        source_tokens=answer.source_tokens,
        tokens=answer.tokens,
        attention=answer.attention,
        score=answer.score,
        alignment=answer.alignment,
        probabilities=tuple(exp(score) for score in answer.token_scores),
        source_steps=answer.source_steps or None,
        source_ponder=answer.source_ponder or None,
        steps=answer.steps or None,
        ponder=answer.ponder or None,
    )


def _looked_into(view: "AttentionView", look: "Look") -> "AttentionView":
    """With all that only a page has room for."""
    return replace(view, **{each.name: getattr(look, each.name) for each in fields(look)})
