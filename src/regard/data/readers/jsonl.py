"""JSON lines: an object a line, the texts under two of its keys."""

import json
from pathlib import Path
from typing import Any

from regard.data.lines import read_lines
from regard.errors import UserError


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
    try:
        record = json.loads(line)
    except json.JSONDecodeError as error:
        raise UserError(
            f"{place}: not JSON ({error.msg} at column {error.colno}); each line must be an object "
            'such as {"source": "...", "target": "..."}'
        ) from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: JSON that cannot be read ({error})") from error
    if not isinstance(record, dict):
        raise UserError(
            f"{place}: {_kind(record)} where an object should be, such as "
            '{"source": "...", "target": "..."}'
        )
    return record


def json_text(
    record: dict[str, Any], key: str, place: str, options: str = "--source and --target"
) -> str:
    """The text under a key. Raises UserError, naming `place`, for what is not one line of text."""
    if key not in record:
        keys = ", ".join(record) or "none"
        raise UserError(f'{place}: no key "{key}" (there are: {keys}); name the key with {options}')
    value = record[key]
    if not isinstance(value, str):
        raise UserError(f'{place}: the value of "{key}" is {_kind(value)}; it must be a string')
    if "\n" in value:
        raise UserError(f'{place}: the value of "{key}" holds a line break; a text is one line')
    if not value.isascii() and any("\ud800" <= symbol <= "\udfff" for symbol in value):
        raise UserError(
            f'{place}: the value of "{key}" holds half of a surrogate pair; it must be Unicode text'
        )
    return value


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}
    return kinds.get(type(value), "a number")
