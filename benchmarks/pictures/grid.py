"""Attention over a picture: asked for a word, a small model looks for what it names.

The grid holds the mean color of each square of the picture. The answer to a color word is where
the thing of that color stands, (x, y, 1); to any other word (0, 0, 0). Nothing says which squares
belong to the thing: the weights are learned from the answers alone, and so is the gate.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from pictures.charts import chart
from regard.attention import Attention, flatten_grid, fold_grid
from regard.data.scenes import Scene, generate_scenes, scene_text
from regard.data.scenes.picture import draw
from regard.data.scenes.scene import PICTURE_SIZE
from regard.training.configuration import TrainingConfiguration
from regard.training.optimizer import Adam

_SIDE = 16  # rows and columns of the grid
_SCENES, _UPDATES, _BATCH, _SIZE = 400, 300, 16, 32
_SHOWN = 96  # pixels of a picture in the picture
_SKIPPED = ("a", "the", "small", "large")  # there is room for nine words


class Finder(nn.Module):
    """``beta(q) sum_j alpha_j (x_j, y_j, 1)``: additive attention with a gate (EQUATIONS A11)."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, _SIZE)
        self.colors = nn.Sequential(nn.Linear(3, _SIZE), nn.ReLU())
        self.attention = Attention(_SIZE, _SIZE, 3, score="additive", gate=True)

    def forward(
        self, words: Int[Tensor, "batch queries"], grid: Float[Tensor, "batch rows columns 3"]
    ) -> tuple[Float[Tensor, "batch queries 3"], Float[Tensor, "batch queries rows columns"]]:
        """Where each word is, and what was looked at."""
        key = flatten_grid(self.colors(grid))
        value = flatten_grid(_places()).expand(len(grid), -1, -1)
        found, weights = self.attention(self.words(words), key, value, need_weights=True)
        assert weights is not None
        return found, fold_grid(weights, *grid.shape[1:3])[:, 0]


def visual_attention() -> str:
    """A scene, and what each word of its description looks at, with the gate."""
    scenes = [scene for scene in generate_scenes(_SCENES, 1) if _one_each(scene)]
    vocabulary = sorted({word for scene in scenes for word in _words(scene)})
    finder = train_finder(scenes, vocabulary)
    shown = next(scene for scene in scenes if scene.relations[0].name == "between")
    words = [word for word in _words(shown) if word not in _SKIPPED]
    with torch.no_grad():
        ids = torch.tensor([[vocabulary.index(word) for word in words]])
        found, weights = finder(ids, grids([shown]))
    with chart(5, 2, width=9.0, height=4.0) as made:
        for axes in made.axes:
            axes.set_axis_off()
        made.axes[0].imshow(_picture(shown), interpolation="none")
        made.axes[0].set_title("the picture")
        for axes, word, look, gate in zip(
            made.axes[1:], words, weights[0], found[0, :, 2].tolist(), strict=True
        ):
            axes.imshow(_lit(shown, look / look.max() * gate), interpolation="none")
            axes.set_title(f"{word}   β = {gate:.2f}")
    return made.svg


def train_finder(scenes: Sequence[Scene], vocabulary: Sequence[str]) -> Finder:
    """Adam, some pictures with all their words at a time."""
    torch.manual_seed(1)
    finder = Finder(len(vocabulary))
    optimizer = Adam(finder, TrainingConfiguration(optimizer="adam"))
    pictures = grids(scenes)
    longest = max(len(_words(scene)) for scene in scenes)
    words = torch.zeros(len(scenes), longest, dtype=torch.long)
    answers = torch.zeros(len(scenes), longest, 3)
    for row, scene in enumerate(scenes):
        centers = {thing.color: thing.centers[0] for thing in scene.things}
        for position, word in enumerate(_words(scene)):
            words[row, position] = vocabulary.index(word)
            if word in centers:
                x, y = centers[word]
                answers[row, position] = torch.tensor([x / PICTURE_SIZE, y / PICTURE_SIZE, 1.0])
    generator = torch.Generator().manual_seed(1)
    for update in range(_UPDATES):
        rows = torch.randint(len(scenes), (_BATCH,), generator=generator)
        found, _ = finder(words[rows], pictures[rows])
        loss = (found - answers[rows]).square().mean()
        optimizer.forget_gradients()
        loss.backward()
        optimizer.update(0.01 * min(1.0, (_UPDATES - update) / (0.5 * _UPDATES)))
    return finder.eval()


def grids(scenes: Sequence[Scene]) -> Float[Tensor, "scenes rows columns 3"]:
    """The mean color of every square, from -1 to 1."""
    import numpy as np

    pixels = torch.from_numpy(np.stack([np.asarray(draw(scene)) for scene in scenes]))
    step = PICTURE_SIZE // _SIDE
    squares = pixels.float().unflatten(1, (_SIDE, step)).unflatten(3, (_SIDE, step))
    return squares.mean((2, 4)) / 127.5 - 1.0


def _places() -> Float[Tensor, "1 rows columns 3"]:
    """``(x, y, 1)`` of every square's middle, from 0 to 1."""
    middles = (torch.arange(_SIDE) + 0.5) / _SIDE
    y, x = torch.meshgrid(middles, middles, indexing="ij")
    return torch.stack([x, y, torch.ones_like(x)], dim=-1)[None]


def _one_each(scene: Scene) -> bool:
    """Whether every thing is alone and has a color of its own."""
    colors = {thing.color for thing in scene.things}
    return len(colors) == len(scene.things) and all(thing.count == 1 for thing in scene.things)


def _words(scene: Scene) -> list[str]:
    return [word.strip(".,").lower() for word in scene_text(scene, "en").split()]


def _picture(scene: Scene) -> Any:
    return draw(scene).resize((_SHOWN, _SHOWN))


def _lit(scene: Scene, light: Float[Tensor, "rows columns"]) -> Any:
    """The picture, dark but for the squares where the light falls."""
    import numpy as np

    step = _SHOWN // _SIDE
    whole = light.clamp(0, 1).repeat_interleave(step, 0).repeat_interleave(step, 1)[..., None]
    return (np.asarray(_picture(scene)) * (0.25 + 0.75 * whole.numpy())).astype("uint8")
