"""Confusions: which symbols are taken for which, which are left out, which are made up."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.evaluation.checks import check_answers
from regard.evaluation.edits import Edit, edits
from regard.evaluation.transduction import Splitter, closest_target, spaced_symbols


@dataclass(frozen=True)
class Confusion:
    """One kind of edit between accepted targets and outputs.

    expected, given: the target's symbol and the output's; None in `given` is a deletion (the
        symbol is missing from the output), in `expected` an insertion (it should not be there).
    count: how often it comes; share: in percent of all edits.
    example: the first source whose output has it, by its index.
    target, output: of that source, the closest accepted target and what was given.
    """

    expected: str | None
    given: str | None
    count: int
    share: float
    example: int
    target: str
    output: str

    @property
    def edit(self) -> str:
        """`substitution`, `deletion` or `insertion`."""
        if self.given is None:
            return "deletion"
        return "insertion" if self.expected is None else "substitution"


@dataclass(frozen=True)
class Confusions:
    """The most frequent confusions, and how many edits of each kind there are in all."""

    most_frequent: tuple[Confusion, ...]
    substitutions: int
    deletions: int
    insertions: int
    kinds: int

    @property
    def edits(self) -> int:
        """All edits: the numerator of `symbol_error_rate`."""
        return self.substitutions + self.deletions + self.insertions

    def as_dict(self, sources: Sequence[str]) -> dict[str, Any]:
        """In JSON's terms; `sources` are the texts that the examples are indices of."""
        return {
            "edits": self.edits,
            "substitutions": self.substitutions,
            "deletions": self.deletions,
            "insertions": self.insertions,
            "kinds": self.kinds,
            "most_frequent": [
                {
                    "edit": each.edit,
                    "expected": each.expected,
                    "given": each.given,
                    "count": each.count,
                    "share": each.share,
                    "source": sources[each.example],
                    "target": each.target,
                    "output": each.output,
                }
                for each in self.most_frequent
            ],
        }


def find_confusions(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    symbols: Splitter = spaced_symbols,
    *,
    most: int,
) -> Confusions:
    """The `most` most frequent edits that turn the closest accepted targets into the outputs.

    Arguments and errors as of `symbol_error_rate`, whose edits these are. Targets and outputs are
    aligned as `regard.evaluation.edits.edits` does. Equally frequent ones come in the order of
    their symbols, so the same outputs give the same table.
    """
    check_answers(hypotheses, references)
    counts: Counter[Edit[str]] = Counter()
    first: dict[Edit[str], tuple[int, str]] = {}
    for number, (hypothesis, accepted) in enumerate(zip(hypotheses, references, strict=True)):
        if hypothesis in accepted:
            continue
        target = closest_target(hypothesis, accepted, symbols)
        for edit in edits(symbols(target), symbols(hypothesis)):
            counts[edit] += 1
            first.setdefault(edit, (number, target))
    total = counts.total()
    order = sorted(counts, key=lambda edit: (-counts[edit], edit[0] or "", edit[1] or ""))
    found = []
    for edit in order[:most]:
        number, target = first[edit]
        share = 100 * counts[edit] / total
        found.append(Confusion(*edit, counts[edit], share, number, target, hypotheses[number]))
    deletions = sum(count for edit, count in counts.items() if edit[1] is None)
    insertions = sum(count for edit, count in counts.items() if edit[0] is None)
    return Confusions(
        tuple(found), total - deletions - insertions, deletions, insertions, len(counts)
    )
