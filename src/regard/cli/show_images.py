"""Drawing what captions look at: one image in any format, several on one page."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.shown import Shown, check_attention
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Caption
    from regard.views.attention_view import AttentionView

#: Most images of one page, which holds them all.
MOST_IMAGES = 50


def show_images(shown: Shown, named: Sequence[str], given: str | None) -> None:
    """Draw the images that are named, and print their captions.

    given: a caption to draw it for, in place of the model's own; for one image alone. Raises
    UserError for several images where one is wanted, and for one that cannot be read.
    """
    from regard.cli.answers import one_line
    from regard.cli.images import image_files
    from regard.cli.streams import report, write_lines
    from regard.files import write_text
    from regard.views import attention_html, save_view

    files = image_files(named)
    _check_count(shown, files, given)
    model: Any = shown.model
    if given is None:
        answers = model.caption(files, **shown.search)
    else:
        answers = model.score_captions([(files[0], given)])
    views = [_view(shown, *each, given) for each in zip(files, answers, strict=True)]
    if len(views) == 1:
        save_view(views[0], shown.out)
    else:
        write_text(shown.out, attention_html(*views))
    write_lines([one_line(view.text) for view in views])
    report(f"wrote {shown.out}")


def _check_count(shown: Shown, files: Sequence[Path], given: str | None) -> None:
    if len(files) == 1:
        return
    if given is not None:
        raise UserError(f"--target is the caption of one image; {len(files)} are given")
    if not shown.is_page:
        raise UserError(
            f"{shown.out} takes one image, {len(files)} are given; several go on a page: name a "
            "file that ends in .html"
        )
    if len(files) > MOST_IMAGES:
        raise UserError(f"a page takes at most {MOST_IMAGES} images, {len(files)} are given")


def _view(shown: Shown, image: Path, answer: "Caption", given: str | None) -> "AttentionView":
    from regard.views.caption_view import caption_view

    if answer.problem is not None:
        raise UserError(answer.problem)
    check_attention(answer, shown.model)
    view = caption_view(image, answer, shown.model.needed_backbone())
    asked = answer.tokens if given is None else given
    return shown.chosen(view, lambda: shown.model.look_at(image, asked))
