"""The show verb: draw what a model attends to."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import Beam, LengthPenalty, Run, Steps, Threads
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Model
    from regard.cli.shown import Shown
    from regard.views.attention_view import AttentionView


def show(
    model: Run,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="The text to translate.")
    ] = None,
    image: Annotated[
        list[str] | None,
        typer.Option(
            metavar="IMAGE",
            help="In place of TEXT: an image to describe, a folder of them or a pattern. May come "
            "several times.",
        ),
    ] = None,
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
    layer: Annotated[
        int | None,
        typer.Option(min=1, metavar="L", help="The attention of this layer, or step, from 1."),
    ] = None,
    head: Annotated[
        int | None,
        typer.Option(min=1, metavar="H", help="One head of that layer, from 1; not their mean."),
    ] = None,
    beam: Beam = None,
    length_penalty: LengthPenalty = None,
    steps: Steps = None,
    threads: Threads = None,
) -> None:
    """Draw which source tokens, or places in an image, each target token attended to.

    Where steps are adaptive, how many each token took is drawn too. Prints the target to standard
    output.
    """
    from regard.cli.pictures import refuse_with_images
    from regard.cli.reading import load_model
    from regard.cli.show_images import show_images
    from regard.cli.shown import Shown
    from regard.cli.streams import text_argument
    from regard.views.save import check_suffix

    check_suffix(out)
    given = None if target is None else _not_blank(text_argument(target, "--target"), "--target")
    search: Any = {"beam": beam, "length_penalty": length_penalty}
    if image is not None and text is not None:
        raise UserError("TEXT and --image are both given: give one, with --image before each image")
    if image is None and text is None:
        raise UserError("there is nothing to draw: give TEXT, or --image IMAGE")
    source = None if text is None else _not_blank(text_argument(text, "TEXT"), "TEXT")
    tag = None if features is None else text_argument(features, "--features")
    loaded = load_model(model, threads, steps=steps)
    shown = Shown(loaded, out, layer, head, search)
    if source is None:
        if not loaded.reads_pictures:
            raise UserError("--image is for captions, and this model reads texts: give TEXT")
        refuse_with_images(features=features)
        show_images(shown, image or [], given)
    elif loaded.reads_pictures:
        raise UserError("this model reads images, not texts: give --image IMAGE in place of TEXT")
    else:
        _show_text(shown, source, given, tag)


def _show_text(shown: "Shown", source: str, given: str | None, tag: str | None) -> None:
    from regard.cli.answers import one_line
    from regard.cli.features import check_features
    from regard.cli.streams import report, write_lines
    from regard.cli.unseen import UnseenSymbols
    from regard.views.save import save_view

    model, tags = shown.model, None if tag is None else [tag]
    check_features(model, tags is not None)
    if given is None:
        answer: Any = model.translate([source], features=tags, **shown.search)[0]
        written = answer.text
    else:
        answer, written = model.score([(source, given)], features=tags)[0], given
    UnseenSymbols().tell(answer, "TEXT")
    view = _view(source, written, answer, model)
    asked = answer.tokens if given is None else given
    view = shown.chosen(view, lambda: model.look(source, asked, features=tag))
    save_view(view, shown.out)
    write_lines([one_line(written)])
    report(f"wrote {shown.out}")


def _not_blank(text: str, name: str) -> str:
    if not text.strip():
        raise UserError(f"{name} is blank; give some text")
    return text


def _view(source: str, text: str, answer: Any, model: "Model") -> "AttentionView":
    from regard.cli.shown import check_attention
    from regard.views.translation_view import translation_view

    if answer.problem is not None:
        raise UserError(f"TEXT has {answer.problem}")
    check_attention(answer, model)
    return translation_view(source, text, answer)
