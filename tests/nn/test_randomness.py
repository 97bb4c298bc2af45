"""Whole numbers that are drawn in training."""

import torch

from regard.nn.randomness import drawing_from, generator, whole_number


def test_every_number_comes_as_often() -> None:
    torch.manual_seed(1)
    counts = torch.bincount(torch.tensor([whole_number(4) for _ in range(5000)]))
    assert len(counts) == 5
    deviation = (5000 * 0.2 * 0.8) ** 0.5
    assert (counts - 1000).abs().max() < 5 * deviation
    assert {whole_number(0) for _ in range(10)} == {0}


def test_follows_the_random_state_or_a_generator_of_its_own() -> None:
    torch.manual_seed(7)
    usual = [whole_number(10**6) for _ in range(3)]
    torch.manual_seed(7)
    with drawing_from(own := torch.Generator().manual_seed(3)):
        assert generator() is own
        other = [whole_number(10**6) for _ in range(3)]
    assert generator() is None
    assert [whole_number(10**6) for _ in range(3)] == usual != other
