"""metrics.jsonl: what happened in a run, one JSON object a line.

Every line has `kind` (`start`, `training`, `validation`, `resume`, `end`), `step` and `seconds`,
the time spent in updates so far. After a resume the file is cut back to where the checkpoint was
saved, so no line comes twice.
"""

import json
import math
import os
from pathlib import Path
from typing import Any

from regard.errors import UserError
from regard.files import append_line, require_file, writing


class MetricsLog:
    """The file, written a line at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, kind: str, **facts: Any) -> None:
        """Append a line. Raises UserError when it cannot be written."""
        facts = {"kind": kind, **facts}
        append_line(self.path, json.dumps(facts, ensure_ascii=False, allow_nan=False))

    def position(self) -> int:
        """How long the file is, once all of it is on the disk."""
        with writing(self.path), open(self.path, "ab") as stream:
            os.fsync(stream.fileno())
            return stream.tell()

    def cut_back(self, position: int) -> None:
        """Forget what was written after `position`. Raises UserError when the file is shorter."""
        length = self.path.stat().st_size if self.path.exists() else 0
        if length < position:
            raise UserError(
                f"{self.path} is damaged: it has {length} bytes, the checkpoint knows of {position}"
            )
        with writing(self.path), open(self.path, "ab") as stream:
            stream.truncate(position)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl; a last line that is still being written is left out.

    Raises UserError, naming the line, when one is damaged.
    """
    require_file(path, "a run's metrics")
    try:
        *lines, _unfinished = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from error
    return [_parsed(line, path, number) for number, line in enumerate(lines, start=1)]


def perplexity(negative_log_likelihood: float) -> float:
    """exp of the mean unsmoothed loss, in nats; the largest float where it would overflow."""
    return math.exp(min(negative_log_likelihood, 709.0))


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except ValueError as error:
        raise UserError(f"{path}:{number} is damaged: it is not JSON") from error
    if not isinstance(data, dict):
        raise UserError(f"{path}:{number} is damaged: it should be an object")
    return data
