"""Attention as a hand-written SVG: one file, no scripts, readable by every viewer of SVG.

Looks are presentation attributes, so that a viewer without style sheets shows them and a page's
style sheet can still replace them (`assets/page.css` does, for dark pages).
"""

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from regard.views.attention_view import AttentionView
from regard.views.heatmap_layout import LEGEND_WIDTH, SMALL, STRIP, HeatmapLayout, lay_out
from regard.views.labels import is_right_to_left, printable, visible
from regard.views.palette import ACCENT, EMPTY, INK, MUTED, PAPER, SANS, STEPS
from regard.views.steps_strip import StepsCell, steps_cells

_LEGEND_STEPS = 22
_VALUE_LOOKS = (f'fill="{MUTED}" class="faint"', "", f'fill="{PAPER}" class="over"')
_FIRST_STRONG_ISOLATE, _POP = "\u2068", "\u2069"


def attention_svg(view: AttentionView) -> str:
    """A view as a whole SVG document; every weight is in the tooltip of its cell."""
    layout = lay_out(view)
    size = f'width="{number(layout.width)}" height="{number(layout.height)}"'
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n',
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {number(layout.width)} '
        f'{number(layout.height)}" role="img" aria-label={quoteattr(description(view))}>\n',
        f'<rect {size} fill="{PAPER}"/>\n',
        *_body(view, layout, tooltips=True),
        "</svg>\n",
    ]
    return "".join(parts)


def inline_svg(view: AttentionView) -> str:
    """A view as an SVG element of a page: no heading, no tooltips, what scripts need as `data-`.

    Cells whose weight rounds to zero are left out; the page holds every weight elsewhere.
    """
    layout = lay_out(view, heading=False, extent=620)
    data = {
        "left": number(layout.left),
        "top": number(layout.top),
        "cell": number(layout.cell),
        "mirrored": "true" if layout.right_to_left else "false",
    }
    attributes = " ".join(f'data-{name}="{value}"' for name, value in data.items())
    return "".join(
        (
            f'<svg class="heatmap" width="{number(layout.width)}" height="{number(layout.height)}" '
            f'viewBox="0 0 {number(layout.width)} {number(layout.height)}" {attributes} role="img" '
            f"aria-label={quoteattr(description(view))}>\n",
            *_body(view, layout, tooltips=False),
            "</svg>\n",
        )
    )


def description(view: AttentionView) -> str:
    """What the picture is, for whoever does not see it."""
    source, text = printable(view.source), printable(view.text)
    return f"Attention of the output “{text}” to the source “{source}”"


def _body(view: AttentionView, layout: HeatmapLayout, *, tooltips: bool) -> Iterator[str]:
    size = number(layout.font_size)
    yield f'<g font-family="{SANS}" font-size="{size}" fill="{INK}" class="ink">\n'
    if layout.heading:
        heading = layout.heading
        if is_right_to_left(heading):
            heading = _FIRST_STRONG_ISOLATE + heading + _POP
        yield (
            f'<text x="16" y="{number(16 + layout.heading_size)}" font-weight="600" '
            f'font-size="{number(layout.heading_size)}">{escape(heading)}</text>\n'
        )
    yield from _captions(layout)
    yield from _column_labels(layout)
    yield from _row_labels(layout)
    yield from _cells(view, layout, tooltips)
    yield from _grid(layout)
    if layout.value_size:
        yield from _values(view, layout)
    if view.probabilities is not None:
        yield from _probabilities(view.probabilities, layout)
    if layout.strip_below or layout.strip_beside:
        yield from _steps(list(steps_cells(view, layout)), layout)
    yield from _legend(layout)
    yield "</g>\n"


def _captions(layout: HeatmapLayout) -> Iterator[str]:
    x = number(layout.left - 8)
    source = "← source" if layout.right_to_left else "source →"
    yield f'<g font-size="{number(SMALL)}" fill="{MUTED}" class="muted" text-anchor="end">'
    yield f'<text x="{x}" y="{number(layout.top - 8 - SMALL * 1.4)}">{source}</text>'
    yield f'<text x="{x}" y="{number(layout.top - 8)}">output ↓</text></g>\n'


def _column_labels(layout: HeatmapLayout) -> Iterator[str]:
    yield '<g class="column-labels">\n'
    for index, label in enumerate(layout.column_labels):
        x = layout.column_left(index) + layout.cell / 2
        y = layout.top - 8
        if layout.angle:
            x += layout.font_size * 0.25
            place = (
                f'transform="translate({number(x)} {number(y)}) rotate({number(-layout.angle)})"'
            )
        else:
            place = f'x="{number(x)}" y="{number(y)}" text-anchor="middle"'
        yield f'<text {place} data-index="{index}">{escape(label)}</text>\n'
    yield "</g>\n"


def _row_labels(layout: HeatmapLayout) -> Iterator[str]:
    yield '<g class="row-labels" text-anchor="end">\n'
    for index, label in enumerate(layout.row_labels):
        y = layout.row_top(index) + layout.cell / 2 + layout.font_size * 0.35
        x = number(layout.left - 8)
        yield f'<text x="{x}" y="{number(y)}" data-index="{index}">{escape(label)}</text>\n'
    yield "</g>\n"


def _cells(view: AttentionView, layout: HeatmapLayout, tooltips: bool) -> Iterator[str]:
    matrix = rectangle(
        layout.left, layout.top, layout.right - layout.left, layout.bottom - layout.top
    )
    side = number(layout.cell)
    yield f'<rect {matrix} fill="{EMPTY}" class="empty"/>\n<g fill="{ACCENT}" class="weights">\n'
    for row, weights in enumerate(view.attention):
        for column, weight in enumerate(weights):
            opacity = number(weight, 3)
            if not tooltips and opacity == "0":
                continue
            x, y = number(layout.column_left(column)), number(layout.row_top(row))
            cell = f'<rect x="{x}" y="{y}" width="{side}" height="{side}" fill-opacity="{opacity}"'
            if tooltips:
                pair = f"{visible(view.tokens[row])} ← {visible(view.source_tokens[column])}"
                yield f"{cell}><title>{escape(pair)}: {weight:.4f}</title></rect>\n"
            else:
                yield f"{cell}/>\n"
    yield "</g>\n"


def _grid(layout: HeatmapLayout) -> Iterator[str]:
    """Lines in the color of the paper between cells."""
    top, bottom = number(layout.top), number(layout.bottom)
    lines = [
        f"M{number(layout.left + layout.cell * column)} {top}V{bottom}"
        for column in range(1, len(layout.column_labels))
    ]
    lines += [
        f"M{number(layout.left)} {number(layout.row_top(row))}H{number(layout.right)}"
        for row in range(1, len(layout.row_labels))
    ]
    thickness = number(min(1.5, layout.cell / 16))
    yield (
        f'<path d="{"".join(lines)}" stroke="{PAPER}" stroke-width="{thickness}" fill="none" '
        'class="grid" pointer-events="none"/>\n'
    )


def _values(view: AttentionView, layout: HeatmapLayout) -> Iterator[str]:
    yield (
        f'<g font-size="{number(layout.value_size)}" text-anchor="middle" pointer-events="none" '
        'class="values">\n'
    )
    for row, weights in enumerate(view.attention):
        for column, weight in enumerate(weights):
            if weight >= 0.05:
                x = number(layout.column_left(column) + layout.cell / 2)
                y = number(layout.row_top(row) + layout.cell / 2 + layout.value_size * 0.36)
                look = _VALUE_LOOKS[(weight > 0.2) + (weight > 0.5)]
                yield f'<text x="{x}" y="{y}" {look}>{weight:.2f}</text>\n'
    yield "</g>\n"


def _probabilities(probabilities: tuple[float, ...], layout: HeatmapLayout) -> Iterator[str]:
    yield f'<g font-size="{number(min(SMALL, layout.font_size))}" fill="{MUTED}" class="muted">\n'
    x = number(layout.beside)
    yield f'<text x="{x}" y="{number(layout.top - 8)}" font-style="italic">p</text>'
    for row, probability in enumerate(probabilities):
        y = layout.row_top(row) + layout.cell / 2 + layout.font_size * 0.3
        yield (
            f'<text x="{x}" y="{number(y)}">{probability:.2f}'
            f"<title>probability of the token: {probability:.4f}</title></text>\n"
        )
    yield "</g>\n"


def _steps(cells: list[StepsCell], layout: HeatmapLayout) -> Iterator[str]:
    size = min(SMALL, layout.font_size)
    yield f'<g font-size="{number(size)}" fill="{MUTED}" class="muted">\n'
    if layout.strip_below:
        middle = layout.strip_top + STRIP / 2 + size * 0.35
        place = f'x="{number(layout.left - 8)}" y="{number(middle)}"'
        yield f'<text {place} text-anchor="end">steps</text>\n'
    if layout.strip_beside:
        yield f'<text x="{number(layout.strip_left)}" y="{number(layout.top - 8)}">steps</text>\n'
    yield f'</g>\n<g fill="{STEPS}" class="steps">\n'
    for cell in cells:
        place = rectangle(cell.x + 0.5, cell.y + 0.5, cell.width - 1, cell.height - 1)
        yield f'<rect {place} fill-opacity="{number(cell.share, 3)}">'
        yield f"<title>{escape(cell.tooltip)}</title></rect>\n"
    yield '</g>\n<g text-anchor="middle" pointer-events="none" class="values">\n'
    for cell in cells:
        x, y = cell.middle
        look = _VALUE_LOOKS[2 if cell.share > 0.5 else 1]
        place = f'x="{number(x)}" y="{number(y + size * 0.35)}" font-size="{number(size)}"'
        if cell.figure:
            yield f"<text {place} {look}>{cell.figure}</text>\n"
    yield "</g>\n"


def _legend(layout: HeatmapLayout) -> Iterator[str]:
    step = LEGEND_WIDTH / _LEGEND_STEPS
    left, top = layout.left + SMALL * 1.2, layout.legend_top
    bar = rectangle(left, top, LEGEND_WIDTH, 9)
    yield f'<rect {bar} fill="{EMPTY}" class="empty"/>\n'
    yield f'<g fill="{ACCENT}" class="weights" shape-rendering="crispEdges">'
    for index in range(_LEGEND_STEPS):
        opacity = number(index / (_LEGEND_STEPS - 1), 3)
        place = rectangle(left + step * index, top, step, 9)
        yield f'<rect {place} fill-opacity="{opacity}"/>'
    y = number(top + 8.5)
    after = number(left + LEGEND_WIDTH + 6)
    yield (
        f'</g>\n<g font-size="{number(SMALL)}" fill="{MUTED}" class="muted">'
        f'<text x="{number(layout.left)}" y="{y}">0</text>'
        f'<text x="{after}" y="{y}">1\u2002attention weight</text></g>\n'
    )


def rectangle(x: float, y: float, width: float, height: float) -> str:
    """The attributes of a `rect` or an `image`."""
    return f'x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'


def number(value: float, digits: int = 2) -> str:
    """A number as short as it can be written."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".") or "0"
