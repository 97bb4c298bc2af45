"""Tiles cover every pair of query and position, each once."""

import pytest
import torch

from regard.attention.kernels.tiles import POSITIONS, tile

COUNTS = [(1, 1, 1), (3, 5, 7), (2, 64, 64), (4, 1, 100), (1, 130, 3), (7, 1, 1), (2, 9, 200)]


@pytest.mark.parametrize("counts", COUNTS, ids=str)
@pytest.mark.parametrize("room", [1, 2, 7, 64, 100, 1000, 10**6])
def test_every_pair_once(counts: tuple[int, int, int], room: int) -> None:
    batch, queries, positions = counts
    tiling = tile(batch, queries, positions, room)
    grid = torch.arange(batch * queries * positions).view(counts)
    cut = tiling.cut(grid, counts, rows=0, queries=1, positions=2)
    assert torch.equal(torch.cat([part.flatten() for part in cut]).sort()[0], grid.flatten())
    assert cut[0].numel() == max(part.numel() for part in cut) <= room
    if room >= grid.numel():
        assert len(cut) == 1


@pytest.mark.parametrize("counts", COUNTS, ids=str)
@pytest.mark.parametrize("room", [1, 7, 100, 10**6])
def test_parts_of_every_tensor_belong_together(counts: tuple[int, int, int], room: int) -> None:
    """Sums of a row's, a query's and a position's numbers are those of the whole."""
    batch, queries, positions = counts
    tiling = tile(batch, queries, positions, room)
    left = 1000 * torch.arange(batch * queries).view(queries, batch)
    right = torch.arange(batch * positions).view(batch, positions)
    whole = left.t()[:, :, None] + right[:, None, :]
    made = torch.zeros_like(whole)
    lefts = tiling.cut(left, counts, rows=1, queries=0)
    rights = tiling.cut(right, counts, rows=0, positions=1)
    outs = tiling.cut(made, counts, rows=0, queries=1, positions=2)
    assert len(lefts) == len(rights) == len(outs)
    for one, other, out in zip(lefts, rights, outs, strict=True):
        out.copy_(one.t()[:, :, None] + other[:, None, :])
    assert torch.equal(made, whole)


def test_tiles_have_many_queries_and_many_positions() -> None:
    tiling = tile(2, 1000, 1000, 2048)
    assert (tiling.rows, tiling.queries) == (1, 32)
    assert POSITIONS - 2 < tiling.positions <= POSITIONS
    assert tile(2, 1, 1000, 2048).positions == 1000


@pytest.mark.parametrize("counts", [(0, 3, 4), (2, 0, 4), (2, 3, 0)], ids=str)
def test_nothing_to_cut(counts: tuple[int, int, int]) -> None:
    tiling = tile(*counts, room=10)
    cut = tiling.cut(torch.empty(counts), counts, rows=0, queries=1, positions=2)
    assert all(part.numel() == 0 for part in cut)
    assert len(tiling.cut(torch.empty(counts[0]), counts, rows=0)) == len(cut) > 0
