"""The budget: how long a run may take, validations, savings and its end included."""

import time
from dataclasses import dataclass, field

#: Of the budget, kept for the end until a validation has shown how long it takes; and at most.
FIRST_RESERVE, LARGEST_RESERVE = 0.1, 0.5


@dataclass
class Budget:
    """Wall time of a run over all its sessions.

    seconds: all it may take; None = as long as it needs. before: what earlier sessions took.
    validation_seconds: how long the last validation took, 0 before the first.
    """

    seconds: float | None
    before: float = 0.0
    validation_seconds: float = 0.0
    started: float = field(default_factory=lambda: time.monotonic())

    def elapsed(self) -> float:
        """Seconds so far, of all sessions."""
        return self.before + time.monotonic() - self.started

    def left(self, validations: int) -> float | None:
        """Seconds until updates must end, so that `validations` still fit in; None = no limit."""
        if self.seconds is None:
            return None
        needed = 1.2 * validations * self.validation_seconds
        reserve = needed if self.validation_seconds else FIRST_RESERVE * self.seconds
        return self.seconds - self.elapsed() - min(reserve, LARGEST_RESERVE * self.seconds)
