"""Every kind of picture becomes upright RGB; everything else is one error that names the file."""

import io
import struct
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from regard.data.images import reading
from regard.data.images.reading import MOST_PIXELS, decode_image, read_image, readable
from regard.errors import UserError

from .drawn import BLUE, GREEN, RED, YELLOW, close, corners, noise, quarters

COLORS = [RED, GREEN, BLUE, YELLOW]
WHITE = (255, 255, 255)


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
@pytest.mark.parametrize("size", [(64, 48), (5, 9), (300, 17)])
def test_formats_and_sizes(kind: str, size: tuple[int, int], tmp_path: Path) -> None:
    options = {"JPEG": {"quality": 100, "subsampling": 0}, "WEBP": {"lossless": True}}.get(kind, {})
    path = tmp_path / "no-matter-what-suffix.data"
    path.write_bytes(encoded(quarters(*size), kind, **options))
    image = read_image(path)
    assert (image.mode, image.size) == ("RGB", size)
    assert close(corners(image), COLORS)


@pytest.mark.parametrize("mode", ["P", "L", "1", "RGBA", "LA", "I;16"])
def test_modes_of_png(mode: str) -> None:
    grey = [
        image.convert("L").getpixel((0, 0))
        for image in (Image.new("RGB", (1, 1), c) for c in COLORS)
    ]
    if mode == "I;16":
        image = Image.fromarray(np.asarray(quarters().convert("L")).astype(np.uint16) * 257)
        assert image.mode == mode
    else:
        image = quarters().convert(mode, **({"dither": 0} if mode == "1" else {}))
    read = decode_image(encoded(image, "PNG"), "x.png")
    assert read.mode == "RGB"
    if mode in ("P", "RGBA"):
        assert close(corners(read), COLORS, within=40 if mode == "P" else 0)
    elif mode == "1":
        assert set(corners(read)) <= {(0, 0, 0), WHITE}
    else:
        assert corners(read) == [(g, g, g) for g in grey]


def test_cmyk() -> None:
    data = encoded(quarters().convert("CMYK"), "JPEG", quality=100, subsampling=0)
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "CMYK"
    assert close(corners(decode_image(data, "x.jpg")), COLORS)


def test_sixteen_bit_ends() -> None:
    values = np.array([[0, 1, 128, 257, 32768, 65407, 65535]], np.uint16)
    read = decode_image(encoded(Image.fromarray(values), "PNG"), "x.png")
    assert [read.getpixel((x, 0))[0] for x in range(7)] == [0, 0, 0, 1, 128, 255, 255]


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "RGB", "GIF"])
def test_transparent_parts_show_white(mode: str) -> None:
    image = Image.new("RGBA", (8, 8), (200, 0, 0, 255))
    image.paste((9, 9, 9, 0), (4, 0, 8, 8))
    if mode == "RGB":  # one color of an opaque picture stands for nothing
        data = encoded(image.convert("RGB"), "PNG", transparency=(9, 9, 9))
    elif mode == "GIF":
        data = encoded(image, "GIF")
    else:
        data = encoded(image.quantize(8) if mode == "P" else image.convert(mode), "PNG")
    read = decode_image(data, "x.png")
    assert read.getpixel((6, 4)) == WHITE
    assert read.getpixel((1, 4)) != WHITE


def test_half_transparent_mixes_with_white() -> None:
    data = encoded(Image.new("RGBA", (2, 2), (0, 0, 0, 51)), "PNG")
    assert decode_image(data, "x").getpixel((0, 0)) == (204, 204, 204)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation(kind: str, orientation: int) -> None:
    """Stored turned and said to be: read as it was."""
    turn = Image.Transpose
    stored = {
        1: None,
        2: turn.FLIP_LEFT_RIGHT,
        3: turn.ROTATE_180,
        4: turn.FLIP_TOP_BOTTOM,
        5: turn.TRANSPOSE,
        6: turn.ROTATE_90,
        7: turn.TRANSVERSE,
        8: turn.ROTATE_270,
    }[orientation]
    image = quarters() if stored is None else quarters().transpose(stored)
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"quality": 100} if kind in ("JPEG", "WEBP") else {}
    data = encoded(image, kind, exif=exif, **options)
    read = decode_image(data, "x", at_least=24)
    assert read.size in ((64, 48), (32, 24))
    assert close(corners(read), COLORS)


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@pytest.mark.parametrize("exif", [b"Exif\0\0nonsense", b"Exif\0\0MM\0*\0\0\xff\xff", b"", b"\0"])
def test_damaged_exif_says_nothing(exif: bytes) -> None:
    data = encoded(quarters(), "JPEG", exif=exif, quality=100)
    assert close(corners(decode_image(data, "x")), COLORS)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_first_frame(kind: str) -> None:
    frames = [Image.new("RGB", (8, 8), color) for color in ((200, 0, 0), (0, 0, 200))]
    data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], lossless=True)
    assert decode_image(data, "x").getpixel((4, 4)) == (200, 0, 0)


def test_large_jpegs_are_decoded_small_and_no_smaller_than_asked() -> None:
    data = encoded(quarters(1600, 1200), "JPEG")
    assert decode_image(data, "x").size == (1600, 1200)
    small = decode_image(data, "x", at_least=448)
    assert small.size == (800, 600)
    assert close(corners(small), COLORS)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.95])
def test_truncated(kind: str, share: float, tmp_path: Path) -> None:
    data = encoded(noise(3, 120), kind)
    path = tmp_path / "cut.img"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(UserError, match=r"damaged picture|not a picture") as caught:
        read_image(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
def test_random_damage_is_a_picture_or_a_user_error(kind: str) -> None:
    data = encoded(noise(5, 30), kind)
    random = np.random.default_rng(7)
    for _ in range(60):
        hurt = bytearray(data)
        for place in random.integers(0, min(len(hurt), 400), 4):
            hurt[place] = random.integers(0, 256)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                assert decode_image(bytes(hurt), "x").mode == "RGB"
            except UserError as error:
                assert str(error).startswith("x")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"hello world, this is text", "is not a picture that can be read .JPEG, PNG"),
        (b"\x89PNG\r\n\x1a\n", "x"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "is not a picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "is not a picture"),
    ],
)
def test_what_is_no_picture(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    with pytest.raises(UserError, match=message) as caught:
        read_image(path)
    assert str(path) in str(caught.value)


def test_missing_and_directory(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no\.png does not exist: a picture should be there"):
        read_image(tmp_path / "no.png")
    with pytest.raises(UserError, match="is a directory where a picture should be"):
        read_image(tmp_path)


def bomb(width: int, height: int) -> bytes:
    """A PNG that says it is huge."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [10_001, 12_000, 20_000, 60_000])
def test_bombs_are_refused_unread_and_without_a_warning(side: int) -> None:
    assert side * side > MOST_PIXELS
    reading._formats.cache_clear()
    refusal = pytest.raises(UserError, match=r"^x\.png has .*scale it to at most 100 million$")
    with warnings.catch_warnings(record=True) as told, refusal:
        decode_image(bomb(side, side), "x.png")
    assert not told


def test_text_bombs_are_refused() -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("comment", "a" * 20_000_000, zip=True)
    with pytest.raises(UserError, match="damaged picture"):
        decode_image(encoded(quarters(), "PNG", pnginfo=info), "x.png")


def test_more_than_sixteen_bits_are_not_guessed_at() -> None:
    values = np.full((4, 4), 3.5, np.float32)
    with pytest.raises(UserError, match="floating-point pixels; save it with 8 or 16 bits"):
        decode_image(encoded(Image.fromarray(values), "TIFF"), "x")
    with pytest.raises(UserError, match="more than 16 bits"):
        decode_image(encoded(Image.fromarray(np.full((4, 4), 70_000, np.int32)), "TIFF"), "x")


def test_stop_or_skip_and_count(tmp_path: Path) -> None:
    good = [tmp_path / "a.png", tmp_path / "d.png"]
    for path in good:
        quarters().save(path)
    (tmp_path / "b.png").write_bytes(b"no picture")
    paths = [good[0], tmp_path / "b.png", tmp_path / "c.png", good[1]]
    with pytest.raises(UserError, match=r"b\.png"):
        readable(paths)
    told: list[tuple[Path, UserError]] = []
    assert readable(paths, lambda path, error: told.append((path, error))) == good
    assert [path for path, _ in told] == paths[1:3]


def test_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quarters().save(tmp_path / "x.png")
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(UserError, match="pip install pillow"):
        read_image(tmp_path / "x.png")
