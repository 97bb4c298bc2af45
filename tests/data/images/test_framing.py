"""What a network sees of a picture, and where in the picture that is."""

import numpy as np
import pytest
import torch
from PIL import Image

from regard.data.images.configuration import BackboneConfiguration
from regard.data.images.framing import covered, frame, pixels
from regard.data.images.patches import Patches, make_patches
from regard.data.images.views import VIEWS, check_views, seen
from regard.errors import UserError

from .drawn import BLUE, GREEN, RED, YELLOW, corners, noise, quarters


@pytest.mark.parametrize("size", [(100, 60), (60, 100), (64, 64), (1, 500), (3000, 2)])
@pytest.mark.parametrize("framing", ["whole", "crop", "pad"])
def test_every_shape_becomes_the_square(size: tuple[int, int], framing: str) -> None:
    framed = frame(quarters(*size), 32, framing)
    assert (framed.mode, framed.size) == ("RGB", (32, 32))


def test_covered_is_what_is_seen() -> None:
    assert covered(100, 60, "whole") == (0, 0, 100, 60)
    assert covered(100, 60, "pad") == (0, -20, 100, 80)
    assert covered(100, 60, "crop") == (23.75, 3.75, 76.25, 56.25)


@pytest.mark.parametrize("framing", ["whole", "crop", "pad"])
@pytest.mark.parametrize("size", [(160, 96), (96, 160)])
def test_a_mark_is_seen_where_covered_says(framing: str, size: tuple[int, int]) -> None:
    image = Image.new("RGB", size, (0, 0, 0))
    x, y = size[0] // 2 - 20, size[1] // 2 + 12
    image.paste((255, 255, 255), (x - 4, y - 4, x + 4, y + 4))
    left, top, right, bottom = covered(*size, framing)
    across, down = (x - left) / (right - left), (y - top) / (bottom - top)
    seen_pixels = np.asarray(frame(image, 64, framing).convert("L")).astype(float)
    rows, columns = np.nonzero(seen_pixels > 180)
    assert abs(columns.mean() + 0.5 - 64 * across) < 1
    assert abs(rows.mean() + 0.5 - 64 * down) < 1


def test_pixels_are_scaled_and_colors_come_first() -> None:
    image = Image.new("RGB", (3, 2), (127, 255, 0))
    made = pixels(image, (127, 127, 127), (128, 128, 128))
    assert made.shape == (3, 2, 3)
    assert made[:, 0, 0].tolist() == [0, 1, -127 / 128]


def test_views() -> None:
    image = quarters(64, 64)
    assert corners(seen(image, "original")) == [RED, GREEN, BLUE, YELLOW]
    assert corners(seen(image, "flipped")) == [GREEN, RED, YELLOW, BLUE]
    sizes = {view: seen(image, view).size for view in VIEWS}
    assert sizes.pop("original") == sizes.pop("flipped") == (64, 64)
    assert set(sizes.values()) == {(56, 56)}
    picture = noise(1, 64)
    assert seen(picture, "bottom-right").getpixel((55, 55)) == picture.getpixel((63, 63))
    assert seen(picture, "top-left").getpixel((0, 0)) == picture.getpixel((0, 0))
    assert seen(picture, "top-right").getpixel((55, 0)) == picture.getpixel((63, 0))
    assert seen(picture, "bottom-left").getpixel((0, 55)) == picture.getpixel((0, 63))
    assert seen(Image.new("RGB", (1, 1)), "bottom-right").size == (1, 1)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ((), "views are none"),
        (("flipped",), "the first must be 'original'"),
        (("original", "flipped", "flipped"), "none may come twice"),
        (("original", "upside-down"), "no view 'upside-down' of an image; there are original, fl"),
    ],
)
def test_views_that_are_refused(views: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        check_views(views)


def patches(**settings: object) -> Patches:
    return make_patches(BackboneConfiguration(name="patches", **settings))


def test_patches_are_the_pixels_row_by_row() -> None:
    backbone = patches(grid=4, image_size=32)
    assert (backbone.rows, backbone.columns, backbone.size) == (4, 4, 3 * 8 * 8)
    image = noise(2, 32)
    made = backbone(backbone.prepare(image).unsqueeze(0))
    assert made.shape == (1, 16, 192)
    for position in range(16):
        row, column = divmod(position, 4)
        cell = image.crop((8 * column, 8 * row, 8 * column + 8, 8 * row + 8))
        expected = torch.from_numpy(np.array(cell)).float().flatten() / 127.5 - 1
        torch.testing.assert_close(made[0, position], expected, atol=1e-6, rtol=0)


def test_patches_have_sixteen_pixels_a_side_unless_told() -> None:
    assert patches().size == 768 and patches().input_size == 128
    assert patches(grid=3).input_size == 48
    with pytest.raises(UserError, match=r"100 pixels cannot be cut into 8 .* such as 96"):
        patches(image_size=100)


def test_fingerprints_tell_preprocessing_apart() -> None:
    made = [patches(), patches(grid=4), patches(image_size=64), patches(framing="pad")]
    assert len({backbone.fingerprint for backbone in made}) == 4
    assert patches().fingerprint == made[0].fingerprint
    assert patches().weights() == {}


@pytest.mark.parametrize("name", ["resnet", "timm/", "efficientnet-lite9", ""])
def test_unknown_backbones(name: str) -> None:
    with pytest.raises(ValueError, match="choose patches, efficientnet-lite0"):
        BackboneConfiguration(name=name)
    with pytest.raises(ValueError, match="patches have no weights"):
        BackboneConfiguration(name="patches", weights="x.pth")
