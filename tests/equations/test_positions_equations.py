"""B9, C4: sinusoidal, coordinate and learned positions."""

import math

import pytest
import torch

from regard.attention import LearnedPositions, coordinate_positions, sinusoidal_positions

from . import positions as reference
from .build import assert_close
from .transformer import position


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("start", [0, 1, 1000])
def test_sinusoidal(size: int, start: int) -> None:
    """P[pos, 2i] = sin(pos / 10000^(2i/d)), P[pos, 2i+1] = cos of the same; interleaved."""
    found = sinusoidal_positions(6, size, start=start, dtype=torch.float64)
    assert_close(found, [position(start + i, size) for i in range(6)])


def test_known_row() -> None:
    assert sinusoidal_positions(2, 4)[1].tolist() == pytest.approx(
        [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)], abs=1e-7
    )
    rounded = [0.8415, 0.5403, 0.0100, 0.99995]
    assert sinusoidal_positions(2, 4)[1].tolist() == pytest.approx(rounded, abs=5e-5)


@pytest.mark.parametrize("size", [6, 7])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_low_precision_is_that_of_the_result_alone(dtype: torch.dtype, size: int) -> None:
    """Far positions are rounded once: bfloat16 could not even count to 4,000."""
    found = sinusoidal_positions(3, size, start=4000, dtype=dtype)
    assert found.dtype == dtype
    exact = torch.tensor([position(4000 + i, size).tolist() for i in range(3)]).double()
    assert torch.equal(found, exact.to(dtype))
    step = coordinate_positions(3, size, 2, start=4000, dtype=dtype)
    exact = torch.tensor([reference.coordinate(4000 + i, 2, size) for i in range(3)]).double()
    assert (step.double() - exact).abs().max() <= 2 * torch.finfo(dtype).eps


class TestWishes:
    """The four wishes of the note, of sinusoidal positions and of coordinates at a step."""

    @pytest.fixture(params=["sinusoidal", "coordinates"])
    def kind(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    @staticmethod
    def table(kind: str, length: int, start: int = 1) -> torch.Tensor:
        if kind == "sinusoidal":
            return sinusoidal_positions(length, 16, start=start, dtype=torch.float64)
        return coordinate_positions(length, 16, 3, start=start, dtype=torch.float64)

    def test_unique(self, kind: str) -> None:
        table = self.table(kind, 800)
        distances = torch.cdist(table, table)
        distances.fill_diagonal_(1.0)
        assert distances.min() > 0.05

    def test_distance_depends_on_the_offset_alone(self, kind: str) -> None:
        """|P_i - P_i+o|^2 = sum over the waves w of 2 - 2 cos(o w)."""
        table = self.table(kind, 2000)
        for offset in (1, 2, 7, 100, 999):
            distances = (table[offset:] - table[:-offset]).square().sum(-1)
            expected = sum(2 - 2 * math.cos(offset / 10000 ** (2 * i / 16)) for i in range(8))
            assert (distances - expected).abs().max() < 1e-9

    def test_bounded_and_defined_far_out(self, kind: str) -> None:
        bound = 1.0 if kind == "sinusoidal" else 2.0
        for start in (1, 5000, 10**7):
            table = self.table(kind, 50, start)
            assert table.isfinite().all() and table.abs().max() <= bound
        assert torch.equal(self.table(kind, 50)[20:], self.table(kind, 30, 21))

    def test_deterministic(self, kind: str) -> None:
        one = self.table(kind, 50)
        torch.manual_seed(9)
        assert torch.equal(one, self.table(kind, 50))


@pytest.mark.parametrize("size", [1, 4, 7, 8])
@pytest.mark.parametrize("step", [1, 2, 6])
def test_coordinates(size: int, step: int) -> None:
    """C4: P^t over positions and steps that count from 1."""
    found = coordinate_positions(5, size, step, dtype=torch.float64)
    assert_close(found, [reference.coordinate(pos, step, size) for pos in range(1, 6)])
    later = coordinate_positions(2, size, step, start=4, dtype=torch.float64)
    assert torch.equal(later, found[3:])


def test_steps_of_coordinates() -> None:
    """Every step is another table; a step below 1 is none."""
    tables = torch.stack([coordinate_positions(4, 6, step) for step in range(1, 9)]).flatten(1)
    distances = torch.cdist(tables, tables)
    distances.fill_diagonal_(1.0)
    assert distances.min() > 0.1
    with pytest.raises(ValueError, match="count from 1"):
        coordinate_positions(4, 6, 0)


def test_learned() -> None:
    """Row i of the table for position i, and its gradient to that row alone."""
    positions = LearnedPositions(5, 3).double()
    assert tuple(positions.table.shape) == (5, 3)
    assert positions(0, start=5).shape == (0, 3)
    for start, length in ((0, 5), (2, 3), (4, 1)):
        rows = positions(length, start=start)
        assert_close(rows, positions.table.detach().numpy()[start : start + length])
    positions(2, start=1).sum().backward()
    assert positions.table.grad is not None
    assert positions.table.grad.tolist() == [[0.0] * 3, [1.0] * 3, [1.0] * 3, [0.0] * 3, [0.0] * 3]


@pytest.mark.parametrize(("start", "length"), [(0, 6), (3, 3), (5, 1), (-1, 2)])
def test_learned_past_the_maximum(start: int, length: int) -> None:
    message = f"positions {start} to {start + length - 1} are not all among the 5 that were learned"
    with pytest.raises(ValueError, match=message):
        LearnedPositions(5, 3)(length, start=start)
