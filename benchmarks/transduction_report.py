"""The figures of trainers and of decoders of transduction, as rows of a table."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from measurement import Figures
from rounds import COST_HEAD, RATIO_HEAD, SUBJECT, cost_cells, median, ratio_cells, ratios
from tables import table


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
        return median(self.ratios)


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
    measured: Mapping[str, Sequence[Speed]], versions: Mapping[str, Mapping[str, str]]
) -> list[Row]:
    """A row for each tool, in the order measured. Ratios are of speeds of the same round."""
    ours = [speed.words_per_cpu_second for speed in measured.get(SUBJECT, ())]
    made = []
    for tool, speeds in measured.items():
        theirs = [speed.words_per_cpu_second for speed in speeds]
        version, parameters = versions[tool]["version"], int(versions[tool]["parameters"])
        made.append(Row(tool, version, parameters, tuple(speeds), ratios(ours, theirs)))
    return made


def training_table(made: Sequence[Row]) -> str:
    """Words per CPU second of trainers, with padding and memory."""
    head = [*_HEAD, *COST_HEAD, *RATIO_HEAD]
    return table(head, [[*_first(row), *_costs(row), *ratio_cells(row.ratios)] for row in made])


def decoding_table(made: Sequence[Row]) -> str:
    """Words per CPU second of decoders, with the length of what they write."""
    head = [*_HEAD, "symbols a word", *RATIO_HEAD]
    return table(head, [[*_first(row), _length(row), *ratio_cells(row.ratios)] for row in made])


_HEAD = ["tool", "version", "parameters", "words per CPU second", "by round"]


def _first(row: Row) -> list[str]:
    rounds = " ".join(f"{speed.words_per_cpu_second:,.0f}" for speed in row.speeds)
    return [row.tool, row.version, f"{row.parameters:,}", f"{row.speed:,.0f}", rounds]


def _costs(row: Row) -> list[str]:
    memory = [speed.memory for speed in row.speeds if speed.memory is not None]
    return cost_cells(median([speed.padding for speed in row.speeds]), max(memory, default=None))


def _length(row: Row) -> str:
    length = row.speeds[0].symbols_per_word
    return "-" if length is None else f"{length:.2f}"
