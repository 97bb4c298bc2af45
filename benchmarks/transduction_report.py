"""The figures of trainers and of decoders of transduction, as rows of a table."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from measurement import Figures
from tables import table

SUBJECT = "regard"


@dataclass(frozen=True)
class Speed:
    """One tool in one round: words per second of the processor, and per second that passed."""

    words_per_cpu_second: float
    words_per_second: float
    padding: float | None = None
    memory: int | None = None
    symbols_per_word: float | None = None


@dataclass(frozen=True)
class Row:
    """A tool over all rounds, in their order; ratios: regard's words per CPU second over its."""

    tool: str
    version: str
    parameters: int
    speeds: tuple[Speed, ...]
    ratios: tuple[float, ...]

    @property
    def speed(self) -> float:
        """The median over rounds of words per CPU second."""
        return statistics.median(speed.words_per_cpu_second for speed in self.speeds)

    @property
    def ratio(self) -> float | None:
        """The median over rounds."""
        return statistics.median(self.ratios) if self.ratios else None


def of_training(figures: Figures) -> Speed:
    """Of what was measured of a trainer, on a system that tells of processor time."""
    per_cpu, per_second = figures.rows_per_cpu_second, figures.rows_per_second
    assert per_cpu is not None and per_second is not None
    return Speed(per_cpu, per_second, figures.padding, figures.memory)


def of_decoding(told: Mapping[str, float]) -> Speed:
    """Of the line that a decoder prints."""
    words = told["words"]
    return Speed(
        words / told["cpu_seconds"],
        words / told["seconds"],
        symbols_per_word=told["symbols"] / words,
    )


def rows(
    measured: Mapping[str, Sequence[Speed]],
    versions: Mapping[str, Mapping[str, str]],
    subject: str = SUBJECT,
) -> list[Row]:
    """A row for each tool, in the order measured. Ratios are of speeds of the same round."""
    ours = [speed.words_per_cpu_second for speed in measured.get(subject, ())]
    made = []
    for tool, speeds in measured.items():
        theirs = [speed.words_per_cpu_second for speed in speeds]
        ratios = tuple(one / other for one, other in zip(ours, theirs, strict=False))
        found = versions[tool]
        made.append(Row(tool, found["version"], int(found["parameters"]), tuple(speeds), ratios))
    return made


def training_table(made: Sequence[Row]) -> str:
    """Words per CPU second of trainers, with padding and memory."""
    head = [*_HEAD, "padding", "peak memory", *_RATIOS]
    return table(head, [[*_first(row), *_of_training(row), *_ratios(row)] for row in made])


def decoding_table(made: Sequence[Row]) -> str:
    """Words per CPU second of decoders, with the length of what they write."""
    head = [*_HEAD, "symbols a word", *_RATIOS]
    return table(head, [[*_first(row), _length(row), *_ratios(row)] for row in made])


_HEAD = ["tool", "version", "parameters", "words per CPU second", "by round"]
_RATIOS = [f"{SUBJECT} is", "by round "]


def _first(row: Row) -> list[str]:
    rounds = " ".join(f"{speed.words_per_cpu_second:,.0f}" for speed in row.speeds)
    return [row.tool, row.version, f"{row.parameters:,}", f"{row.speed:,.0f}", rounds]


def _of_training(row: Row) -> list[str]:
    padding = [speed.padding for speed in row.speeds if speed.padding is not None]
    memory = [speed.memory for speed in row.speeds if speed.memory is not None]
    return [
        f"{statistics.median(padding):.1%}" if padding else "-",
        f"{max(memory) / 1e9:.2f} GB" if memory else "-",
    ]


def _length(row: Row) -> str:
    length = row.speeds[0].symbols_per_word
    return "-" if length is None else f"{length:.2f}"


def _ratios(row: Row) -> list[str]:
    ratio = row.ratio
    each = " ".join(f"{value:.2f}" for value in row.ratios)
    return ["-" if ratio is None else f"{ratio:.2f}x", each or "-"]
