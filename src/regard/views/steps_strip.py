"""How many steps each token took: a strip of cells under a heat map, and one beside it."""

from collections.abc import Iterator
from dataclasses import dataclass

from regard.views.attention_view import AttentionView
from regard.views.heatmap_layout import STRIP, HeatmapLayout
from regard.views.labels import visible

_SMALLEST = 12.0  # pixels of a cell that has room for a figure


@dataclass(frozen=True)
class StepsCell:
    """One token's steps: where they are drawn, and how dark.

    share: its steps over the most of any token in the picture.
    figure: the number of steps; empty where there is no room for it.
    tooltip: token, steps and what they cost.
    """

    x: float
    y: float
    width: float
    height: float
    share: float
    figure: str
    tooltip: str

    @property
    def middle(self) -> tuple[float, float]:
        """Of the cell."""
        return self.x + self.width / 2, self.y + self.height / 2


def steps_cells(view: AttentionView, layout: HeatmapLayout) -> Iterator[StepsCell]:
    """The cells of both strips; none of a side whose steps are not adaptive."""
    most = max((*(view.source_steps or ()), *(view.steps or ()), 1))
    has_room = layout.cell >= _SMALLEST

    def cell(place: tuple[float, float, float, float], side: str, index: int) -> StepsCell:
        tokens, steps, costs = {
            "source": (view.source_tokens, view.source_steps, view.source_ponder),
            "output": (view.tokens, view.steps, view.ponder),
        }[side]
        assert steps is not None
        cost = None if costs is None else costs[index]
        said = f"{visible(tokens[index])}: {steps_text(steps[index], cost)}"
        figure = short(steps[index]) if has_room else ""
        return StepsCell(*place, steps[index] / most, figure, said)

    for column in range(len(view.source_steps or ())):
        place = (layout.column_left(column), layout.strip_top, layout.cell, STRIP)
        yield cell(place, "source", column)
    for row in range(len(view.steps or ())):
        yield cell((layout.strip_left, layout.row_top(row), STRIP, layout.cell), "output", row)


def short(number: float) -> str:
    """A number of steps: whole, or the mean over several models."""
    return f"{number:.0f}" if float(number).is_integer() else f"{number:.1f}"


def steps_text(steps: float, cost: float | None) -> str:
    """`1 step`, `3 steps (3.42 with the remainder)`."""
    counted = "1 step" if steps == 1 else f"{short(steps)} steps"
    return counted if cost is None else f"{counted} ({cost:.2f} with the remainder)"
