"""Given targets to be scored: texts, or tokens as a decoder listed them."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from regard.cli.reading import counted, dropped, read_data
from regard.cli.streams import report
from regard.errors import UserError


class Given(NamedTuple):
    """A source and its target, either a text or the tokens of one; features where there are any.

    line: where it stands in its file, from 1.
    """

    line: int
    source: str
    target: str | list[str]
    features: str | None = None


def read_given(
    data: str, source: str | None, target: str | None, features: str | None = None
) -> list[Given]:
    """Pairs as `read_data` reads them; in JSONL the target may be a list of tokens.

    That is the value of `target`, or of `tokens` where an object has no `target`: so what
    `translate --json` printed can be scored. Pairs with a blank side are dropped and counted.
    Raises UserError with file and line for everything else.
    """
    if not data.lower().removesuffix(".gz").endswith(".jsonl"):
        return _texts(data, source, target, features)
    from regard.data.lines import read_lines

    rows = [_record(line) for line in read_lines(Path(data))]
    first = next((row for row in rows if row), {})
    key = target or ("target" if "target" in first else "tokens")
    if not isinstance(first.get(key), list):
        return _texts(data, source, target, features)
    return _tokens(data, rows, source or "source", key, features)


def _texts(data: str, source: str | None, target: str | None, features: str | None) -> list[Given]:
    pairs = read_data(data, source, target, features)
    return [
        Given(line, pair.source, pair.target, None if features is None else pair.features)
        for line, pair in zip(pairs.lines, pairs, strict=True)
    ]


def _record(line: str) -> dict[str, Any]:
    """What a line says; nothing where it is no JSON object, which a strict reader reports."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _tokens(
    data: str, rows: list[dict[str, Any]], source: str, target: str, features: str | None
) -> list[Given]:
    from regard.data.readers.jsonl import json_text

    given: list[Given] = []
    for number, row in enumerate(rows, start=1):
        text, tokens = row.get(source), row.get(target)
        if not isinstance(text, str) or not _are_tokens(tokens):
            raise UserError(
                f'{data}, line {number}: should be an object with a text "{source}" and a list of '
                f'tokens "{target}"'
            )
        if text.strip() and tokens:
            place = f"{data}, line {number}"
            tag = None if features is None else json_text(row, features, place, "--features")
            given.append(Given(number, text, tokens, tag))
    report(f"{data}: {counted(len(given), 'pair')}{dropped(len(rows) - len(given))}")
    if not given:
        raise UserError(f"{data}: every pair has a blank side; give both a source and tokens")
    return given


def _are_tokens(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(token, str) for token in value)
