"""Two line-aligned files: line i of one belongs to line i of the other."""

import os
from pathlib import Path

from regard.data.lines import read_lines
from regard.errors import UserError


def read_aligned(prefix: str, source: str | None, target: str | None) -> list[tuple[str, str]]:
    """The pairs of `PREFIX.source` and `PREFIX.target`, either of them `.gz`.

    A file without `.gz` is taken before one with it. Raises UserError when a suffix is not given,
    a file is missing, or the files have different numbers of lines.
    """
    if not source or not target:
        raise UserError(_unknown(prefix))
    source_path, target_path = _find(prefix, source), _find(prefix, target)
    sources, targets = read_lines(source_path), read_lines(target_path)
    if len(sources) != len(targets):
        raise UserError(
            f"{source_path} has {len(sources)} lines and {target_path} has {len(targets)}: line i "
            "of one must belong to line i of the other"
        )
    return list(zip(sources, targets, strict=True))


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
