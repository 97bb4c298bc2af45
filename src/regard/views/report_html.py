"""A report: one self-contained page with figures, pictures and attention to look into."""

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from regard.files import write_text
from regard.views.attention_view import AttentionView
from regard.views.charts import DotChart, LineChart
from regard.views.labels import printable
from regard.views.page_html import CAUTION, attention_element, page


@dataclass(frozen=True)
class Figure:
    """A row of a table: what was measured, the value as it should be read, what it means."""

    label: str
    value: str
    explanation: str = ""


@dataclass(frozen=True)
class Picture:
    """A PNG that is put inside the page. `alternative`: what it shows, for who cannot see it."""

    png: bytes
    caption: str = ""
    alternative: str = ""


@dataclass(frozen=True)
class Step:
    """Something to try next, and the command line that does it."""

    explanation: str
    command: str


@dataclass(frozen=True)
class Table:
    """A table of text. header: may be empty. numbers: which columns are numbers, aligned to the
    right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    caption: str = ""


@dataclass(frozen=True)
class Link:
    """Words that lead to a file beside the report."""

    label: str
    file: str


@dataclass(frozen=True)
class Section:
    """A heading, and below it paragraphs, figures, charts, tables, pictures and attention views.

    listings: titles and texts of files, closed until they are opened.
    """

    heading: str
    paragraphs: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()
    pictures: tuple[Picture, ...] = ()
    views: tuple[AttentionView, ...] = ()
    links: tuple[Link, ...] = ()
    charts: tuple[LineChart | DotChart, ...] = ()
    tables: tuple[Table, ...] = ()
    listings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Report:
    """A whole report; all text is plain text and shown as it is."""

    title: str
    introduction: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    steps: tuple[Step, ...] = ()


def report_html(report: Report) -> str:
    """A report as a page that needs no network; its attention views work as in `attention_html`."""
    title = printable(report.title)
    parts = [f"<h1>{escape(title)}</h1>", '<div class="prose lead">']
    parts += [_paragraph(text) for text in report.introduction]
    parts.append("</div>")
    parts += [_section(section) for section in report.sections]
    if report.steps:
        parts.append(_steps(report.steps))
    if any(section.views for section in report.sections):
        parts.append(f"<footer><p>{CAUTION}</p></footer>")
    return page(title, "\n".join(parts))


def write_report(report: Report, path: Path) -> None:
    """Write a report as a page, whole or not at all. Raises UserError when it cannot."""
    write_text(path, report_html(report))


def _section(section: Section) -> str:
    parts = ["<section>", f"<h2>{escape(printable(section.heading))}</h2>", '<div class="prose">']
    parts += [_paragraph(text) for text in section.paragraphs]
    parts.append("</div>")
    if section.figures:
        rows = "\n".join(map(_figure, section.figures))
        parts.append(f'<table class="figures"><tbody>\n{rows}\n</tbody></table>')
    if section.charts:
        charts = "\n".join(chart.svg() for chart in section.charts)
        parts.append(f'<div class="charts">\n{charts}\n</div>')
    parts += map(_table, section.tables)
    if section.pictures:
        pictures = "\n".join(map(_picture, section.pictures))
        parts.append(f'<div class="gallery">\n{pictures}\n</div>')
    if section.views:
        views = "\n".join(map(attention_element, section.views))
        parts.append(f'<div class="views">\n{views}\n</div>')
    parts += [_listing(*each) for each in section.listings]
    parts += map(_link, section.links)
    parts.append("</section>")
    return "\n".join(parts)


def _link(link: Link) -> str:
    return f'<p><a href="{escape(quote(link.file))}">{escape(printable(link.label))}</a></p>'


def _paragraph(text: str) -> str:
    return f"<p>{escape(printable(text))}</p>"


def _figure(figure: Figure) -> str:
    return (
        f'<tr><th scope="row">{escape(printable(figure.label))}</th>'
        f'<td class="value">{escape(printable(figure.value))}</td>'
        f'<td class="explanation">{escape(printable(figure.explanation))}</td></tr>'
    )


def _table(table: Table) -> str:
    caption = f"<caption>{escape(printable(table.caption))}</caption>" if table.caption else ""
    names = "".join(_cell(table, column, name, "th") for column, name in enumerate(table.header))
    head = f"<thead><tr>{names}</tr></thead>" if names else ""
    body = "\n".join(
        f"<tr>{''.join(_cell(table, column, cell, 'td') for column, cell in enumerate(row))}</tr>"
        for row in table.rows
    )
    return (
        f'<div class="scroll"><table class="plain">{caption}{head}'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _cell(table: Table, column: int, text: str, tag: str) -> str:
    look = ' class="number"' if column in table.numbers else ' dir="auto"'
    return f"<{tag}{look}>{escape(printable(text))}</{tag}>"


def _listing(title: str, text: str) -> str:
    lines = "\n".join(map(printable, text.split("\n")))
    return (
        f"<details><summary>{escape(printable(title))}</summary>"
        f"<pre><code>{escape(lines)}</code></pre></details>"
    )


def _picture(picture: Picture) -> str:
    data = b64encode(picture.png).decode("ascii")
    caption = f"<figcaption>{escape(printable(picture.caption))}</figcaption>"
    return (
        f'<figure class="picture"><img src="data:image/png;base64,{data}" '
        f'alt="{escape(printable(picture.alternative))}">'
        f"{caption if picture.caption else ''}</figure>"
    )


def _steps(steps: tuple[Step, ...]) -> str:
    items = "\n".join(
        f"<li>{escape(printable(step.explanation))}"
        f"<pre><code>{escape(printable(step.command))}</code></pre></li>"
        for step in steps
    )
    return f'<section>\n<h2>What to try next</h2>\n<ul class="steps">\n{items}\n</ul>\n</section>'
