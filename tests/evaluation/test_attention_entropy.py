"""The entropy of heads: by hand, at its ends, and the mean over heads where some are gone."""

import numpy as np
import pytest

from regard.evaluation.attention_entropy import entropies_by_head
from regard.evaluation.attention_stack import AttentionStack


def stack(kind, weights, **more) -> AttentionStack:
    return AttentionStack(kind, np.array(weights, dtype=np.float32), **more)


def test_by_hand():
    """One layer, two heads, over two pairs of three rows and two columns in all."""
    one = stack("cross", [[[[1, 0], [0.5, 0.5]], [[0.25, 0.75], [0, 1]]]])
    other = stack("cross", [[[[0.5, 0.5]], [[1, 0]]]])
    (found,) = entropies_by_head([[one], [other]])
    quarter = -(0.25 * np.log2(0.25) + 0.75 * np.log2(0.75))
    assert found.bits[0] == pytest.approx(((0 + 1 + 1) / 3, (quarter + 0 + 0) / 3))
    assert (found.kind, found.even, found.rows) == ("cross", pytest.approx(1.0), 3)


def test_even_attention_of_an_output_to_itself():
    """Row i has i + 1 places, and even attention over them has just their entropy."""
    rows = np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None]
    (found,) = entropies_by_head([[stack("decoder", rows[None, None])]])
    assert found.bits[0][0] == pytest.approx(found.even)
    assert found.even == pytest.approx(np.log2(np.arange(1, 6)).mean())


def test_rows_that_attend_to_nothing_do_not_count():
    (found,) = entropies_by_head([[stack("encoder", [[[[0, 0], [0.5, 0.5]]]])]])
    assert (found.bits, found.rows) == (((1.0,),), 1)


def test_heads_that_were_not_kept():
    whole = stack("cross", [[[[1, 0]], [[0, 1]]]])
    (found,) = entropies_by_head([[whole], [stack("cross", [[[[0.5, 0.5]]]], mean=True)]])
    assert found.mean and found.bits == ((1.0,),)


def test_kinds_stay_apart():
    stacks = [stack("cross", [[[[1.0]]]]), stack("encoder", [[[[1.0]]]], steps=True)]
    assert [(each.kind, each.steps) for each in entropies_by_head([stacks])] == [
        ("cross", False),
        ("encoder", True),
    ]
    assert entropies_by_head([[]]) == []
