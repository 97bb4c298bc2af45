"""Keys: which ones a configuration has at a place, and which of them a mistyped one may mean."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

Section = type[BaseModel]


def section_at(root: Section, data: Any, path: Sequence[str]) -> list[Section]:
    """The sections that may stand at `path`: several where `kind` does not tell which one."""
    sections = [root]
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
        annotations = [fields[key] for section in sections if key in (fields := _fields(section))]
        sections = [
            section
            for annotation in annotations
            for section in _chosen(_sections_in(annotation), data)
        ]
    return sections


def valid_keys(root: Section, data: Any, path: Sequence[str]) -> list[str]:
    """The keys that may stand in the section at `path`, in their order."""
    keys = (key for section in section_at(root, data, path) for key in _fields(section))
    return list(dict.fromkeys(keys))


def dotted_keys(root: Section, data: Any) -> Iterator[str]:
    """Every key of the whole configuration, its sections in front: `training.learning_rate`."""
    for key, annotation in _fields(root).items():
        yield key
        below = data.get(key) if isinstance(data, dict) else None
        for section in _chosen(_sections_in(annotation), below):
            yield from (f"{key}.{rest}" for rest in dotted_keys(section, below))


def nearest_key(
    root: Section, data: Any, path: Sequence[str], key: str, rest: Sequence[str] = ()
) -> str | None:
    """The valid dotted key that someone who wrote `key` in the section `path` most likely meant.

    rest: further keys that were written below it. None when no key is like what was written.
    """
    written = (*path, key, *rest)
    best, most = None, 0.6
    for dotted in dotted_keys(root, data):
        *section, last = dotted.split(".")
        likeness = 0.9 * _likeness(written[-1], last) + 0.1 * _likeness(".".join(written), dotted)
        if section == list(written[:-1]):  # the place is more often right than not
            likeness += 0.05
        if likeness > most:
            best, most = dotted, likeness
    return best


def kinds_at(root: Section, data: Any, path: Sequence[str]) -> list[str]:
    """The kinds that the section at `path` may be of; none when it is of one kind only."""
    return [str(kind) for section in section_at(root, data, path) for kind in _kinds(section)]


def _fields(section: Section) -> dict[str, Any]:
    """Keys as they are written, with their annotations."""
    return {field.alias or name: field.annotation for name, field in section.model_fields.items()}


def _sections_in(annotation: Any) -> list[Section]:
    """The sections that an annotation allows: none for a plain value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) is Annotated:
        return _sections_in(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [section for part in get_args(annotation) for section in _sections_in(part)]
    return []


def _chosen(sections: list[Section], data: Any) -> list[Section]:
    """Of several sections, those whose `kind` is the one in the data."""
    kind = data.get("kind") if isinstance(data, dict) else None
    fitting = [section for section in sections if kind in _kinds(section)]
    return fitting or sections


def _kinds(section: Section) -> tuple[Any, ...]:
    annotation = _fields(section).get("kind")
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _likeness(first: str, second: str) -> float:
    return SequenceMatcher(None, first.lower(), second.lower()).ratio()
