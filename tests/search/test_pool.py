"""The best finished hypotheses."""

import torch

from regard.search.pool import Pool


def pool(*normalized: float, places: list[int], ended: bool = True) -> Pool:
    """One sentence; the score is twice the normalized score, every length 2."""
    values = torch.tensor([normalized], dtype=torch.float64)
    numbers = torch.tensor([places])
    return Pool(
        values,
        values * 2,
        torch.full_like(numbers, 2),
        numbers,
        torch.full_like(numbers, ended).bool(),
    )


INFINITY = float("inf")


def test_add_keeps_the_best_and_prefers_the_earlier() -> None:
    empty = Pool.empty(1, 3, torch.device("cpu"))
    assert empty.worst().tolist() == [-INFINITY]
    one = empty.add(pool(-2.0, -INFINITY, places=[0, 1]))
    assert one.worst().tolist() == [-INFINITY]
    two = one.add(pool(-2.0, -1.0, places=[5, 6]))
    assert two.places.tolist() == [[6, 0, 5]]
    assert two.worst().tolist() == [-2.0]
    three = two.add(pool(-2.0, -3.0, places=[8, 9]))
    assert three.places.tolist() == [[6, 0, 5]]
    assert three.scores.tolist() == [[-2.0, -4.0, -4.0]]


def test_fill_takes_only_free_places() -> None:
    ended = Pool.empty(1, 3, torch.device("cpu")).add(pool(-9.0, places=[0]))
    filled = ended.fill(pool(-1.0, -INFINITY, -2.0, -3.0, places=[1, 2, 3, 4], ended=False))
    assert filled.places.tolist() == [[0, 1, 3]]
    assert filled.ended.tolist() == [[True, False, False]]
    assert filled.fill(pool(-0.5, places=[7])).places.tolist() == [[0, 1, 3]]


def test_ends_are_in_order_without_free_places() -> None:
    both = Pool.empty(2, 2, torch.device("cpu"))
    row = pool(-2.0, -1.0, places=[3, 4])
    mixed = Pool(
        torch.cat([both.normalized[:1], row.normalized]),
        torch.cat([both.scores[:1], row.scores]),
        torch.cat([both.steps[:1], row.steps]),
        torch.cat([both.places[:1], row.places]),
        torch.cat([both.ended[:1], row.ended]),
    ).add(both)
    ends = mixed.ends(torch.tensor([8, 9]))
    assert ends.sentences.tolist() == [9, 9]
    assert ends.places.tolist() == [4, 3]
    assert ends.scores.tolist() == [-2.0, -4.0]
    assert ends.ended.tolist() == [True, True]
    assert mixed.select(torch.tensor([1])).ends(torch.tensor([5])).sentences.tolist() == [5, 5]
