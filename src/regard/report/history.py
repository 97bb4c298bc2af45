"""How a training went: what metrics.jsonl tells, as points of curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.views.charts import Point


@dataclass(frozen=True)
class History:
    """Training loss and validation metric, by updates and by minutes spent in updates."""

    metric: str
    loss_by_update: tuple[Point, ...]
    loss_by_minute: tuple[Point, ...]
    metric_by_update: tuple[Point, ...]
    metric_by_minute: tuple[Point, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was logged: training ended before the first line."""
        return not (self.loss_by_update or self.metric_by_update)


def read_history(lines: Sequence[dict[str, Any]], metric: str) -> History:
    """The curves of a run. lines: of metrics.jsonl.

    Validations of averaged weights belong to no update, and are left out.
    """
    losses = [line for line in lines if line.get("kind") == "training" and "loss" in line]
    validations = [
        line
        for line in lines
        if line.get("kind") == "validation" and metric in line and "average_of" not in line
    ]

    def points(rows: Sequence[dict[str, Any]], value: str, *, minutes: bool) -> tuple[Point, ...]:
        return tuple(
            (row["seconds"] / 60 if minutes else row["step"], row[value])
            for row in rows
            if {"seconds", "step"} <= row.keys()
        )

    return History(
        metric,
        points(losses, "loss", minutes=False),
        points(losses, "loss", minutes=True),
        points(validations, metric, minutes=False),
        points(validations, metric, minutes=True),
    )
