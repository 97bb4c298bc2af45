"""The figures of all rounds as a table and as JSON."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import tables
from machine import Machine
from measurement import Figures
from rounds import COST_HEAD, RATIO_HEAD, SUBJECT, cost_cells, median, ratio_cells, ratios


@dataclass(frozen=True)
class Rate:
    """Floating-point operations of matrix products: per second, and per second of the processor."""

    per_second: float
    per_cpu_second: float


@dataclass(frozen=True)
class Row:
    """A tool over all rounds: medians, and its speed in every round.

    ratios, cpu_ratios: regard's speed over this tool's, by seconds that passed and by those of the
        processor, round by round; empty when regard was not run.
    share: of the rate of matrix products, 6 operations for each token and parameter counted; None
        where a tool does not tell its parameters.
    """

    tool: str
    version: str
    torch: str
    tokens_per_second: float
    rounds: tuple[float, ...]
    tokens_per_cpu_second: float | None
    padding: float | None
    memory: int | None
    ratios: tuple[float, ...]
    cpu_ratios: tuple[float, ...] = ()
    share: float | None = None

    @property
    def ratio(self) -> float | None:
        return median(self.ratios)


def rows(
    measured: Mapping[str, Sequence[Figures]],
    versions: Mapping[str, Mapping[str, str]],
    rates: Sequence[Rate] = (),
) -> list[Row]:
    """A row for each tool, in the order measured. Ratios are of figures of the same round."""
    ours = measured.get(SUBJECT, ())
    subject = [figures.tokens_per_second for figures in ours]
    rate = median([rate.per_cpu_second for rate in rates])
    made = []
    for tool, found in measured.items():
        speeds = tuple(figures.tokens_per_second for figures in found)
        per_cpu = median([figures.tokens_per_cpu_second for figures in found])
        parameters = versions[tool].get("parameters")
        made.append(
            Row(
                tool=tool,
                version=versions[tool].get("version", "?"),
                torch=versions[tool].get("torch", "?"),
                tokens_per_second=statistics.median(speeds),
                rounds=speeds,
                tokens_per_cpu_second=per_cpu,
                padding=median([f.padding for f in found]),
                memory=max((f.memory for f in found if f.memory), default=None),
                ratios=ratios(subject, speeds),
                cpu_ratios=ratios(_per_cpu_second(ours), _per_cpu_second(found)),
                share=6 * int(parameters) * per_cpu / rate
                if parameters and per_cpu and rate
                else None,
            )
        )
    return made


def _per_cpu_second(found: Sequence[Figures]) -> list[float]:
    """Of all rounds; nothing where the system does not tell."""
    told = [figures.tokens_per_cpu_second for figures in found]
    return [] if None in told else [speed for speed in told if speed is not None]


def table(made: Sequence[Row]) -> str:
    """The rows as a Markdown table, columns aligned."""
    speeds = ("real tokens/s", "by round", "per CPU second")
    head = ("tool", "version", "torch", *speeds, *COST_HEAD, *RATIO_HEAD, "per CPU second ")
    return tables.table(head, [_cells(row) for row in made])


def _cells(row: Row) -> list[str]:
    return [
        row.tool,
        row.version,
        row.torch,
        f"{row.tokens_per_second:,.0f}",
        " ".join(f"{speed:,.0f}" for speed in row.rounds),
        "-" if row.tokens_per_cpu_second is None else f"{row.tokens_per_cpu_second:,.0f}",
        *cost_cells(row.padding, row.memory),
        *ratio_cells(row.ratios),
        ratio_cells(row.cpu_ratios)[0],
    ]


def footer(
    made: Sequence[Row], machine: Machine, rates: Sequence[Rate], settings: Mapping[str, Any]
) -> str:
    """Lines under the table: what was measured, on what, how tokens are counted."""
    passed = ", ".join(f"{rate.per_second / 1e9:.0f}" for rate in rates)
    taken = ", ".join(f"{rate.per_cpu_second / 1e9:.0f}" for rate in rates)
    shares = [
        f"{row.tool} reaches {row.share:.0%} of the latter, counted as 6 x parameters x target "
        "tokens per CPU second"
        for row in made
        if row.share is not None
    ]
    environment = "; ".join(settings["environment"])
    return "\n".join(
        [
            f"{settings['pairs']:,} pairs with {settings['target_tokens']:,} real target tokens; "
            f"{settings['threads']} threads; {settings['warm_up_seconds']:g} s of warm-up, then "
            f"{settings['window_seconds']:g} s measured" + (environment and f"; {environment}"),
            f"{machine.processor}, {machine.cores} cores, {machine.system}, Python "
            f"{machine.python}, torch {machine.torch}",
            f"float32 matrix products of 2048^3, before and after each round: {passed} GFLOP/s on "
            f"{settings['threads']} threads, {taken} per CPU second on one",
            *shares,
            "real tokens: target tokens with the end symbol, without padding, counted on each "
            "batch that a tool's own training loop has trained",
        ]
    )


def as_json(
    made: Sequence[Row],
    measured: Mapping[str, Sequence[Figures]],
    machine: Machine,
    rates: Sequence[Rate],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Everything that was measured, with the settings that it was measured under."""
    return {
        "settings": dict(settings),
        "machine": asdict(machine),
        "matrix_products_flops": [asdict(rate) for rate in rates],
        "tools": [{**asdict(row), "ratio": row.ratio} for row in made],
        "rounds": {tool: [asdict(figures) for figures in runs] for tool, runs in measured.items()},
    }
