"""What verbs read where sources are pictures: captions, and the features of their images."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.cli.reading import counted
from regard.cli.streams import report
from regard.data.images.views import ORIGINAL
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.data.captions import CaptionData
    from regard.data.images.backbone import Backbone
    from regard.data.images.grids import Grids
    from regard.data.pairs import Pairs
    from regard.training.configuration import Configuration


class Given(NamedTuple):
    """What was said of captions and images.

    images: their folder. cache: where features are kept. image, caption: columns or keys.
    """

    images: Path | None = None
    cache: Path | None = None
    image: str | None = None
    caption: str | None = None


class Learned(NamedTuple):
    """What a model is trained on and chosen by, and what made its pictures if it reads any.

    captions: those that it is chosen by; None where sources are texts.
    """

    train: "Pairs"
    valid: "Pairs"
    backbone: "Backbone | None" = None
    captions: "CaptionData | None" = None


def read_split(data: str, split: str | None, usual: str, given: Given) -> "CaptionData":
    """The captions of a split; `usual` is the one where nothing is said and there are splits."""
    from regard.data.captions import read_captions

    image, caption = given.image, given.caption
    found = read_captions(data, given.images, split, image=image, caption=caption)
    return found.split(usual) if split is None and found.splits else found


def read_learned(
    configuration: "Configuration",
    train: tuple[str, str | None],
    valid: tuple[str | None, str | None],
    given: Given,
    *,
    quiet: bool,
) -> Learned:
    """Captions to learn from and to choose the model by, with the features of their images.

    train, valid: data and split of each; without other data, those of `train` are split.
    Raises UserError where there is nothing to choose the model by.
    """
    import torch

    from regard.data.captions.pairs import caption_pairs
    from regard.data.images.backbone import load_backbone
    from regard.training.threads import resolve_threads

    learned = read_split(*train, "train", given)
    if valid == (None, None) and not _has_splits(train[0], given):
        raise UserError(
            f"{train[0]} carries no splits: give --valid, or --valid-split with a file that lists "
            "the images to choose the model by"
        )
    chosen = read_split(valid[0] or train[0], valid[1], "valid", given)
    assert configuration.backbone is not None
    torch.set_num_threads(resolve_threads(configuration.training.threads))
    backbone = load_backbone(configuration.backbone)
    views = configuration.training.views
    grids = features_of(learned.images(), backbone, given, views, quiet=quiet)
    others = features_of(chosen.images(), backbone, given, quiet=quiet)
    return Learned(caption_pairs(learned, grids), caption_pairs(chosen, others), backbone, chosen)


def _has_splits(data: str, given: Given) -> bool:
    from regard.data.captions import read_captions

    image, caption = given.image, given.caption
    return bool(read_captions(data, given.images, image=image, caption=caption).splits)


def read_asked(
    data: str, split: str | None, backbone: "Backbone", given: Given
) -> "tuple[CaptionData, Pairs]":
    """Captions to measure a model by, told on standard error, and their pairs with pictures."""
    from regard.data.captions.pairs import caption_pairs

    captions = read_split(data, split, "test", given)
    pairs = caption_pairs(captions, features_of(captions.images(), backbone, given))
    images = f"{counted(len(captions), 'image')}, {counted(len(pairs), 'caption')}"
    blank = f" ({counted(captions.blank, 'blank caption')} dropped)" if captions.blank else ""
    report(f"{captions.origin}: {images}{blank}")
    return captions, pairs


def features_of(
    images: Sequence[Path],
    backbone: "Backbone",
    given: Given,
    views: Sequence[str] = (ORIGINAL,),
    *,
    quiet: bool = False,
) -> "Grids":
    """Features from the cache, or made and kept there; that they are is told."""
    from regard.data.images.cached import default_cache
    from regard.data.images.caching import cached_grids
    from regard.training.progress import make_reporter

    reporter = make_reporter(not quiet)
    try:
        return cached_grids(
            images,
            backbone,
            given.cache or default_cache(),
            views=views,
            progress=lambda done, total: reporter.counting("features of images", done, total),
        )
    finally:
        reporter.close()


def check_given(
    given: Given, splits: Sequence[str | None] = (), regions: Path | None = None
) -> None:
    """Raises UserError where options that are for captions are given with texts."""
    split = next((split for split in splits if split is not None), None)
    options = {"images": given.images, "cache": given.cache, "split": split, "regions": regions}
    _refuse(options, "captions of images, and this model reads texts")


def refuse_with_images(**given: Any) -> None:
    """Raises UserError where options that are for texts are given with images."""
    _refuse(given, "texts, and this model reads images")


def _refuse(options: Mapping[str, Any], kind: str) -> None:
    for name, value in options.items():
        if value is not None and value is not False:
            raise UserError(f"--{name.replace('_', '-')} is for {kind}: leave it out")
