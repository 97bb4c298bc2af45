"""YAML: strict reading, with the line in every error, and writing."""

from pathlib import Path
from typing import Any

import yaml

from regard.errors import UserError
from regard.files import require_file


def read_yaml(path: Path, what: str) -> dict[str, Any]:
    """The mapping in a YAML file. Raises UserError naming the file, and the line where it can."""
    require_file(path, what)
    try:
        return parse_mapping(path.read_bytes(), str(path))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error


def parse_mapping(text: bytes | str, origin: str) -> dict[str, Any]:
    """The mapping that a YAML text holds. Raises UserError naming `origin` and the line."""
    data = parse_yaml(text, origin)
    if not isinstance(data, dict):
        found = "nothing" if data is None else f"a {type(data).__name__}"
        raise UserError(f"{origin}: holds {found} where sections of `key: value` should be")
    return data


def parse_yaml(text: bytes | str, origin: str) -> Any:
    """The value of a YAML text; a key that comes twice is an error. Raises as `parse_mapping`."""
    try:
        return yaml.load(_decoded(text, origin), _StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{origin}:{mark.line + 1}" if mark else origin
        reason = error.problem or error.context or "it cannot be read"
        raise UserError(f"{place}: not YAML: {reason}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # an impossible date, deep nests
        reason = str(getattr(error, "reason", error))
        raise UserError(f"{origin}: not YAML: {reason}") from error


def _decoded(text: bytes | str, origin: str) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise UserError(f"{origin}:{line}: not UTF-8; save the file as UTF-8") from error


def to_yaml(data: Any) -> str:
    """YAML of `data`, keys in their order."""
    text: str = yaml.safe_dump(
        data, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
    )
    return text


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader that refuses a key that comes twice, and knows `1e-3` for a number."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"the key {key.value} comes twice", key.start_mark
                    )
                seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping
