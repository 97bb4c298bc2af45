"""Simple scenes: few kinds of things, one or two of them, each scene once."""

import pytest

from regard.data.scenes import scene_text, simple_scenes
from regard.data.scenes.simple import FEW_COLORS, FEW_SHAPES
from regard.errors import UserError


def test_simple_scenes_are_what_they_are_called():
    scenes = simple_scenes(200, 3)
    assert len({scene_text(scene, "en") for scene in scenes}) == len(scenes) == 200
    for scene in scenes:
        assert 1 <= len(scene.things) <= 2
        looks = {(thing.shape, thing.color, thing.size) for thing in scene.things}
        assert len(looks) == len(scene.things)
        for thing in scene.things:
            assert thing.count == 1 and thing.shape in FEW_SHAPES and thing.color in FEW_COLORS
    assert simple_scenes(50, 3) == scenes[:50]
    assert simple_scenes(50, 4) != scenes[:50]


def test_there_are_only_so_many():
    with pytest.raises(UserError, match="different simple scenes; 3000 were asked for"):
        simple_scenes(3000, 1)
