"""Interruption: how a signal ends training between two updates."""

from collections.abc import Callable
from pathlib import Path

#: Asked between updates: the number of a signal that arrived (2, 15), or None to go on.
Stop = Callable[[], int | None]


class TrainingInterrupted(Exception):  # noqa: N818 - not an error
    """Training was asked to stop; everything is saved and `--resume` goes on from `step`.

    signal: the number that `stop` gave. exit_code: what a shell expects, 128 and the signal.
    """

    def __init__(self, signal: int, step: int, directory: Path) -> None:
        super().__init__(
            f"stopped after {step} updates; everything is saved: --resume goes on in {directory}"
        )
        self.signal = signal
        self.step = step
        self.directory = directory

    @property
    def exit_code(self) -> int:
        return 128 + self.signal


def never() -> None:
    """A `Stop` that never asks for one."""
    return None
