"""The trivial baseline of transduction: remember what was seen, copy what was not."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class CopyOrMemorize:
    """Answers with the most frequent training target of a source, else with the source itself.

    targets: by identity of the source, the most frequent training target; of equally frequent
        ones the first in the training data.
    """

    targets: dict[Hashable, str]

    @classmethod
    def train(cls, identities: Iterable[Hashable], targets: Iterable[str]) -> "CopyOrMemorize":
        """Remember training pairs. An identity is what makes two sources the same one."""
        counts: dict[Hashable, Counter[str]] = {}
        for identity, target in zip(identities, targets, strict=True):
            counts.setdefault(identity, Counter())[target] += 1
        # max gives the first of equals, and a Counter keeps the order of insertion
        return cls({each: max(count, key=count.__getitem__) for each, count in counts.items()})

    def has_seen(self, identity: Hashable) -> bool:
        """Whether a source is in the training data."""
        return identity in self.targets

    def answer(self, identities: Sequence[Hashable], sources: Sequence[str]) -> list[str]:
        """An answer to each source.

        A copy is the source's text as it stands: where targets are symbols between spaces and
        sources are letters, `gatto` is copied as one symbol.
        """
        return [
            self.targets.get(identity, source)
            for identity, source in zip(identities, sources, strict=True)
        ]
