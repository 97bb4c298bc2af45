"""JSON values: what a file of JSON holds, each checked where it is taken, with its place named."""

import json
from pathlib import Path
from typing import Any

from regard.data.lines import read_lines
from regard.errors import UserError


def read_json(path: Path) -> Any:
    """What a JSON file holds (gzip when its name ends in `.gz`). UserError where it is not JSON."""
    return parse_json("\n".join(read_lines(path)), str(path), "it must be one JSON value")


def parse_json(text: str, place: str, wanted: str) -> Any:
    """The value of a JSON text. Raises UserError, naming place, line and column, for others."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in text else ""
        raise UserError(
            f"{place}: not JSON ({error.msg} at {line}column {error.colno}); {wanted}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{place}: JSON that cannot be read ({error})") from error


def json_object(value: object, place: str, wanted: str) -> dict[str, Any]:
    """The value itself when it is an object. Raises UserError, naming its place, for others."""
    if not isinstance(value, dict):
        raise UserError(f"{place}: {json_kind(value)} where an object should be; {wanted}")
    return value


def json_list(record: dict[str, Any], key: str, place: str, remedy: str) -> list[Any]:
    """The list under a key. Raises UserError, naming `place`, where there is none."""
    value = json_member(record, key, place, remedy)
    if not isinstance(value, list):
        raise UserError(f'{place}: the value of "{key}" is {json_kind(value)}; it must be a list')
    return value


def json_string(record: dict[str, Any], key: str, place: str, remedy: str) -> str:
    """The text under a key. Raises UserError, naming `place`, for what is not Unicode text."""
    return unicode_text(json_member(record, key, place, remedy), f'{place}: the value of "{key}"')


def json_member(record: dict[str, Any], key: str, place: str, remedy: str) -> Any:
    """The value under a key. Raises UserError, naming `place` and the keys there are."""
    if key not in record:
        keys = ", ".join(record) or "none"
        raise UserError(f'{place}: no key "{key}" (there are: {keys}); {remedy}')
    return record[key]


def unicode_text(value: object, what: str) -> str:
    """The value itself when it is text. Raises UserError, naming `what`, for others."""
    if not isinstance(value, str):
        raise UserError(f"{what} is {json_kind(value)}; it must be a string")
    if not value.isascii() and any("\ud800" <= symbol <= "\udfff" for symbol in value):
        raise UserError(f"{what} holds half of a surrogate pair; it must be Unicode text")
    return value


def json_kind(value: object) -> str:
    """What a value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    kinds: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}
    return kinds.get(type(value), "a number")
