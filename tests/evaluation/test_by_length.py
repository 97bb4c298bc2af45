"""Scores by the length of sources: the groups, and that each is measured alone."""

import numpy as np
import pytest

from regard.evaluation import exact_match
from regard.evaluation.by_length import length_ranges, scores_by_length


def test_each_group_is_measured_alone():
    lengths = [1, 1, 2, 2, 3, 3, 4, 4]
    outputs = ["a", "a", "a", "x", "x", "x", "x", "a"]
    references = [["a"]] * 8
    groups = scores_by_length(outputs, references, lengths, exact_match, most=4)
    told = [(each.shortest, each.longest, each.sources, each.score.value) for each in groups]
    assert told == [(1, 1, 2, 100), (2, 2, 2, 50), (3, 3, 2, 0), (4, 4, 2, 50)]
    with pytest.raises(ValueError):
        scores_by_length(outputs, references, [1], exact_match)


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_every_source_is_in_one_group(most):
    lengths = np.random.default_rng(4).geometric(0.1, 300).tolist()
    ranges = length_ranges(lengths, most)
    assert len(ranges) == most
    for length in lengths:
        assert sum(low <= length <= high for low, high in ranges) == 1
    sizes = [sum(low <= length <= high for length in lengths) for low, high in ranges]
    assert min(sizes) > 150 / most


def test_few_lengths():
    assert length_ranges([7, 7, 7], 5) == [(7, 7)]
    assert length_ranges([1, 9, 9, 9, 9, 9, 9, 9], 5) == [(1, 9)] or length_ranges(
        [1, 9, 9, 9, 9, 9, 9, 9], 5
    ) == [(1, 1), (9, 9)]
    assert length_ranges([], 5) == []
