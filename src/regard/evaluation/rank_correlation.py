"""Whether two rankings agree: Kendall's tau-b (Kendall 1945), which knows ties."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Pairs of values compared at once: memory stays bounded however long the rows are.
_MOST_PAIRS = 4_000_000


def kendall_tau_b(one: Any, other: Any) -> "NDArray[Any]":
    """Of each row, from -1 (the opposite order) to 1 (the same order); 0 where no order agrees.

    ``(concordant - discordant) / sqrt(untied in one * untied in the other)``, over all pairs of
    values of a row. A row without two different values ranks nothing: its figure is 0.

    one, other: `[rows, values]` each. Raises ValueError for other shapes, and for what is not a
    number.
    """
    import numpy as np

    first, second = (np.asarray(values, dtype=np.float64) for values in (one, other))
    if first.ndim != 2 or first.shape != second.shape:
        raise ValueError(f"rows of values, not shapes {first.shape} and {second.shape}")
    if np.isnan(first).any() or np.isnan(second).any():
        raise ValueError("what is not a number has no rank")
    found = np.zeros(len(first))
    before, after = np.triu_indices(first.shape[1], 1)
    if not len(before):
        return found
    at_once = max(1, _MOST_PAIRS // len(before))
    for start in range(0, len(first), at_once):
        rows = slice(start, start + at_once)
        signs = [np.sign(each[rows][:, before] - each[rows][:, after]) for each in (first, second)]
        agreeing = (signs[0] * signs[1]).sum(1)
        untied = np.sqrt((signs[0] != 0).sum(1) * (signs[1] != 0).sum(1).astype(np.float64))
        found[rows] = agreeing / np.where(untied == 0, 1.0, untied)
    return found
