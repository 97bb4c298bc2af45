"""The figures of captions: measured against those that people wrote, and told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.answers import json_line, one_line
from regard.cli.figures import metrics_table
from regard.cli.table import table
from regard.cli.trust_figures import trust_captions, trust_table
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Caption, Model
    from regard.cli.pictures import Given
    from regard.data.captions import CaptionData, Captioned
    from regard.data.pairs import Pairs
    from regard.data.scenes import Region
    from regard.evaluation.captions import CaptionReport
    from regard.evaluation.pointing import PointedNoun, Pointing
    from regard.evaluation.trust import Trust


@dataclass(frozen=True)
class MeasuredCaptions:
    """What a model wrote of each image of `data`, in their order, and how good it is.

    pointing: whether it looks at what the words of given captions name; None if not asked for.
    trust: how far to trust its attention; None if not asked for.
    """

    data: "CaptionData"
    captions: Sequence[str]
    report: "CaptionReport"
    pointing: "Pointing | None" = None
    trust: "Trust | None" = None

    def json(self) -> list[str]:
        """One line of JSON."""
        figures = self.report.as_dict()
        if self.pointing is not None:
            figures["pointing"] = self.pointing.as_dict()
        if self.trust is not None:
            figures["trust"] = self.trust.as_dict()
        return [json_line(figures)]

    def tables(self) -> list[str]:
        """Tables, a blank line between them, and what to know before they are believed."""
        from regard.evaluation.captions import WORDING_HEADER

        wording = table(self.report.wording_rows(), list(WORDING_HEADER), right=[1, 2, 3, 4, 5])
        remarks = ["", *self.report.remarks] if self.report.remarks else []
        lines = [*metrics_table(self.report.evaluation), "", *wording, *remarks]
        if self.pointing is not None:
            lines += ["", *pointing_table(self.pointing)]
        return lines if self.trust is None else [*lines, "", *trust_table(self.trust)]

    def lines(self) -> list[str]:
        """`image<TAB>caption` of every image."""
        pairs = zip(self.data, self.captions, strict=True)
        return [f"{example.identifier}\t{one_line(caption)}" for example, caption in pairs]

    def results(self) -> list[str]:
        """The same as the results of COCO's evaluation: a list of `image_id` and `caption`."""
        pairs = zip(self.data, self.captions, strict=True)
        rows = [{"image_id": example.identifier, "caption": caption} for example, caption in pairs]
        return [json_line(rows)]


def measure_captions(
    model: "Model",
    data: str,
    split: str | None,
    given: "Given",
    *,
    train: str | None,
    regions: Path | None,
    trust: bool = False,
    resamples: int,
    beam: int | None,
    length_penalty: float | None,
    batch_size: int,
) -> MeasuredCaptions:
    """Caption the images of captions and measure.

    train: what the model was trained on, if known: it tells which captions are new.
    regions: where the nouns of each image's first caption are, to grade attention by.
    trust: whether to measure how far attention is to be trusted.
    """
    from regard.cli.pictures import read_asked, read_split
    from regard.data.captions.regions import read_regions

    gold = None if regions is None else read_regions(regions)
    captions, pairs = read_asked(data, split, model, given, regions)
    known = None if train is None else read_split(train, None, "train", given)
    said = None if known is None else [text for each in known for text in each.captions]
    asked = pairs.questions()
    search: Any = {"beam": beam, "length_penalty": length_penalty, "batch_size": batch_size}
    trusted = trust_captions(model, asked, resamples=resamples, **search) if trust else None
    measured = measure_asked(model, captions, asked, said, resamples=resamples, **search)
    if gold is None:
        return replace(measured, trust=trusted)
    pointing = measure_pointing(model, captions, asked, gold, resamples, batch_size)
    return replace(measured, trust=trusted, pointing=pointing)


def measure_asked(
    model: "Model",
    captions: "CaptionData",
    asked: "Pairs",
    said: Sequence[str] | None = None,
    *,
    resamples: int,
    beam: int | None = None,
    length_penalty: float | None = None,
    batch_size: int = 64,
) -> MeasuredCaptions:
    """Caption images whose features are known, and measure. asked: a pair for each image.

    said: all captions of the training data, if known.
    """
    from regard.evaluation.answering import answer_pairs
    from regard.evaluation.captions import evaluate_captions

    answers = answer_pairs(
        model.network,
        model.tokenizers,
        asked,
        model.search_configuration(length_penalty),
        batch_size=batch_size,
        beam=beam,
    )
    texts = [answer.text for answer in answers]
    references = [list(example.captions) for example in captions]
    found = evaluate_captions(texts, references, said, resamples=resamples)
    return MeasuredCaptions(captions, texts, found)


def measure_pointing(
    model: "Model",
    captions: "CaptionData",
    asked: "Pairs",
    regions: Mapping[str, Sequence["Region"]],
    resamples: int,
    batch_size: int,
) -> "Pointing":
    """Give the model each image's first caption, and grade where it looks at each noun.

    asked: a pair for each image, with its picture. Raises UserError for images without regions,
    regions that are of another caption, and a model without attention.
    """
    from regard.evaluation.captioning import score_pictures
    from regard.evaluation.pointing import grade_pointing

    known = [i for i, example in enumerate(captions) if str(example.identifier) in regions]
    if not known:
        raise UserError(f"no image of {captions.origin} has regions; give those of its captions")
    scored = score_pictures(
        model.network,
        model.tokenizers,
        [picture for picture in (asked[i].picture for i in known) if picture is not None],
        [captions[i].captions[0] for i in known],
        model.search_configuration(),
        batch_size=batch_size,
    )
    graded = [
        _graded(model, captions[i], caption, regions[str(captions[i].identifier)])
        for i, caption in zip(known, scored, strict=True)
    ]
    return grade_pointing(graded, resamples=resamples)


def _graded(
    model: "Model", example: "Captioned", caption: "Caption", regions: Sequence["Region"]
) -> "list[PointedNoun]":
    from regard.data.images.reading import read_image
    from regard.evaluation.regions import grade_regions

    if not caption.attention:
        name = model.configuration.recipe
        raise UserError(f"a model of the recipe {name} has no attention to grade by regions")
    width, height = read_image(example.image).size
    covered = model.needed_backbone().covered(width, height)
    try:
        return grade_regions(caption, regions, covered)
    except ValueError as error:
        raise UserError(
            f"the regions of {example.identifier} are not of its first caption: {error}"
        ) from error


def pointing_table(pointing: "Pointing") -> list[str]:
    """A row for each figure, and how much was graded."""
    rows = [[name, f"{value:.2f}"] for name, value in pointing.rows()]
    return [
        *table(rows, ["attention", "%"], right=[1]),
        "",
        f"{pointing.nouns:,} nouns of {pointing.captions:,} captions",
    ]


def write_captions(path: Path, measured: MeasuredCaptions) -> None:
    """What the model wrote, as COCO's results where the file ends in `.json`, else as lines."""
    from regard.cli.streams import line_writer

    as_results: Any = path.suffix.lower() == ".json"
    with line_writer(path) as write:
        write(measured.results() if as_results else measured.lines())
