"""What verbs read where sources are pictures: captions, and the features of their images."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.cli.reading import counted
from regard.cli.streams import report
from regard.data.images.views import ORIGINAL
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Model
    from regard.data.captions import CaptionData
    from regard.data.images.backbone import Backbone
    from regard.data.images.cached import CachedGrids
    from regard.data.images.grids import Grids
    from regard.data.pairs import Pairs
    from regard.models import GridShape
    from regard.training.configuration import Configuration


class Given(NamedTuple):
    """What was said of captions and images.

    images: their folder. cache: where features are kept. image, caption: columns or keys.
    grids: features that are ready-made, in place of images.
    skip_unreadable: whether to go on without images that are not there or cannot be read.
    """

    images: Path | None = None
    cache: Path | None = None
    image: str | None = None
    caption: str | None = None
    grids: Path | None = None
    skip_unreadable: bool = False


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
    found = _read(data, split, given)
    return found.split(usual) if split is None and found.splits else found


def _read(data: str, split: str | None, given: Given) -> "CaptionData":
    from regard.data.captions import read_captions

    return read_captions(
        data,
        given.images,
        split,
        image=given.image,
        caption=given.caption,
        skip_missing=given.skip_unreadable,
        find_images=given.grids is None,
    )


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

    from regard.data.images.backbone import load_backbone
    from regard.training.threads import resolve_threads

    _check_grids(given)
    learned, chosen = _both(train, valid, given, configuration.training.seed)
    torch.set_num_threads(resolve_threads(configuration.training.threads))
    backbone = None
    if given.grids is None:
        assert configuration.backbone is not None
        backbone = load_backbone(configuration.backbone)
    _, pairs = _pictured(learned, backbone, given, configuration.training.views, quiet=quiet)
    chosen, valid_pairs = _pictured(chosen, backbone, given, quiet=quiet)
    return Learned(pairs, valid_pairs, backbone, chosen)


def _both(
    train: tuple[str, str | None], valid: tuple[str | None, str | None], given: Given, seed: int
) -> "tuple[CaptionData, CaptionData]":
    """What is learned from and what chooses the model."""
    learned = read_split(*train, "train", given)
    share = _share(valid[1])
    if share is not None:
        if valid[0] is not None:
            raise UserError(f"--valid-split {valid[1]} is a share of --train: leave out --valid")
        parts = learned.shared(share, seed=seed)
        return parts.split("train"), parts.split("valid")
    if valid == (None, None) and not _read(train[0], None, given).splits:
        raise UserError(
            f"{train[0]} carries no splits: give --valid, or --valid-split with a share such as "
            "10% or a file that lists the images to choose the model by"
        )
    return learned, read_split(valid[0] or train[0], valid[1], "valid", given)


def _share(split: str | None) -> float | None:
    """Of `10%`, 0.1; None where a split is no share."""
    if split is None or not split.endswith("%") or Path(split).exists():
        return None
    try:
        share = float(split[:-1]) / 100
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise UserError(f"--valid-split {split} is no share of the images; 10% would be one")
    return share


def read_asked(
    data: str, split: str | None, model: "Model", given: Given, regions: Path | None
) -> "tuple[CaptionData, Pairs]":
    """Captions to measure a model by, told on standard error, and their pairs with pictures.

    regions: where their nouns are, if known; then the images must be there.
    """
    _check_grids(given)
    if regions is not None and given.grids is not None:
        raise UserError("--regions are places in images: give --images in place of --grids")
    backbone = model.needed_backbone() if given.grids is None else None
    captions, pairs = _pictured(read_split(data, split, "test", given), backbone, given)
    assert pairs[0].picture is not None
    check_shape(model, pairs[0].picture.grids, pairs.origin)
    images = f"{counted(len(captions), 'image')}, {counted(len(pairs), 'caption')}"
    blank = f" ({counted(captions.blank, 'blank caption')} dropped)" if captions.blank else ""
    report(f"{captions.origin}: {images}{blank}")
    return captions, pairs


def _pictured(
    captions: "CaptionData",
    backbone: "Backbone | None",
    given: Given,
    views: Sequence[str] = (ORIGINAL,),
    *,
    quiet: bool = False,
) -> "tuple[CaptionData, Pairs]":
    """Captions whose images are known, and their pairs with pictures; what is left out is told.

    backbone: what makes the features; None where they are ready-made.
    """
    from regard.data.captions.folder import listed
    from regard.data.captions.pairs import caption_pairs
    from regard.data.images.ready import ready_grids

    if backbone is None:
        assert given.grids is not None
        names = [example.image.as_posix() for example in captions]
        return captions, caption_pairs(captions, ready_grids(given.grids, names))
    grids = _features(captions.images(), backbone, given, views, quiet=quiet)
    left_out = [f"{each.image} is not there" for each in captions.missing]
    left_out += [each.reason for each in grids.damaged]
    if left_out and not quiet:
        some = f"{counted(len(left_out), 'image')} left out: {listed(left_out)}"
        report(f"{captions.origin}: {some}")
    captions = captions.chosen(grids.kept)
    return captions, caption_pairs(captions, grids)


def _features(
    images: Sequence[Path],
    backbone: "Backbone",
    given: Given,
    views: Sequence[str],
    *,
    quiet: bool,
) -> "CachedGrids":
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
            skip_damaged=given.skip_unreadable,
        )
    finally:
        reporter.close()


def _check_grids(given: Given) -> None:
    """Raises UserError where features are ready-made, and options are given that make some."""
    if given.grids is not None:
        options = {
            "images": given.images,
            "cache": given.cache,
            "skip_unreadable": given.skip_unreadable,
        }
        _refuse(options, "images, and --grids has their features")


def check_shape(model: "Model", grids: "Grids", origin: str) -> None:
    """Raises UserError where pictures are not of the shape that a model reads."""
    from regard.search import Ensemble

    network = model.network
    first: Any = network.members[0] if isinstance(network, Ensemble) else network
    shape: GridShape = first.encoder.shape
    if shape != (grids.rows, grids.columns, grids.size):
        raise UserError(
            f"{origin} has grids of {grids.rows} x {grids.columns} vectors of {grids.size}, "
            f"and {model.directory} reads {shape.rows} x {shape.columns} of {shape.size}"
        )


def check_given(
    given: Given, splits: Sequence[str | None] = (), regions: Path | None = None
) -> None:
    """Raises UserError where options that are for captions are given with texts."""
    split = next((split for split in splits if split is not None), None)
    options = {"split": split, "regions": regions, **given._asdict()}
    del options["image"], options["caption"]  # of pairs, source and target
    _refuse(options, "captions of images, and this model reads texts")


def refuse_with_images(**given: Any) -> None:
    """Raises UserError where options that are for texts are given with images."""
    _refuse(given, "texts, and this model reads images")


def _refuse(options: Mapping[str, Any], kind: str) -> None:
    for name, value in options.items():
        if value is not None and value is not False:
            raise UserError(f"--{name.replace('_', '-')} is for {kind}: leave it out")
