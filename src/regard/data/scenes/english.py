"""English: "A small blue star is to the left of the large red circle.\""""

from functools import cache
from typing import Literal

from regard.data.scenes.scene import Color, Scene, Shape, Size, Thing
from regard.data.scenes.words import Sentence, Word, end_with, sentence

Article = Literal["a", "the"]

PLURALS: dict[Shape, str] = {
    "circle": "circles",
    "square": "squares",
    "triangle": "triangles",
    "diamond": "diamonds",
    "star": "stars",
    "heart": "hearts",
    "cross": "crosses",
    "moon": "moons",
    "ring": "rings",
    "flower": "flowers",
    "cloud": "clouds",
    "drop": "drops",
}
NUMBERS = {2: "two", 3: "three"}


def describe(scene: Scene) -> Sentence:
    """The one English description of a scene, each word with its roles."""
    relation = scene.relations[0]
    subject = _phrase(scene, 0, "a")
    if relation.name in ("above", "below"):
        there = (Word("there", ("there",)), _is(scene.things[0]))
        where = (Word(relation.name, ("relation",)), *_phrase(scene, 1, "the"))
        return sentence((*there, *subject, *where))
    return sentence((*subject, _is(scene.things[0]), *_where(scene)))


def _where(scene: Scene) -> Sentence:
    """What follows the verb when the subject comes first."""
    name = scene.relations[0].name
    if name in ("left", "right"):
        if len(scene.relations) == 1:
            return (*_beside(name), *_phrase(scene, 1, "the"))
        which = (Word("which", ("relative",)), Word("is", ("second verb",)))
        second = Word(scene.relations[1].name, ("second relation",))
        anchor = end_with(",", _phrase(scene, 1, "the"))
        return (*_beside(name), *anchor, *which, second, *_phrase(scene, 2, "a"))
    if name == "inside":
        return (Word("inside", ("relation",)), *_phrase(scene, 1, "the"))
    if name == "between":
        both = (*_phrase(scene, 1, "the"), Word("and", ("and",)), *_phrase(scene, 2, "the"))
        return (Word("between", ("relation",)), *both)
    return _place(name)


def _beside(side: str) -> Sentence:
    return (
        Word("to", ("to",), ("relation",)),
        Word("the", (), ("relation",)),
        Word(side, ("relation",)),
        Word("of", ("of",)),
    )


def _place(name: str) -> Sentence:
    start = (Word("in", ("in",)), Word("the", ("place article",)))
    if name == "center":
        return (*start, Word("center", ("place",)))
    height, side = name.split()
    words = (Word(height, ("height",)), Word(side, ("side",)), Word("corner", ("place",)))
    return (*start, *words)


def _is(thing: Thing) -> Word:
    return Word("is" if thing.count == 1 else "are", ("verb",))


def _phrase(scene: Scene, index: int, article: Article) -> Sentence:
    thing = scene.things[index]
    return _noun_phrase(index, thing.shape, thing.color, thing.size, thing.count, article)


@cache
def _noun_phrase(
    index: int, shape: Shape, color: Color, size: Size | None, count: int, article: Article
) -> Sentence:
    noun = shape if count == 1 else PLURALS[shape]
    words = [Word(article if count == 1 else NUMBERS[count], (f"{index}.article",))]
    if size is not None:
        words.append(Word(size, (f"{index}.size",)))
    return (*words, Word(color, (f"{index}.color",)), Word(noun, (f"{index}.noun",)))
