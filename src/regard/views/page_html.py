"""Attention as a page: one file that needs no network, for looking into one output."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from regard.views.attention_view import AttentionView
from regard.views.heatmap_svg import inline_svg
from regard.views.json_view import dumps_for_script
from regard.views.labels import is_right_to_left, printable, visible
from regard.views.steps_strip import short, steps_text

CAUTION = (
    "Attention shows where the model looked while it wrote each token. "
    "It is not an explanation of why it wrote it."
)
_READING = "Threads of less weight than 0.02 are not drawn; the heat map holds every weight."
_STEPS = "The number beside a token is how many steps the model took over it."


def attention_html(view: AttentionView) -> str:
    """A view as a whole page: the tokens with threads between them, and the heat map.

    Nothing is loaded: style, script and data are inside. It follows the reader's light or dark
    scheme, works with the keyboard, and shows its figures without scripts too.
    """
    heading = printable(view.title) or "Attention"
    said = [CAUTION, _READING] + ([_STEPS] if view.source_steps or view.steps else [])
    main = (
        f'<h1 dir="auto">{escape(heading)}</h1>\n'
        f'<div class="views">\n{attention_element(view, heading=False)}\n</div>\n'
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
{_asset("page.css")}</style>
</head>
<body>
<main>
{main}
</main>
<script>
{_asset("attention.js")}</script>
</body>
</html>
"""


def attention_element(view: AttentionView, *, heading: bool = True) -> str:
    """A view as an element that `page` brings to life; a page may hold any number of them."""
    title = printable(view.title) if heading else ""
    probabilities = view.probabilities
    data = {
        "attention": [[round(weight, 5) for weight in row] for row in view.attention],
        "probabilities": None if probabilities is None else [round(p, 5) for p in probabilities],
        "steps": {
            "source": _took(view.source_steps, view.source_ponder),
            "output": _took(view.steps, view.ponder),
        },
    }
    return "\n".join(
        (
            '<article class="attention">',
            f'<h3 dir="auto">{escape(title)}</h3>' if title else "",
            '<div class="sentences">',
            f'<p class="source" dir="auto">{escape(printable(view.source))}</p>',
            f'<p class="output" dir="auto">{escape(printable(view.text))}</p>',
            "</div>",
            _facts(view),
            '<div class="panels">',
            '<div class="bridge">',
            _tokens("source", view.source_tokens, view.source, None, view.source_steps),
            _tokens("output", view.tokens, view.text, probabilities, view.steps),
            "</div>",
            f'<div class="scroll">\n{inline_svg(view)}</div>',
            "</div>",
            '<p class="readout" role="status"></p>',
            f'<script type="application/json" class="data">{dumps_for_script(data)}</script>',
            "</article>",
        )
    )


def _took(steps: tuple[float, ...] | None, costs: tuple[float, ...] | None) -> list[str] | None:
    """What the page says of each token's steps."""
    if steps is None:
        return None
    known = costs or [None] * len(steps)
    return [steps_text(taken, cost) for taken, cost in zip(steps, known, strict=True)]


def _tokens(
    side: str,
    tokens: Iterable[str],
    sentence: str,
    probabilities: tuple[float, ...] | None,
    steps: tuple[float, ...] | None,
) -> str:
    direction = "rtl" if is_right_to_left(sentence) else "ltr"
    buttons = []
    for index, token in enumerate(tokens):
        style = f' style="--probability: {probabilities[index]:.4f}"' if probabilities else ""
        stop = 0 if index == 0 else -1
        buttons.append(
            f'<button type="button" class="token" dir="auto" tabindex="{stop}"{style}>'
            f"{escape(visible(token))}{_badge(steps, index)}</button>"
        )
    return (
        f'<div class="tokens {side}" dir="{direction}" role="group" aria-label="{side} tokens">\n'
        + "\n".join(buttons)
        + "\n</div>"
    )


def _badge(steps: tuple[float, ...] | None, index: int) -> str:
    return "" if steps is None else f'<span class="took" dir="ltr">{short(steps[index])}</span>'


def _facts(view: AttentionView) -> str:
    facts = [f"<b>{len(view.source_tokens)}</b> source tokens, <b>{len(view.tokens)}</b> written"]
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


def _asset(name: str) -> str:
    return files("regard.views").joinpath("assets").joinpath(name).read_text(encoding="utf-8")
