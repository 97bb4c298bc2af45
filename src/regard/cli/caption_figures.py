"""The figures of captions: measured against those that people wrote, and told."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.answers import json_line, one_line
from regard.cli.figures import metrics_table
from regard.cli.table import table

if TYPE_CHECKING:
    from regard.api import Model
    from regard.cli.pictures import Given
    from regard.data.captions import CaptionData
    from regard.evaluation.captions import CaptionReport


@dataclass(frozen=True)
class MeasuredCaptions:
    """What a model wrote of each image of `data`, in their order, and how good it is."""

    data: "CaptionData"
    captions: Sequence[str]
    report: "CaptionReport"

    def json(self) -> list[str]:
        """One line of JSON."""
        return [json_line(self.report.as_dict())]

    def tables(self) -> list[str]:
        """Tables, a blank line between them, and what to know before they are believed."""
        from regard.evaluation.captions import WORDING_HEADER

        wording = table(self.report.wording_rows(), list(WORDING_HEADER), right=[1, 2, 3, 4, 5])
        remarks = ["", *self.report.remarks] if self.report.remarks else []
        return [*metrics_table(self.report.evaluation), "", *wording, *remarks]

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
    resamples: int,
    beam: int | None,
    length_penalty: float | None,
    batch_size: int,
) -> MeasuredCaptions:
    """Caption the images of captions and measure.

    train: what the model was trained on, if known: it tells which captions are new.
    """
    from regard.cli.pictures import read_asked, read_split
    from regard.evaluation.answering import answer_pairs
    from regard.evaluation.captions import evaluate_captions

    captions, pairs = read_asked(data, split, model.needed_backbone(), given)
    known = None if train is None else read_split(train, None, "train", given)
    answers = answer_pairs(
        model.network,
        model.tokenizers,
        pairs.questions(),
        model.search_configuration(length_penalty),
        batch_size=batch_size,
        beam=beam,
    )
    texts = [answer.text for answer in answers]
    said = None if known is None else [text for each in known for text in each.captions]
    references = [list(example.captions) for example in captions]
    found = evaluate_captions(texts, references, said, resamples=resamples)
    return MeasuredCaptions(captions, texts, found)


def write_captions(path: Path, measured: MeasuredCaptions) -> None:
    """What the model wrote, as COCO's results where the file ends in `.json`, else as lines."""
    from regard.cli.streams import line_writer

    as_results: Any = path.suffix.lower() == ".json"
    with line_writer(path) as write:
        write(measured.results() if as_results else measured.lines())
