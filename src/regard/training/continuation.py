"""Continuation: whether a run directory can be started or gone on with, and what must be the same.

A resumed run is bit-equal to one that was never stopped. That holds only while everything the
numbers depend on is the same, so a difference is an error that names it.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

from regard.data.pairs import Pairs
from regard.errors import UserError
from regard.training.checkpoint import Checkpoint, latest_checkpoint
from regard.training.configuration import Configuration
from regard.training.problems import shown
from regard.training.run import CHECKPOINTS, CONFIGURATION, MODEL, PARTS

#: What may differ between a run and its continuation: nothing that an update depends on.
MAY_DIFFER = frozenset(
    (
        "recipe",
        "description",
        "training.maximum_updates",
        "training.maximum_epochs",
        "training.patience",
        "training.checkpoints",
        "training.checkpoint_interval_seconds",
        "search.beam",  # validation has its own
    )
)


def checkpoint_to_resume(out: Path, resume: bool) -> Path | None:
    """The checkpoint to go on from; None when training starts at the beginning.

    Raises UserError when `out` exists and is not to be resumed, cannot be made, or holds something
    else than a run, or a run whose checkpoints are gone.
    """
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file where a run directory should be; choose another name")
    if not out.exists():
        _check_can_be_made(out)
        return None
    if not resume:
        raise UserError(f"{out} already exists; add --resume to go on with it, or choose another")
    checkpoint = latest_checkpoint(out / CHECKPOINTS)
    if checkpoint is not None:
        return checkpoint
    foreign = sorted(
        path.name
        for path in out.iterdir()
        if path.name not in PARTS and not path.name.endswith(".partial")
    )
    if foreign:
        raise UserError(f"{out} is not a run directory: it holds {foreign[0]} and no checkpoint")
    if (out / MODEL).exists():
        raise UserError(
            f"{out} cannot be resumed: {out / CHECKPOINTS} holds no checkpoint; its model can be "
            "used, or choose another name to train anew"
        )
    return None


def check_same_settings(saved: Configuration, now: Configuration, out: Path) -> None:
    """Raises UserError naming each setting that matters and is no longer what it was."""
    before, after = flat(saved.as_dict()), flat(now.as_dict())
    may_differ = set(MAY_DIFFER)
    if now.training.schedule == "linear":  # its rate depends on where training ends
        may_differ.discard("training.maximum_updates")
    changed = [
        f"{key} was {shown(before.get(key))} and is {shown(after.get(key))}"
        for key in dict.fromkeys((*before, *after))
        if key not in may_differ and before.get(key) != after.get(key)
    ]
    if changed:
        raise UserError(
            f"{out / CONFIGURATION}: a run is resumed with the settings it was started with, but "
            f"{'; '.join(changed)}"
        )


def check_same_data(checkpoint: Checkpoint, now: dict[str, str]) -> None:
    """Raises UserError when what `hashes` names is not that of the checkpoint."""
    for name, digest in now.items():
        if checkpoint.data.get(name) != digest:
            what = (
                "backbone is not the one" if name == "backbone" else f"{name} pairs are not those"
            )
            raise UserError(
                f"{checkpoint.path}: the {what} that the run was started with; give the same data, "
                "or train anew with another --out"
            )


def fingerprint(pairs: Pairs) -> str:
    """A hash of all pairs in their order."""
    digest = hashlib.sha256()
    for pair in pairs:
        links = "" if pair.alignment is None else pair.alignment.pharaoh()
        for text in (pair.source, pair.target, *filter(None, [pair.features, links])):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
    return digest.hexdigest()


def flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted keys and their values."""
    leaves: dict[str, Any] = {}
    for key, value in data.items():
        if isinstance(value, dict):
            leaves.update(flat(value, f"{prefix}{key}."))
        else:
            leaves[f"{prefix}{key}"] = value
    return leaves


def _check_can_be_made(out: Path) -> None:
    """Known before hours of work: a directory can be made at `out`."""
    parent = next(parent for parent in out.absolute().parents if parent.exists())
    if not parent.is_dir():
        raise UserError(f"{out} cannot be made: {parent} is a file, not a directory")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise UserError(f"{out} cannot be made: {parent} may not be written to")
