"""Problems of a configuration, each told in one line: the key, what it holds, what is right."""

from typing import Any

from pydantic import ValidationError

from regard.errors import UserError
from regard.training.configuration import Configuration
from regard.training.keys import kinds_at, nearest_key, valid_keys


def resolve(data: dict[str, Any], origin: str) -> Configuration:
    """The configuration that `data` describes, defaults filled in.

    Raises UserError naming `origin`, the dotted key, what it holds and what would be right; an
    unknown key with its section and the nearest valid one.
    """
    try:
        configuration = Configuration.model_validate(data)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        # A mistyped key also makes a needed one missing: it is told first.
        problems.sort(key=lambda problem: problem["type"] != "extra_forbidden")
        raise UserError(f"{origin}: {_told(problems[0], data)}") from error
    _refuse_switches(data, configuration.as_dict(), origin, ())
    return configuration


def _told(problem: Any, data: dict[str, Any]) -> str:
    path = _written_path(problem["loc"], data)
    if problem["type"] == "extra_forbidden":
        return unknown_key(data, path[:-1], path[-1])
    dotted, message = ".".join(path), _lower(problem["msg"])
    if problem["type"] == "missing":
        return f"{dotted} is missing"
    if problem["type"] == "union_tag_not_found":
        kinds = " or ".join(kinds_at(Configuration, data, path))
        return f"{dotted}.kind is missing; it must be {kinds}"
    if problem["type"] == "union_tag_invalid":
        context = problem["ctx"]
        return f"{dotted}.kind is {context['tag']}; it must be {context['expected_tags']}"
    if problem["type"] == "value_error":
        return f"{dotted}: {message}" if dotted else message
    if problem["type"] in ("model_type", "model_attributes_type"):
        message = "must be a section of `key: value`"
    return f"{dotted} is {shown(problem['input'])}; it {message}"


def unknown_key(
    data: dict[str, Any], path: tuple[str, ...], key: str, rest: tuple[str, ...] = ()
) -> str:
    """What is said of a key that the section at `path` does not have, with `rest` written below."""
    section = ".".join(path)
    place = f"the section {section}" if section else "the configuration"
    near = nearest_key(Configuration, data, path, key, rest)
    if near is not None:
        return f"{place} has no key {key}; did you mean {near}?"
    return f"{place} has no key {key}; it has {', '.join(valid_keys(Configuration, data, path))}"


def shown(value: Any) -> str:
    """A value as it is written in YAML, on one line and not too long."""
    if value is None or isinstance(value, bool):
        return {None: "empty", True: "true", False: "false"}[value]
    text = " ".join(str(value).split()) if not isinstance(value, str) or value else "an empty text"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _written_path(location: tuple[int | str, ...], data: Any) -> tuple[str, ...]:
    """The keys of `location` as a person wrote them: without the kinds that pydantic puts in."""
    path: list[str] = []
    for number, part in enumerate(location):
        last = number == len(location) - 1
        if isinstance(data, dict) and part not in data and not last:
            continue
        path.append(str(part))
        if isinstance(data, dict):
            data = data.get(part)
        elif isinstance(data, list | tuple) and isinstance(part, int) and part < len(data):
            data = data[part]
    return tuple(path)


def _lower(message: str) -> str:
    message = message.removeprefix("Value error, ").replace("Input should be", "must be")
    message = message.replace("a valid tuple", "a list")
    return message[:1].lower() + message[1:]


def _refuse_switches(data: Any, resolved: Any, origin: str, path: tuple[str, ...]) -> None:
    """`true` where a number belongs would pass for 1: refuse it."""
    if isinstance(data, dict) and isinstance(resolved, dict):
        for key, value in data.items():
            _refuse_switches(value, resolved.get(key), origin, (*path, str(key)))
    elif isinstance(data, bool) and not isinstance(resolved, bool):
        dotted = ".".join(path)
        raise UserError(f"{origin}: {dotted} is {shown(data)}; it must be a number")
