"""Features are computed once, kept safely, found by content, and survive whatever stops them."""

import json
import os
import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.images import caching
from regard.data.images.cached import default_cache
from regard.data.images.caching import cached_grids
from regard.data.images.configuration import BackboneConfiguration
from regard.data.images.extraction import extract_features
from regard.data.images.patches import Patches, make_patches
from regard.data.images.store import Store, feature_bytes
from regard.data.images.threads import in_threads
from regard.errors import UserError

from .drawn import noise, quarters, save_noise


class Counting(Patches):
    """Patches that count how many pictures went through them, and stop when told to."""

    def __init__(self, grid: int = 2, stop_after: int | None = None, scale: float = 1.0) -> None:
        made = make_patches(BackboneConfiguration(name="patches", grid=grid, image_size=16))
        super().__init__(made.image_size, made.grid, made.framing)
        object.__setattr__(self, "seen", [])
        object.__setattr__(self, "stop_after", stop_after)
        object.__setattr__(self, "scale", scale)

    def __call__(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b positions size"]:
        if self.stop_after is not None and len(self.seen) >= self.stop_after:
            raise KeyboardInterrupt
        self.seen.append(len(images))
        return self.scale * super().__call__(images)

    @property
    def count(self) -> int:
        return sum(self.seen)


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    return save_noise(tmp_path / "images", 10)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def files(cache: Path, kind: str) -> list[Path]:
    return sorted(cache.rglob(f"*.{kind}"))


def test_what_is_kept_is_what_is_computed(paths: list[Path], cache: Path) -> None:
    backbone = Counting()
    grids = cached_grids(paths, backbone, cache)
    assert (len(grids), grids.rows, grids.columns, grids.size) == (10, 2, 2, 192)
    assert grids.views == 1 and grids.kept == tuple(range(10)) and grids.damaged == ()
    batch = grids.batch([3, 0, 3])
    assert batch.dtype == torch.float32 and batch.shape == (3, 4, 192)
    assert torch.equal(batch, extract_features([paths[3], paths[0], paths[3]], backbone))
    exact = torch.stack(
        [Patches.__call__(backbone, backbone.prepare(noise(n, 40))[None])[0] for n in (3, 0)]
    )
    torch.testing.assert_close(batch[:2], exact, atol=1e-3, rtol=1e-3)
    assert grids.batch([]).shape == (0, 4, 192)
    assert sum(shard.nbytes for shard in grids.shards) == feature_bytes(10, backbone)
    assert isinstance(grids.shards[0], np.memmap) and grids.shards[0].dtype == np.float16


def test_nothing_is_computed_twice(paths: list[Path], cache: Path) -> None:
    backbone = Counting()
    first = cached_grids(paths[:6], backbone, cache)
    assert backbone.count == 6
    told: list[tuple[int, int]] = []
    second = cached_grids(paths, backbone, cache, progress=lambda *done: told.append(done))
    assert backbone.count == 10
    assert told == [(done, 4) for done in (0, 1, 2, 3, 4)]
    assert torch.equal(second.batch(range(6)), first.batch(range(6)))
    again = cached_grids(list(reversed(paths)), backbone, cache)
    assert backbone.count == 10
    assert torch.equal(again.batch(range(9, -1, -1)), second.batch(range(10)))


def test_features_go_by_content(paths: list[Path], cache: Path, tmp_path: Path) -> None:
    backbone = Counting()
    before = cached_grids(paths, backbone, cache)
    moved = tmp_path / "elsewhere.png"
    shutil.copy(paths[2], moved)
    stamp = os.stat(paths[5])
    noise(99, 40).save(paths[5])
    os.utime(paths[5], ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = cached_grids([*paths, moved], backbone, cache)
    assert backbone.count == 11  # the changed one alone, though its time says nothing
    assert torch.equal(after.batch([10]), before.batch([2]))
    assert not torch.equal(after.batch([5]), before.batch([5]))
    assert torch.equal(after.batch([5]), extract_features([paths[5]], backbone))


def test_equal_pictures_are_computed_once(paths: list[Path], cache: Path) -> None:
    backbone = Counting()
    grids = cached_grids([paths[1]] * 5, backbone, cache)
    assert backbone.count == 1 and len(grids) == 5


def test_another_backbone_has_features_of_its_own(paths: list[Path], cache: Path) -> None:
    cached_grids(paths, Counting(), cache)
    other = Counting(grid=4)
    assert cached_grids(paths, other, cache).rows == 4
    assert other.count == 10
    about = [
        json.loads(path.read_text()) for path in files(cache, "json") if path.name == "about.json"
    ]
    assert {one["backbone"] for one in about} == {Counting().fingerprint, other.fingerprint}


def test_stopped_and_started_again(
    paths: list[Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "SHARD", 3 * Store(cache, Counting()).bytes_each)
    stopped = Counting(stop_after=7)
    with pytest.raises(KeyboardInterrupt):
        cached_grids(paths, stopped, cache)
    kept = len(Store(cache, stopped).places)
    assert 6 <= kept <= 7  # whole shards, and what was made since
    backbone = Counting()
    grids = cached_grids(paths, backbone, cache)
    assert backbone.count == 10 - kept
    assert torch.equal(grids.batch(range(10)), extract_features(paths, Counting()))
    assert not [path for path in cache.rglob("*") if "partial" in path.name]


def test_whoever_is_told_can_stop_it(paths: list[Path], cache: Path) -> None:
    def told(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cached_grids(paths, Counting(), cache, progress=told)
    backbone = Counting()
    cached_grids(paths, backbone, cache)
    assert backbone.count == 6


@pytest.mark.parametrize(
    "damage", ["cut", "empty", "text", "no json", "bad json", "other keys", "pickled"]
)
def test_damaged_shards_are_made_again(paths: list[Path], cache: Path, damage: str) -> None:
    expected = cached_grids(paths, Counting(), cache).batch(range(10))
    (shard,) = files(cache, "npy")
    keys = shard.with_suffix(".json")
    data = shard.read_bytes()
    match damage:
        case "cut":
            shard.write_bytes(data[:-10])
        case "empty":
            shard.write_bytes(b"")
        case "text":
            shard.write_bytes(b"not an array")
        case "no json":
            keys.unlink()
        case "bad json":
            keys.write_text('{"keys": [1, 2')
        case "other keys":
            keys.write_text('{"keys": ["a"]}')
        case "pickled":
            np.save(shard, np.array([{}]), allow_pickle=True)
    backbone = Counting()
    grids = cached_grids(paths, backbone, cache)
    assert backbone.count == 10
    assert torch.equal(grids.batch(range(10)), expected)


def test_a_cache_is_written_all_or_not(
    paths: list[Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array_header_1_0", full)
    with pytest.raises(UserError, match=r"cannot write .*\.npy: the disk is full"):
        cached_grids(paths, Counting(), cache)
    assert files(cache, "npy") == []


def test_no_room_is_told_before_anything_is_computed(
    paths: list[Path], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=5))
    backbone = Counting()
    with pytest.raises(UserError, match=r"features of 10 images take .* GB free; free some space"):
        cached_grids(paths, backbone, cache)
    assert backbone.count == 0


def test_damaged_pictures_stop_or_are_skipped(paths: list[Path], cache: Path) -> None:
    paths[4].write_bytes(paths[4].read_bytes()[:200])
    paths[6].unlink()
    with pytest.raises(UserError, match=r"6\.png does not exist"):
        cached_grids(paths, Counting(), cache)
    with pytest.raises(UserError, match=r"4\.png: damaged picture"):
        cached_grids([path for path in paths if path != paths[6]], Counting(), cache)
    grids = cached_grids(paths, Counting(), cache, skip_damaged=True)
    assert grids.kept == (0, 1, 2, 3, 5, 7, 8, 9)
    assert [damaged.index for damaged in grids.damaged] == [4, 6]
    assert "damaged picture" in grids.damaged[0].reason
    whole = [paths[index] for index in grids.kept]
    assert torch.equal(grids.batch(range(8)), extract_features(whole, Counting()))
    with pytest.raises(UserError, match=r"none of 2 images can be read: .*4\.png"):
        cached_grids([paths[4], paths[6]], Counting(), cache, skip_damaged=True)


def test_views(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "x.png"
    quarters(64, 64).save(path)
    backbone = Counting()
    grids = cached_grids([path], backbone, cache, views=("original", "flipped"))
    assert grids.views == 2 and backbone.count == 2
    original, flipped = grids.batch([0, 0], [0, 1])
    cells = original.unflatten(0, (2, 2))
    torch.testing.assert_close(flipped.unflatten(0, (2, 2)), cells.flip(1), atol=0.2, rtol=0)
    assert torch.equal(grids.batch([0])[0], original)
    more = cached_grids([path], backbone, cache, views=("original", "top-left", "flipped"))
    assert backbone.count == 3
    assert torch.equal(more.batch([0], [2])[0], flipped)
    with pytest.raises(UserError, match="the first must be 'original'"):
        cached_grids([path], backbone, cache, views=("flipped",))


def test_features_that_float16_cannot_hold(paths: list[Path], cache: Path) -> None:
    with pytest.raises(UserError, match=r"\.png: patches makes features .* within 65,504"):
        cached_grids(paths, Counting(scale=1e6), cache)


def test_two_at_once(paths: list[Path], cache: Path) -> None:
    """Threads stand for processes: each opens the store for itself."""
    made: dict[int, Tensor] = {}

    def run(number: int, some: Sequence[Path]) -> None:
        made[number] = cached_grids(some, Counting(), cache).batch(range(len(some)))

    threads = [threading.Thread(target=run, args=(n, paths[2 * n :])) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(3):
        assert torch.equal(made[number], extract_features(paths[2 * number :], Counting()))
    assert len(Store(cache, Counting()).places) == 10


def test_threads_keep_order_and_leave_torch_as_it_was() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        seen = list(in_threads(lambda n: (n, torch.get_num_threads()), range(200)))
        assert seen == [(n, 1) for n in range(200)]
        assert torch.get_num_threads() == 3
        with pytest.raises(ZeroDivisionError):
            list(in_threads(lambda n: 1 // (n - 5), range(200)))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def test_where_features_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("REGARD_CACHE", raising=False)
    assert default_cache() == Path("/home/someone/.cache/regard/features")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_cache() == Path("/caches/regard/features")
    monkeypatch.setenv("REGARD_CACHE", "/mine")
    assert default_cache() == Path("/mine/features")
