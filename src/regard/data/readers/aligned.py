"""Line-aligned files: line i of one belongs to line i of the others."""

import os
from pathlib import Path

from regard.data.lines import read_lines
from regard.errors import UserError


def read_aligned(
    prefix: str, source: str | None, target: str | None, features: str | None = None
) -> list[tuple[str, str, str]]:
    """Source, target and features of every line of `PREFIX.source`, `PREFIX.target` and, where its
    suffix is given, `PREFIX.features`; each of them may be `.gz`. Without it features are empty.

    A file without `.gz` is taken before one with it. Raises UserError when a suffix is not given,
    a file is missing, or the files have different numbers of lines.
    """
    if not source or not target:
        raise UserError(_unknown(prefix))
    paths = [_find(prefix, suffix) for suffix in (source, target, features) if suffix]
    texts = [read_lines(path) for path in paths]
    for path, lines in zip(paths[1:], texts[1:], strict=True):
        if len(lines) != len(texts[0]):
            raise UserError(
                f"{paths[0]} has {len(texts[0])} lines and {path} has {len(lines)}: line i of one "
                "must belong to line i of the other"
            )
    tags = texts[2] if features else [""] * len(texts[0])
    return list(zip(texts[0], texts[1], tags, strict=True))


def _find(prefix: str, suffix: str) -> Path:
    plain = Path(f"{prefix}.{suffix}")
    compressed = Path(f"{prefix}.{suffix}.gz")
    for path in (plain, compressed):
        if os.path.exists(path):
            return path
    found = _neighbors(prefix)
    raise UserError(
        f"neither {plain} nor {compressed} exists; "
        + (f"with this prefix there are: {', '.join(found)}" if found else _no_such(prefix))
    )


def _unknown(prefix: str) -> str:
    """What to say of DATA that is no file of pairs, when it is not known which two files it is."""
    path = Path(prefix)
    if os.path.isfile(path):
        return (
            f"{prefix} is not a .tsv or .jsonl file; give one of these, or the prefix of two "
            "line-aligned files with --source and --target"
        )
    found = _neighbors(prefix)
    if found:
        return (
            f"{prefix} is a prefix of line-aligned files ({', '.join(found)}): give both --source "
            "and --target, the suffixes of the two (for example --source en --target de)"
        )
    return f"no file {prefix} or {prefix}.* exists; {_no_such(prefix)}"


def _no_such(prefix: str) -> str:
    path = Path(prefix)
    if os.path.isdir(path):
        return f"{prefix} is a directory; name a .tsv or .jsonl file in it, or a prefix"
    if not os.path.isdir(path.parent):
        return f"the directory {path.parent} does not exist"
    if os.path.isfile(path):
        return (
            f"{prefix} is a file; give a .tsv or .jsonl file, or the prefix of two line-aligned "
            "files without their suffixes"
        )
    return (
        "give a .tsv or .jsonl file, or the prefix of two line-aligned files with --source and "
        "--target, their suffixes"
    )


def _neighbors(prefix: str, most: int = 8) -> list[str]:
    """Names of files that begin with the prefix and a dot, sorted, at most `most` of them."""
    path = Path(prefix)
    if not path.name or not os.path.isdir(path.parent):
        return []
    names = (entry.name for entry in path.parent.iterdir() if entry.is_file())
    return sorted(name for name in names if name.startswith(f"{path.name}."))[:most]
