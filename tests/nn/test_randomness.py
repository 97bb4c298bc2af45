"""Whole numbers that are drawn in training."""

import torch

from regard.nn.randomness import drawing_from, generator, whole_numbers


def test_every_number_comes_as_often() -> None:
    torch.manual_seed(1)
    counts = torch.bincount(whole_numbers(5000, 4))
    assert len(counts) == 5
    deviation = (5000 * 0.2 * 0.8) ** 0.5
    assert (counts - 1000).abs().max() < 5 * deviation
    assert whole_numbers(3, 0).tolist() == [0, 0, 0]


def test_follows_the_random_state_or_a_generator_of_its_own() -> None:
    torch.manual_seed(7)
    usual = whole_numbers(3, 10**6).tolist()
    torch.manual_seed(7)
    with drawing_from(own := torch.Generator().manual_seed(3)):
        assert generator() is own
        other = whole_numbers(3, 10**6).tolist()
    assert generator() is None
    assert whole_numbers(3, 10**6).tolist() == usual != other
