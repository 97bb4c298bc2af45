"""Charts: points where they belong, round numbers at the axes, text that cannot break out."""

import re

import pytest

from regard.views.charts import DotChart, LineChart, Scale

from .test_page_html import Page


def test_points_are_where_they_belong():
    svg = LineChart("loss", "updates", ((0, 4.0), (100, 2.0), (50, 3.0))).svg()
    path = re.search(r'd="M([^"]+)" class="line"', svg)[1]
    places = [tuple(map(float, each.split())) for each in path.split("L")]
    (x0, y0), (x1, y1), (x2, y2) = places
    assert x0 < x1 < x2 and y0 < y1 < y2  # in the order of x; the loss falls
    assert x1 == pytest.approx((x0 + x2) / 2) and y1 == pytest.approx((y0 + y2) / 2)
    assert "updates 50: 3" in svg


def test_axes_have_round_numbers_that_hold_everything():
    scale = Scale.of([3, 9987], [0.113, 0.742])
    assert scale.low[0] <= 3 and scale.high[0] >= 9987
    assert scale.ticks(0) == pytest.approx([0, 2000, 4000, 6000, 8000, 10000])
    assert scale.ticks(1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8])


@pytest.mark.parametrize("points", [((0, 0),), ((5, 1), (5, 1)), ((1, -2), (2, -2))])
def test_values_that_are_all_the_same(points):
    svg = LineChart("a", "b", points).svg()
    assert "nan" not in svg and "inf" not in svg
    assert Page(svg).all("circle")


def test_many_points_are_thinned():
    svg = LineChart("a", "b", tuple((i, i) for i in range(100_000))).svg()
    assert len(svg) < 20_000


def test_dots_have_their_intervals():
    svg = DotChart("bleu", "words", (("1-5", 50, (40, 60)), ("6-9", 80, None))).svg()
    dots = [float(y) for y in re.findall(r'cy="([\d.]+)"', svg)]
    assert dots[1] < dots[0]
    (ends,) = re.findall(r'd="M[\d.]+ ([\d.]+)V([\d.]+)" class="line"', svg)
    assert float(ends[1]) < dots[0] < float(ends[0])
    assert "1-5: 50 (40 to 60)" in svg


def test_text_stays_text():
    hostile = "</text><script>alert(1)</script>\x00\u202e"
    svg = DotChart(hostile, hostile, ((hostile, 1.0, None),)).svg()
    page = Page(svg)
    assert not page.all("script") and "\x00" not in svg and "\u202e" not in svg
