"""Pictures show the things where their boxes say, in their colors, and the same every time."""

import io
import sys

import pytest
from PIL import Image, ImageChops, ImageStat

from regard.data.scenes import Scene, Thing
from regard.data.scenes.picture import BACKGROUND, FACES, draw, png
from regard.data.scenes.region import thing_box
from regard.data.scenes.scene import COLORS, PICTURE_SIZE, SHAPES, Shape, Size
from regard.errors import UserError

from .drawn import drawn


def _alone(shape: Shape, size: Size | None, color: str = "red") -> Scene:
    return Scene((Thing(shape, color, size, ((64, 60),)),), ())


def _painted(image: Image.Image) -> Image.Image:
    blank = Image.new("RGB", image.size, BACKGROUND)
    return ImageChops.difference(image, blank)


@pytest.mark.parametrize("size", ["small", "large", None])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_box_is_where_the_paint_is(shape: Shape, size: Size | None) -> None:
    scene = _alone(shape, size)
    box = thing_box(scene.things[0])
    painted = _painted(draw(scene)).getbbox()
    assert painted is not None
    assert all(abs(one - other) <= 1 for one, other in zip(box, painted, strict=True))
    assert painted[0] >= box[0] - 1 and painted[2] <= box[2] + 1


def test_the_box_of_a_row_is_around_all_of_it() -> None:
    for scene in drawn():
        if len(scene.things) > 1:
            continue
        painted = _painted(draw(scene)).getbbox()
        box = thing_box(scene.things[0])
        assert painted is not None
        assert all(abs(one - other) <= 1 for one, other in zip(box, painted, strict=True))
    three = Thing("square", "blue", "large", ((23, 26), (23, 64), (23, 102)))
    painted = _painted(draw(Scene((three,), ()))).getbbox()
    assert painted is not None
    assert all(abs(a - b) <= 1 for a, b in zip(thing_box(three), painted, strict=True))


@pytest.mark.parametrize("color", COLORS)
@pytest.mark.parametrize("size", ["small", "large"])
@pytest.mark.parametrize("shape", SHAPES)
def test_most_of_a_shape_has_its_color(shape: Shape, size: Size, color: str) -> None:
    image = draw(_alone(shape, size, color))
    counts = {rgb: count for count, rgb in image.getcolors(PICTURE_SIZE**2) or []}
    face = counts.pop(FACES[color], 0)
    counts.pop(BACKGROUND)
    assert face > 0.25 * sum(counts.values())
    assert not set(counts) & set(FACES.values())


@pytest.mark.parametrize("size", ["small", "large"])
def test_no_two_shapes_look_alike(size: Size) -> None:
    masks = [_painted(draw(_alone(shape, size))).convert("L") for shape in SHAPES]
    for index, mask in enumerate(masks):
        ink = ImageStat.Stat(mask).sum[0]
        for other in masks[index + 1 :]:
            assert ImageStat.Stat(ImageChops.difference(mask, other)).sum[0] > 0.2 * ink


def test_what_is_inside_lies_on_top() -> None:
    inner = Thing("star", "blue", "small", ((64, 64),))
    frame = Thing("circle", "red", None, ((64, 64),))
    image = draw(Scene((inner, frame), ()))
    assert image.getpixel((64, 64)) == FACES["blue"]
    assert image.getpixel((64, 90)) == FACES["red"]
    assert draw(Scene((frame, inner), ())).tobytes() == image.tobytes()


def test_edges_are_smooth() -> None:
    colors = draw(_alone("circle", "large")).getcolors(PICTURE_SIZE**2)
    assert colors is not None and len(colors) > 20


def test_a_picture_is_a_png_of_the_stated_size_and_the_same_each_time() -> None:
    for scene in drawn()[:5]:
        data = png(scene)
        with Image.open(io.BytesIO(data)) as image:
            assert (image.format, image.mode) == ("PNG", "RGB")
            assert image.size == (PICTURE_SIZE, PICTURE_SIZE)
            assert image.tobytes() == draw(scene).tobytes()
        assert data == png(scene)


def test_without_pillow_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UserError, match="pip install pillow"):
        draw(drawn()[0])
