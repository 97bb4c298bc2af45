"""How a tool that is told everything in a file of YAML is started, with its batches counted."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def counted_command(
    python: Path, script: Path, configuration: Mapping[str, Any], path: Path, threads: int
) -> tuple[list[str], Path]:
    """Write the configuration to `path`; the command that trains, and the record it will write."""
    record = path.with_name("record.jsonl")
    path.write_text(yaml.safe_dump(configuration), encoding="utf-8")
    return [str(python), str(script), str(path), str(record), str(threads)], record
