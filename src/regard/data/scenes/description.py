"""Description: a scene in words of English, German or French."""

from collections.abc import Callable, Iterable

from regard.data.alignment import Alignment
from regard.data.pairs import Pair, Pairs
from regard.data.scenes import english, french, german
from regard.data.scenes.alignment import align
from regard.data.scenes.scene import Scene
from regard.data.scenes.words import Sentence, text
from regard.errors import UserError

LANGUAGES: dict[str, Callable[[Scene], Sentence]] = {
    "en": english.describe,
    "de": german.describe,
    "fr": french.describe,
}


def describe(scene: Scene, language: str) -> Sentence:
    """The one description of a scene in "en", "de" or "fr"; UserError for another language."""
    if language not in LANGUAGES:
        raise UserError(f"no scenes in language {language!r}; there are {', '.join(LANGUAGES)}")
    return LANGUAGES[language](scene)


def scene_text(scene: Scene, language: str) -> str:
    """The description of a scene as one line."""
    return text(describe(scene, language))


def scene_pairs(scenes: Iterable[Scene], source: str, target: str) -> Pairs:
    """The descriptions of scenes in two languages."""
    pairs = tuple(Pair(scene_text(s, source), scene_text(s, target)) for s in scenes)
    return Pairs(pairs, origin=f"scenes {source}-{target}", blank=0)


def scene_alignments(scenes: Iterable[Scene], source: str, target: str) -> list[Alignment]:
    """The gold word alignment of every scene's two descriptions."""
    return [align(describe(scene, source), describe(scene, target)) for scene in scenes]
