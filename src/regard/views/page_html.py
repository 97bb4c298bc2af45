"""Attention as a page: one file that needs no network, for looking into one output."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from regard.views.attention_view import AttentionView
from regard.views.heatmap_svg import inline_svg
from regard.views.json_view import dumps_for_script
from regard.views.labels import printable
from regard.views.packing import MOST_CHARACTERS, Packed, PackedView, pack_view
from regard.views.page_data import page_data
from regard.views.page_image import maps_without_scripts, scene_element

CAUTION = (
    "Attention shows where the model looked while it wrote each token. "
    "It is not an explanation of why it wrote it."
)
_READING = (
    "Lines of less than 2 % of the largest weight are not drawn; the heat map holds every weight."
)
_PICTURED = (
    "In the middle of a cell a picture is as bright as the token's weight there over its largest "
    "one, and between the middles as what is between."
)
_STEPS = "The number beside a token is how many steps the model took over it."
_SCRIPTS = (
    "weights.js",
    "bridge.js",
    "heatmap.js",
    "scene.js",
    "readout.js",
    "controls.js",
    "figure.js",
    "exports.js",
    "main.js",
)
_STYLES = ("page.css", "attention.css")
_MOST_CELLS = 1600  # of a heat map that is drawn where scripts are off
_KINDS = {"cross": "output to source", "encoder": "source to source", "decoder": "output to itself"}
_KINDS_OF_PICTURES = _KINDS | {"cross": "output to picture", "encoder": "picture to itself"}


def attention_html(view: AttentionView, *more: AttentionView) -> str:
    """A view as a whole page: the tokens with lines between them, and the heat map; or the picture.

    Nothing is loaded: style, script and data are inside. It follows the reader's light or dark
    scheme, works with the keyboard, and shows small maps without scripts too.

    more: views that stand on the page below the first.
    """
    views = (view, *more)
    heading = (printable(view.title) if not more else "") or "Attention"
    elements = "\n".join(attention_element(each, heading=bool(more)) for each in views)
    said = [CAUTION, *dict.fromkeys(_PICTURED if each.image else _READING for each in views)]
    said += [_STEPS] if any(each.source_steps or each.steps for each in views) else []
    main = (
        f'<h1 dir="auto">{escape(heading)}</h1>\n'
        f'<div class="views">\n{elements}\n</div>\n'
        f"<footer><p>{' '.join(said)}</p></footer>"
    )
    return page(heading, main)


def page(title: str, main: str) -> str:
    """A whole page around the markup `main`, with the shared style and script inside.

    The content security policy forbids the page to load anything from anywhere.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="generator" content="regard">
<title>{escape(title)}</title>
<style>
{style()}</style>
</head>
<body>
<main>
{main}
</main>
<script>
{script()}</script>
</body>
</html>
"""


def script(*more: str) -> str:
    """What brings attention elements to life, in a scope of its own; `more` stands behind it."""
    parts = "\n".join((_assets(_SCRIPTS), *more))
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def style(*more: str) -> str:
    """The style of pages; `more` stands behind it."""
    return "\n".join((_assets(_STYLES), *more))


def attention_element(view: AttentionView, *, heading: bool = True) -> str:
    """A view as an element that `page` brings to life; a page may hold any number of them."""
    title = printable(view.title) if heading else ""
    kept = 0 if view.image is None else len(view.image.uri)
    packed = pack_view(view, MOST_CHARACTERS - kept)
    data = dumps_for_script(page_data(view, packed))
    return "\n".join(
        (
            '<article class="attention">',
            f'<h3 dir="auto">{escape(title)}</h3>' if title else "",
            '<div class="sentences">',
            f'<p class="source" dir="auto">{escape(printable(view.source))}</p>',
            f'<p class="output" dir="auto">{escape(printable(view.text))}</p>',
            "</div>",
            _facts(view),
            '<div class="controls"></div>',
            '<p class="legend"></p>',
            _without_scripts(view),
            '<div class="panels">',
            "" if view.image is None else scene_element(view.source, view.image),
            '<div class="bridge"></div>',
            '<div class="map" role="application" aria-label="Heat map"></div>',
            "</div>",
            '<p class="readout" role="status"></p>',
            '<div class="alternatives"></div>',
            _stored(view, packed),
            f'<script type="application/json" class="data">{data}</script>',
            "</article>",
        )
    )


def _without_scripts(view: AttentionView) -> str:
    small = len(view.tokens) * len(view.source_tokens) <= _MOST_CELLS
    picture = ""
    if small:
        drawn = inline_svg(view) if view.image is None else maps_without_scripts(view, view.image)
        picture = f'<div class="scroll">\n{drawn}</div>'
    said = "Without scripts this page shows no more than this."
    return f"<noscript>{picture}<p>{said}</p></noscript>"


def _stored(view: AttentionView, packed: PackedView) -> str:
    """What the page does not hold, and how exact the weights are that it does."""
    kinds = _KINDS if view.image is None else _KINDS_OF_PICTURES
    rows = [_exactness("as answered", packed.shown)] + [
        _exactness(f"{kinds[stack.kind]}{', mean over heads' if stack.mean else ''}", weights)
        for stack, weights in packed.stacks
    ]
    missing = ""
    if packed.left_out:
        names = " and ".join(kinds[kind] for kind in packed.left_out)
        missing = f"<p>Too large for one page, so not in it: the layers of {names}.</p>"
    return (
        f'<div class="stored">{missing}<details><summary>How the weights are stored</summary>\n'
        "<p>Each as a whole number: weight = largest × (number / levels)<sup>power</sup>.</p>\n"
        "<table><thead><tr><th>attention</th><th>largest</th><th>levels</th><th>power</th>"
        f"<th>off by at most</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
        "</details></div>"
    )


def _exactness(name: str, packed: Packed) -> str:
    levels, power = packed.precision
    cells = (name, f"{packed.largest:.9g}", str(levels), str(power), f"{packed.error:.1g}")
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _facts(view: AttentionView) -> str:
    read = f"<b>{len(view.source_tokens)}</b> source tokens"
    if view.image is not None:
        read = f"<b>{view.image.rows} × {view.image.columns}</b> cells"
    facts = [f"{read}, <b>{len(view.tokens)}</b> written"]
    if view.score is not None:
        score = f"{view.score:.3f}".replace("-", "\u2212")
        facts.insert(0, f"log-probability <b>{score}</b>")
    means = [
        f"<b>{sum(steps) / len(steps):.1f}</b> {what}"
        for steps, what in ((view.source_steps, "a source token"), (view.steps, "a written one"))
        if steps
    ]
    if means:
        facts.append(f"steps: {', '.join(means)}")
    links = _word_links(view)
    if links:
        facts.append(f"word links: {links}")
    return '<ul class="facts">' + "".join(f"<li>{fact}</li>" for fact in facts) + "</ul>"


def _word_links(view: AttentionView) -> str:
    """The alignment in the user's own words; nothing where a side is a single word."""
    source_words, words = view.source.split(), view.text.split()
    if len(source_words) < 2 or len(words) < 2:
        return ""
    return ", ".join(
        f"<bdi>{escape(printable(source_words[source]))}</bdi>\u2009–\u2009"
        f"<bdi>{escape(printable(words[target]))}</bdi>"
        for source, target in view.alignment
        if source < len(source_words) and target < len(words)
    )


def _assets(names: Iterable[str]) -> str:
    folder = files("regard.views").joinpath("assets")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
