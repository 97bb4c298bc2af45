"""The measurement of products against sums of logarithms, at a small size."""

import json
import math
from pathlib import Path

import pytest
import torch

import log_probabilities
from sequence_precision import (
    draw_probabilities,
    measure_fall,
    measure_precision,
    measure_tail,
)


def test_where_a_product_is_lost() -> None:
    half = measure_fall(0.5)  # 2^-126 is the smallest normal float32, 2^-149 the smallest at all
    assert (half.subnormal, half.zero) == (127, 150)
    assert measure_fall(1 / 8000).zero == 12
    assert measure_fall(0.9).zero is None  # rounding holds it at 2^-149


def test_probabilities_are_of_that_perplexity() -> None:
    drawn = draw_probabilities(200, 50, perplexity=5.0, seed=1)
    assert drawn.dtype == torch.float32
    assert 0 < drawn.min() <= drawn.max() <= 1
    assert -drawn.log().mean().item() == pytest.approx(math.log(5), rel=0.05)


def test_short_products_are_right_and_long_ones_are_lost() -> None:
    short = measure_precision(draw_probabilities(50, 5, 5.0, 1))
    assert (short.zero, short.subnormal) == (0, 0)
    assert short.product_gradient == short.sum_gradient == 1
    assert short.product_error is not None and short.product_error < 1e-6
    long = measure_precision(draw_probabilities(50, 200, 5.0, 1))
    assert (long.zero, long.product_error, long.product_gradient) == (1, None, 0)
    assert long.sum_gradient == 1
    assert long.sum_error < 1e-3


def test_shares_of_known_rows() -> None:
    rows = torch.tensor([[0.5, 0.5], [1e-20, 1e-20], [1e-30, 1e-30]])
    found = measure_precision(rows)
    assert found.zero == pytest.approx(1 / 3)
    assert found.subnormal == pytest.approx(1 / 3)
    assert found.product_gradient == pytest.approx(1 / 3)
    assert found.sum_gradient == 1


def test_the_tail_of_a_softmax() -> None:
    near, far = measure_tail(1.0), measure_tail(120.0)
    assert near.log_of_softmax == pytest.approx(near.true, rel=1e-6)
    assert near.log_of_softmax_gradient == pytest.approx(near.log_softmax_gradient, rel=1e-6)
    assert far.log_of_softmax == -math.inf
    assert math.isnan(far.log_of_softmax_gradient)
    assert (far.log_softmax, far.log_softmax_gradient) == (far.true, 1.0)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "measured.json"
    small = ["--steps", "1,100", "--sequences", "10", "--json", str(path)]
    assert log_probabilities.main(small) == 0
    printed = capsys.readouterr().out
    assert "| 1 / 8000" in printed and "| never |" not in printed.split("\n")[0]
    measured = json.loads(path.read_text(encoding="utf-8"))
    assert [row["steps"] for row in measured["precisions"]] == [1, 100]
    assert len(measured["tails"]) == len(log_probabilities.MARGINS)
    assert measured["falls"][0]["zero"] is None
