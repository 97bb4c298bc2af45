import random

import pytest

from regard.evaluation import bootstrap_interval


def mean(sums):
    return sums[0] / sums[1]


def test_the_interval_of_a_share_is_near_the_normal_one():
    generator = random.Random(3)
    rows = [(float(generator.random() < 0.3), 1.0) for _ in range(1000)]
    share = sum(row[0] for row in rows) / 1000
    interval = bootstrap_interval(rows, mean, resamples=2000)
    spread = 1.96 * (share * (1 - share) / 1000) ** 0.5
    assert interval.low == pytest.approx(share - spread, abs=0.006)
    assert interval.high == pytest.approx(share + spread, abs=0.006)


def test_sources_are_drawn_whole_so_ratios_keep_their_denominators():
    # Each source has a ratio of exactly 1/2, whatever its length: no resample can differ.
    rows = [(float(length), 2.0 * length) for length in range(1, 30)]
    interval = bootstrap_interval(rows, mean, resamples=50)
    assert (interval.low, interval.high) == (pytest.approx(0.5), pytest.approx(0.5))


def test_seed_and_level():
    rows = [(float(index % 2), 1.0) for index in range(60)]
    narrow = bootstrap_interval(rows, mean, level=0.5)
    wide = bootstrap_interval(rows, mean, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert bootstrap_interval(rows, mean, seed=4) == bootstrap_interval(rows, mean, seed=4)


def test_many_kinds_of_sources_are_drawn_in_parts(monkeypatch):
    generator = random.Random(8)
    rows = [(generator.random(), 1.0) for _ in range(50)]
    whole = bootstrap_interval(rows, mean, resamples=400)
    monkeypatch.setattr("regard.evaluation.intervals.MOST_COUNTS", 170)
    parts = bootstrap_interval(rows, mean, resamples=400)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high))


def test_it_is_the_interval_of_drawing_sources_one_by_one():
    generator = random.Random(9)
    rows = [(float(generator.randint(0, 3)), float(generator.randint(4, 9))) for _ in range(80)]
    drawn = sorted(
        mean([sum(column) for column in zip(*generator.choices(rows, k=80), strict=True)])
        for _ in range(4000)
    )
    interval = bootstrap_interval(rows, mean, resamples=4000)
    assert interval.low == pytest.approx(drawn[100], abs=0.006)
    assert interval.high == pytest.approx(drawn[3900], abs=0.006)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([], {}, "at least one source"),
        ([(1.0, 1.0)], {"level": 1.0}, "between 0 and 1"),
        ([(1.0, 1.0)], {"resamples": 0}, "at least 1"),
    ],
)
def test_wrong_arguments(rows, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(rows, mean, **options)
