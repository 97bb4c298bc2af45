"""JSON lines: an object a line, the texts under two of its keys."""

import json
from pathlib import Path
from typing import Any

from regard.data.lines import read_lines
from regard.errors import UserError


def read_jsonl(path: Path, source: str | None, target: str | None) -> list[tuple[str, str]]:
    """The pairs under two keys (default `source` and `target`); other keys are ignored.

    An empty line is a blank pair. Raises UserError, with file, line and key, for a line that is
    not a JSON object, a missing key, and a value that is not one line of text.
    """
    keys = (source or "source", target or "target")
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            pairs.append(("", ""))
            continue
        place = f"{path}, line {number}"
        record = _record(line, place)
        pairs.append((_text(record, keys[0], place), _text(record, keys[1], place)))
    return pairs


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


def _text(record: dict[str, Any], key: str, place: str) -> str:
    if key not in record:
        keys = ", ".join(record) or "none"
        raise UserError(
            f'{place}: no key "{key}" (there are: {keys}); name the keys with --source and --target'
        )
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
