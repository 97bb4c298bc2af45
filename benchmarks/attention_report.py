"""The attention benchmark's figures as a table and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import machine
from attention_cases import Sizes
from attention_timing import Case, Measured
from tables import table

HEAD = (
    "",
    "forward",
    "regard is",
    "forward + backward",
    "regard is",
    "kept for backward",
    "regard keeps",
    "differs by",
)


def as_table(
    found: Sequence[tuple[Case, Sequence[Measured]]], sizes: Sizes, memory: dict[str, int | None]
) -> str:
    """A row for each contestant under the title of its case, and the peaks at the end."""
    rows: list[list[str]] = []
    for case, contestants in found:
        rows.append([case.title, *[""] * (len(HEAD) - 1)])
        first = contestants[0]
        rows += [_row(one, None if one is first else first) for one in contestants]
    batch, queries, positions = sizes.large
    title = f"peak of a training step, {batch} x {queries:,} x {positions:,}, size {sizes.size}"
    rows.append([title, *[""] * (len(HEAD) - 1)])
    names = {"regard": "regard", "plain": "plain PyTorch"}
    for form, peak in memory.items():
        cell = "-" if peak is None else f"{peak / 1e6:,.0f} MB"
        rows.append([f"- {names[form]}", *[""] * 4, cell, "", ""])
    return table(HEAD, rows)


def footer(settings: dict[str, Any], rates: Sequence[float]) -> str:
    """Lines under the table: on what, and how."""
    here, threads = machine.describe(), settings["threads"]
    how = "processor time of one thread" if threads == 1 else f"time with {threads} threads"
    told = ", ".join(f"{rate / 1e9:.0f}" for rate in rates)
    return "\n".join(
        [
            f"{how}, best of {settings['rounds']} rounds in turn; float32; Keras "
            f"{settings['keras']}",
            f"{here.processor}, {here.cores} cores, {here.system}, Python {here.python}, torch "
            f"{here.torch}",
            f"float32 matrix products of 2048^3, before and after: {told} GFLOP/s",
        ]
    )


def as_json(
    found: Sequence[tuple[Case, Sequence[Measured]]],
    sizes: Sizes,
    memory: dict[str, int | None],
    settings: dict[str, Any],
    rates: Sequence[float],
) -> dict[str, Any]:
    """Everything that was measured; seconds and bytes."""
    return {
        "settings": settings,
        "sizes": asdict(sizes),
        "machine": asdict(machine.describe()),
        "matrix_products_flops": list(rates),
        "cases": [
            {"title": case.title, "contestants": [asdict(one) for one in contestants]}
            for case, contestants in found
        ],
        "peak_memory": memory,
    }


def _row(one: Measured, first: Measured | None) -> list[str]:
    cells = [f"- {one.name}"]
    for field in ("forward", "training"):
        seconds = getattr(one, field)
        cells.append("-" if seconds is None else f"{seconds * 1e3:,.2f} ms")
        cells.append(_ratio(seconds, getattr(first, field, None), "{:.2f}x"))
    cells.append("-" if one.kept is None else f"{one.kept / 1e6:,.1f} MB")
    cells.append(_ratio(one.kept, getattr(first, "kept", None), "1/{:.1f}"))
    return [*cells, "" if one.difference is None else f"{one.difference:.1e}"]


def _ratio(theirs: float | None, ours: float | None, form: str) -> str:
    return "" if theirs is None or ours is None else form.format(theirs / ours)
