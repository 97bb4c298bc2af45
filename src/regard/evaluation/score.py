"""One figure of an evaluation: its name, its value, how it was computed, which way is better."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from regard.evaluation.intervals import Interval


@dataclass(frozen=True)
class Score:
    """A figure, in percent (0 to 100; error rates can exceed 100).

    signature: what makes the figure comparable (sacreBLEU's, with its version), where there is one.
    better: whether a higher or a lower value is better.
    interval: a bootstrap interval around the value, where one was asked for.
    """

    name: str
    value: float
    signature: str | None
    better: Literal["higher", "lower"]
    interval: Interval | None = None

    def improves_on(self, value: float) -> bool:
        """Whether this score is strictly better than `value`."""
        return self.value > value if self.better == "higher" else self.value < value

    def as_dict(self) -> dict[str, Any]:
        """The figure in JSON's terms: `value`, `better`, and `signature` and `interval` if any."""
        figures: dict[str, Any] = {"value": self.value, "better": self.better}
        if self.signature is not None:
            figures["signature"] = self.signature
        if self.interval is not None:
            figures["interval"] = asdict(self.interval)
        return figures
