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
