"""Ready-made features: every layout in every kind of file is the same grid, or one clear error."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from regard.data.images.ready import ready_grids
from regard.errors import UserError

NAMES = ["a.jpg", "deep/b.png", "c.jpg"]
ARRAYS = np.random.default_rng(3).normal(size=(3, 2, 3, 5)).astype(np.float32)


def laid_out(layout: str) -> np.ndarray:
    """`[images, ...]` in a layout."""
    return {
        "rows": ARRAYS,
        "channels first": ARRAYS.transpose(0, 3, 1, 2),
        "positions": ARRAYS.reshape(3, 6, 5),
    }[layout]


def write(directory: Path, kind: str, arrays: np.ndarray, suffix: bool = True) -> Path:
    names = NAMES if suffix else ["a", "deep/b", "c"]
    if kind == "folder":
        for name, array in zip(names, arrays, strict=True):
            path = directory / "features" / f"{name}.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, array)
        return directory / "features"
    if kind == "safetensors":
        path = directory / "features.safetensors"
        tensors = {
            n: torch.from_numpy(np.ascontiguousarray(a)) for n, a in zip(names, arrays, strict=True)
        }
        save_file(tensors, path)
        return path
    np.save(directory / "features.npy", arrays)
    (directory / "features.txt").write_text("".join(f"{name}\n" for name in names))
    return directory / "features.npy"


@pytest.mark.parametrize("kind", ["folder", "safetensors", "array"])
@pytest.mark.parametrize("layout", ["rows", "channels first", "positions"])
@pytest.mark.parametrize("suffix", [True, False])
def test_every_layout_in_every_file(tmp_path: Path, kind: str, layout: str, suffix: bool) -> None:
    path = write(tmp_path, kind, laid_out(layout), suffix)
    options = {
        "channels_first": layout == "channels first",
        "rows": 2 if layout == "positions" else None,
    }
    grids = ready_grids(path, [NAMES[2], NAMES[0], NAMES[1]], **options)
    assert (len(grids), grids.rows, grids.columns, grids.size, grids.views) == (3, 2, 3, 5, 1)
    batch = grids.batch([1, 2, 0, 1])
    expected = torch.from_numpy(ARRAYS[[0, 1, 2, 0]]).flatten(1, 2)
    assert batch.dtype == torch.float32 and torch.equal(batch, expected)
    assert grids.batch([]).shape == (0, 6, 5)
    assert torch.equal(grids.batch([0], [0]), expected[2:3])


@pytest.mark.parametrize("number", [np.float16, np.float64, np.uint8])
def test_types_of_numbers(tmp_path: Path, number: type) -> None:
    arrays = (10 * abs(ARRAYS)).astype(number)
    grids = ready_grids(write(tmp_path, "folder", arrays), NAMES)
    assert torch.equal(
        grids.batch([0]), torch.from_numpy(arrays[:1].astype(np.float32)).flatten(1, 2)
    )


def test_square_positions_need_no_rows(tmp_path: Path) -> None:
    arrays = np.zeros((3, 9, 4), np.float32)
    grids = ready_grids(write(tmp_path, "array", arrays), NAMES)
    assert (grids.rows, grids.columns, grids.size) == (3, 3, 4)


@pytest.mark.parametrize(
    ("arrays", "options", "message"),
    [
        (np.zeros((3, 6, 5)), {}, "6 positions, which are not a square grid; say how many rows"),
        (np.zeros((3, 6, 5)), {"rows": 4}, "6 positions, which are not 4 equal rows"),
        (np.zeros((3, 6, 5)), {"rows": 0}, "6 positions, which are not 0 equal rows"),
        (np.zeros((3, 2, 3, 5)), {"rows": 3}, "has 2 rows, and 3 are asked for"),
        (np.zeros((3, 5)), {}, r"has shape \(5,\); it should be .positions, size."),
        (np.zeros((3, 0, 3, 5)), {}, "has shape"),
    ],
)
def test_unusable_shapes(
    tmp_path: Path, arrays: np.ndarray, options: dict[str, int], message: str
) -> None:
    path = write(tmp_path, "folder", arrays)
    with pytest.raises(UserError, match=message) as caught:
        ready_grids(path, NAMES, **options)
    assert str(caught.value).startswith(f"{path}: a.jpg.npy")


@pytest.mark.parametrize("kind", ["folder", "safetensors", "array"])
def test_images_without_features(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind, ARRAYS)
    with pytest.raises(UserError, match=r"has no features of the image d\.jpg .it would be d\.jpg"):
        ready_grids(path, [*NAMES, "d.jpg"])


def test_different_shapes(tmp_path: Path) -> None:
    path = write(tmp_path, "folder", ARRAYS)
    np.save(path / "c.jpg.npy", np.zeros((2, 3, 6)))
    with pytest.raises(UserError, match=r"c\.jpg\.npy has shape \(2, 3, 6\) and a\.jpg\.npy has"):
        ready_grids(path, NAMES)


def test_what_is_no_number(tmp_path: Path) -> None:
    arrays = ARRAYS.copy()
    arrays[1, 0, 0, 0] = np.nan
    grids = ready_grids(write(tmp_path, "array", arrays), NAMES)
    assert grids.batch([0]).shape == (1, 6, 5)
    with pytest.raises(UserError, match=r"deep/b\.png holds what is not a number"):
        grids.batch([0, 1])


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    folder = write(tmp_path, "folder", ARRAYS)
    (folder / "a.jpg.npy").write_bytes((folder / "a.jpg.npy").read_bytes()[:-4])
    with pytest.raises(UserError, match=r"a\.jpg\.npy: not a whole file of numbers"):
        ready_grids(folder, NAMES)
    np.save(folder / "a.jpg.npy", np.array([{"pickled": 1}]), allow_pickle=True)
    with pytest.raises(UserError, match=r"a\.jpg\.npy: not a whole file of numbers"):
        ready_grids(folder, NAMES)
    (tmp_path / "x.safetensors").write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"x\.safetensors: not a whole file of numbers"):
        ready_grids(tmp_path / "x.safetensors", NAMES)
    (tmp_path / "x.pkl").write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"x\.pkl: not features that can be read; give a folder"):
        ready_grids(tmp_path / "x.pkl", NAMES)
    with pytest.raises(UserError, match="does not exist"):
        ready_grids(tmp_path / "no", NAMES)


def test_names_beside_an_array(tmp_path: Path) -> None:
    path = write(tmp_path, "array", ARRAYS)
    (tmp_path / "features.txt").write_text("a.jpg\na.jpg\nc.jpg\n")
    with pytest.raises(UserError, match=r"names a\.jpg twice"):
        ready_grids(path, NAMES)
    (tmp_path / "features.txt").write_text("a.jpg\n")
    with pytest.raises(UserError, match=r"holds 3 arrays and .* 1 names: line i must name array i"):
        ready_grids(path, NAMES)
    (tmp_path / "features.txt").unlink()
    with pytest.raises(UserError, match=r"features\.txt does not exist: the names of the images"):
        ready_grids(path, NAMES)


def test_one_view_alone(tmp_path: Path) -> None:
    grids = ready_grids(write(tmp_path, "array", ARRAYS), NAMES)
    with pytest.raises(ValueError, match="one view"):
        grids.batch([0], [1])
