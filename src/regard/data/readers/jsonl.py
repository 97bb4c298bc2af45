"""JSON lines: an object a line, the texts under two of its keys."""

from pathlib import Path
from typing import Any

from regard.data.lines import read_lines
from regard.data.readers.json_values import json_object, json_string, parse_json
from regard.errors import UserError

EXAMPLE = 'must be an object such as {"source": "...", "target": "..."}'


def read_jsonl(
    path: Path, source: str | None, target: str | None, features: str | None = None
) -> list[tuple[str, str, str]]:
    """Source, target and features of every object; other keys are ignored.

    Keys are `source` and `target` by default; without one of the features these are empty. An empty
    line is a blank pair. Raises UserError, with file, line and key, for a line that is not a JSON
    object, a missing key, and a value that is not one line of text.
    """
    source, target = source or "source", target or "target"
    rows = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            rows.append(("", "", ""))
            continue
        place = f"{path}, line {number}"
        record = _record(line, place)
        tag = "" if features is None else json_text(record, features, place, "--features")
        texts = json_text(record, source, place), json_text(record, target, place)
        rows.append((*texts, tag))
    return rows


def _record(line: str, place: str) -> dict[str, Any]:
    return json_object(parse_json(line, place, f"each line {EXAMPLE}"), place, f"it {EXAMPLE}")


def json_text(
    record: dict[str, Any], key: str, place: str, options: str = "--source and --target"
) -> str:
    """The text under a key. Raises UserError, naming `place`, for what is not one line of text."""
    value = json_string(record, key, place, f"name the key with {options}")
    if "\n" in value:
        raise UserError(f'{place}: the value of "{key}" holds a line break; a text is one line')
    return value
