"""Scenes: small pictures of colored shapes, described in English, German and French.

The data that the package brings itself: made from a seed, with gold word alignments and the place
of every noun, so that translation, captioning and attention can be graded anywhere.
"""

from regard.data.scenes.description import (
    LANGUAGES,
    describe,
    scene_alignments,
    scene_pairs,
    scene_text,
)
from regard.data.scenes.generator import count_descriptions, generate_scenes
from regard.data.scenes.region import Region, regions
from regard.data.scenes.scene import Relation, Scene, Thing
from regard.data.scenes.simple import simple_scenes
from regard.data.scenes.write import split_scenes, write_scenes

__all__ = [
    "LANGUAGES",
    "Region",
    "Relation",
    "Scene",
    "Thing",
    "count_descriptions",
    "describe",
    "generate_scenes",
    "regions",
    "scene_alignments",
    "scene_pairs",
    "scene_text",
    "simple_scenes",
    "split_scenes",
    "write_scenes",
]
