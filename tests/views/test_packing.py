"""How weights are stored in a page."""

from dataclasses import replace

import numpy as np
import pytest

from regard.views.packing import OTHERS, SHOWN, pack, pack_view, unpack

from .examples import deep


@pytest.mark.parametrize("precision", SHOWN)
def test_weights_come_back_as_exactly_as_is_told(precision):
    weights = np.random.default_rng(1).random((3, 4, 50)) ** 6
    packed = pack(weights, precision)
    error = np.abs(unpack(packed) - weights.ravel()).max()
    assert error == pytest.approx(packed.error)
    largest_step = packed.largest * (1 - (1 - 1 / precision.levels) ** precision.power)
    assert 0 < error <= 0.51 * largest_step
    assert unpack(packed).max() == packed.largest == weights.max()


def test_small_weights_are_told_finely_in_few_bits():
    weights = np.array([1.0, 0.001, 0.002])
    back = unpack(pack(weights, SHOWN[1]))
    assert np.abs(back / weights - 1).max() < 0.1


def test_nothing_and_zeros_can_be_stored():
    assert unpack(pack(np.zeros((2, 3)), SHOWN[0])).tolist() == [0.0] * 6
    assert len(unpack(pack(np.zeros((0, 3)), SHOWN[0]))) == 0


def test_what_does_not_fit_is_told_less_exactly_then_in_the_mean_then_left_out():
    view = deep(40, 40)
    sizes = {}
    for reduced in (False, True):
        for precision in OTHERS:
            stacks = [each.over_heads() if reduced else each for each in view.stacks]
            sizes[reduced, precision] = sum(len(pack(s.weights, precision).codes) for s in stacks)
    shown = len(pack(view.attention, SHOWN[0]).codes)
    assert sorted(sizes.values(), reverse=True) == list(sizes.values())
    for (reduced, precision), size in sizes.items():
        packed = pack_view(view, shown + size)
        assert packed.shown.precision == SHOWN[0]
        assert not packed.left_out
        for (stack, weights), given in zip(packed.stacks, view.stacks, strict=True):
            assert weights.precision == precision
            assert stack.mean == reduced
            expected = given.weights.mean(1) if reduced else given.weights
            assert np.abs(unpack(weights) - expected.ravel()).max() <= weights.error * 1.01
    packed = pack_view(replace(view, left_out=("cross",)), shown + min(sizes.values()) - 1)
    assert packed.stacks == ()
    assert packed.left_out == ("cross", "encoder", "decoder", "cross")


def test_what_is_shown_is_always_there():
    view = deep(40, 40, stacks=())
    assert pack_view(view, 100).shown.precision == SHOWN[-1]
    assert len(unpack(pack_view(view, 100).shown)) == 1600
