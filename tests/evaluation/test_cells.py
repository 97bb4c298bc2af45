import numpy as np
import pytest

from regard.evaluation.cells import cells_inside, middle_is_inside

SIZE = (80, 40)  # of the picture: a grid of 4 by 8 has cells of 10 by 10, middles at 5, 15, ...


def inside(region: object, rows: int = 4, columns: int = 8) -> list[tuple[int, int]]:
    return [tuple(cell) for cell in np.argwhere(cells_inside(region, rows, columns, SIZE)).tolist()]


def test_cells_whose_middle_is_in_the_box() -> None:
    assert inside((10, 0, 30, 10)) == [(0, 1), (0, 2)]
    assert inside((14, 4, 16, 16)) == [(0, 1), (1, 1)]
    assert inside((0, 0, 80, 40)) == [(row, column) for row in range(4) for column in range(8)]


def test_right_and_bottom_are_outside() -> None:
    assert inside((5, 5, 15, 15)) == [(0, 0)]
    assert inside((5, 5, 15.5, 16)) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_a_region_without_a_middle_is_the_cells_that_hold_the_most_of_it() -> None:
    assert inside((6, 6, 9, 9)) == [(0, 0)]
    assert inside((16, 26, 21, 29)) == [(2, 1)]
    assert inside((28, 6, 32, 9)) == [(0, 2), (0, 3)]  # half in each


def test_a_box_beyond_the_edge_counts_as_far_as_the_picture_goes() -> None:
    assert inside((-20, -5, 12, 12)) == [(0, 0)]
    assert inside((78, 38, 100, 90)) == [(3, 7)]


def test_a_mask_is_read_at_the_middles_whatever_its_resolution() -> None:
    for scale in (1, 2, 5):
        mask = np.zeros((40 * scale, 80 * scale), dtype=bool)
        mask[0 : 10 * scale, 10 * scale : 30 * scale] = True
        assert inside(mask) == inside((10, 0, 30, 10))
    coarse = np.zeros((2, 4), dtype=int)
    coarse[1, 3] = 1
    assert inside(coarse) == inside((60, 20, 80, 40))


def test_a_mask_with_a_hole_is_not_its_box() -> None:
    ring = np.ones((40, 80), dtype=bool)
    ring[10:30, 10:70] = False
    assert (1, 3) not in inside(ring)
    assert (0, 3) in inside(ring)
    speck = np.zeros((40, 80), dtype=bool)
    speck[11:13, 21:23] = True
    assert inside(speck) == [(1, 2)]


@pytest.mark.parametrize(
    ("region", "said"),
    [
        ((90, 0, 99, 9), "holds nothing of the picture of 80 by 40"),
        ((10, 10, 10, 20), "holds nothing"),
        (np.zeros((40, 80)), "holds nothing"),
        ((1, 2, 3), "a box of four numbers or a mask"),
    ],
)
def test_regions_that_are_none(region: object, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        cells_inside(region, 4, 8, SIZE)


def test_the_middle_of_the_picture() -> None:
    assert middle_is_inside((30, 15, 50, 25), SIZE)
    assert not middle_is_inside((41, 15, 50, 25), SIZE)
    mask = np.zeros((40, 80), dtype=bool)
    mask[20, 40] = True
    assert middle_is_inside(mask, SIZE)
    assert not middle_is_inside(~mask, SIZE)
