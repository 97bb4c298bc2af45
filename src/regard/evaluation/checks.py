"""What every metric asks of its input before it counts anything."""

from collections.abc import Sequence
from difflib import get_close_matches

from regard.errors import UserError


def check_answers(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    source: str = "source",
    target: str = "accepted target",
) -> None:
    """Refuse what would score silently wrong: nothing, a missing line, a source without a target.

    source, target: what messages call them.
    Raises UserError with both counts, or with the 1-based number of the source.
    """
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} outputs for {len(references)} {source}s: give one output for "
            f"each {source}"
        )
    if not hypotheses:
        raise UserError("nothing to evaluate: there are no outputs; give at least one pair")
    for number, accepted in enumerate(references, start=1):
        if isinstance(accepted, str):
            raise TypeError("references[i] is the list of accepted targets of source i")
        if not accepted:
            raise UserError(f"{source} {number} has no {target}: give it at least one")


def unknown_metric(name: str, known: Sequence[str]) -> UserError:
    """An error that names the metric nearest to `name`, or else those there are."""
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
    return UserError(f"there is no metric {name!r} here: {hint}")
