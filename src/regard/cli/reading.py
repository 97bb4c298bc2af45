"""What a verb reads before it works: models and pairs, with a word on each."""

from pathlib import Path
from typing import TYPE_CHECKING

from regard.cli.streams import report

if TYPE_CHECKING:
    from regard.api import Model
    from regard.data.pairs import Pairs


def load_model(
    directories: list[Path],
    threads: int | None = None,
    *,
    steps: int | None = None,
    draws: bool = False,
) -> "Model":
    """The model of run directories, computing on `threads` threads (None: all that there are).

    steps: of a Universal Transformer; None = its own.
    draws: whether random numbers will be drawn, for which torch must be imported in full.
    """
    from regard.cli.cold_start import import_torch

    if not draws:
        import_torch()
    import torch

    from regard.api import load
    from regard.training.threads import resolve_threads

    torch.set_num_threads(resolve_threads(threads or 0))
    return load(*directories, steps=steps)


def read_data(
    data: str, source: str | None, target: str | None, features: str | None = None
) -> "Pairs":
    """Pairs, their number told on standard error together with what was dropped."""
    from regard.data.pairs import read_pairs

    pairs = read_pairs(data, source, target, features)
    report(f"{pairs.origin}: {counted(len(pairs), 'pair')}{dropped(pairs.blank)}")
    return pairs


def counted(number: int, noun: str) -> str:
    """`1 pair`, `1,300 pairs`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def dropped(blank: int) -> str:
    """` (3 pairs with a blank side dropped)`, or nothing."""
    return f" ({counted(blank, 'pair')} with a blank side dropped)" if blank else ""
