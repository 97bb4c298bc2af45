"""Epochs: what is drawn anew in each of them, and is the same whenever it is drawn."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.data.pairs import Pairs
from regard.data.pictures import HeldGrids, Picture
from regard.errors import UserError
from regard.training.interruption import TrainingInterrupted
from regard.training.problems import resolve
from regard.training.train import train

from .outcome import assert_same
from .test_resume import StopAt
from .tiny import tiny
from .tiny_pictures import BACKBONE, COLUMNS, ROWS, colored, describing

VALID = colored(12, seed=6, name="valid")
VIEWS = ["original", "flipped", "top-left"]


@dataclass(frozen=True, eq=False)
class Seen:
    """Three views of each grid, the second turned around, the third dark; and which were asked."""

    held: HeldGrids
    views: int = 3
    rows: int = ROWS
    columns: int = COLUMNS
    size: int = BACKBONE.size
    asked: list[tuple[int, int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.held)

    def batch(self, indices: Sequence[int], views: Sequence[int] | None = None) -> Tensor:
        chosen = [0] * len(indices) if views is None else views
        self.asked.extend(zip(indices, chosen, strict=True))
        features = self.held.batch(indices)
        versions = torch.stack([features, features.flip(1), torch.zeros_like(features)])
        return versions[torch.tensor(chosen), torch.arange(len(indices))]


def seen(pairs: Pairs, views: int = 3) -> tuple[Pairs, Seen]:
    picture = pairs[0].picture
    assert picture is not None and isinstance(picture.grids, HeldGrids)
    grids = Seen(picture.grids, views)
    moved = (replace(p, picture=Picture(grids, p.picture.number)) for p in pairs if p.picture)
    return Pairs(tuple(moved), pairs.origin), grids


def run(pairs: Pairs, out: Path, views: Sequence[str] = VIEWS, **options: Any) -> None:
    configuration = describing(
        views=list(views), maximum_epochs=options.pop("epochs", 3), maximum_updates=0
    )
    train(configuration, pairs, VALID, out, progress=False, backbone=BACKBONE, **options)


def test_each_epoch_draws_a_view_of_each_caption(tmp_path: Path) -> None:
    pairs, grids = seen(colored(80))
    run(pairs, tmp_path / "run")
    count = len(pairs)
    assert len(grids.asked) == 3 * count
    epochs = [grids.asked[start : start + count] for start in (0, count, 2 * count)]
    for epoch in epochs:
        assert Counter(number for number, _ in epoch) == dict.fromkeys(range(80), 2)
        views = Counter(view for _, view in epoch)
        assert set(views) == {0, 1, 2} and min(views.values()) > count / 6
    assert len({tuple(sorted(epoch)) for epoch in epochs}) == 3


def test_one_view_is_the_picture_as_it_is(tmp_path: Path) -> None:
    pairs, grids = seen(colored(20), views=1)
    run(pairs, tmp_path / "run", ["original"], epochs=2)
    assert {view for _, view in grids.asked} == {0}


def test_resuming_draws_the_same_views(tmp_path: Path) -> None:
    """From the middle of an epoch on, bit by bit."""
    pairs, _ = seen(colored(80))
    run(pairs, tmp_path / "whole")
    with pytest.raises(TrainingInterrupted):
        run(pairs, tmp_path / "run", stop=StopAt(9))
    run(pairs, tmp_path / "run", resume=True)
    assert_same(tmp_path / "whole", tmp_path / "run")


def test_views_that_are_not_there(tmp_path: Path) -> None:
    pairs, _ = seen(colored(20))
    with pytest.raises(UserError, match=r"there are 3 views of each.*names 2: original, flipped"):
        run(pairs, tmp_path / "run", ["original", "flipped"])
    with pytest.raises(UserError, match=r"there are 1 views of each.*names 3"):
        run(colored(20), tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("views", "message"),
    [
        (["flipped"], "the first must be 'original'"),
        (["original", "flipped", "flipped"], "none may come twice"),
        (["original", "mirrored"], "training.views.*there is no view 'mirrored'"),
        ([], "views are none"),
    ],
)
def test_views_that_cannot_be(views: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        describing(views=views)


def test_texts_have_no_views() -> None:
    data = tiny().as_dict()
    data["training"]["views"] = ["original", "flipped"]
    with pytest.raises(UserError, match=r"training\.views are of pictures"):
        resolve(data, "mine")
