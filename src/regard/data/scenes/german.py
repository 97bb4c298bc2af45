"""German: "Links von dem großen roten Kreis befindet sich ein kleiner blauer Stern.\""""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from regard.data.scenes.scene import Color, Scene, Shape, Size, Thing
from regard.data.scenes.words import Sentence, Word, end_with, sentence

Case = Literal["nominative", "accusative", "dative"]
Gender = Literal["masculine", "feminine", "neuter"]
Article = Literal["ein", "der"]


@dataclass(frozen=True)
class Noun:
    """A noun's gender and forms. No nominative here differs from its accusative."""

    gender: Gender
    singular: str
    dative: str
    plural: str
    dative_plural: str


NOUNS: dict[Shape, Noun] = {
    "circle": Noun("masculine", "Kreis", "Kreis", "Kreise", "Kreisen"),
    "square": Noun("neuter", "Quadrat", "Quadrat", "Quadrate", "Quadraten"),
    "triangle": Noun("neuter", "Dreieck", "Dreieck", "Dreiecke", "Dreiecken"),
    "diamond": Noun("feminine", "Raute", "Raute", "Rauten", "Rauten"),
    "star": Noun("masculine", "Stern", "Stern", "Sterne", "Sternen"),
    "heart": Noun("neuter", "Herz", "Herzen", "Herzen", "Herzen"),
    "cross": Noun("neuter", "Kreuz", "Kreuz", "Kreuze", "Kreuzen"),
    "moon": Noun("masculine", "Mond", "Mond", "Monde", "Monden"),
    "ring": Noun("masculine", "Ring", "Ring", "Ringe", "Ringen"),
    "flower": Noun("feminine", "Blume", "Blume", "Blumen", "Blumen"),
    "cloud": Noun("feminine", "Wolke", "Wolke", "Wolken", "Wolken"),
    "drop": Noun("masculine", "Tropfen", "Tropfen", "Tropfen", "Tropfen"),
}
COLORS: dict[Color, str] = {
    "red": "rot",
    "orange": "orange",
    "yellow": "gelb",
    "green": "grün",
    "blue": "blau",
    "purple": "violett",
    "pink": "rosa",
    "black": "schwarz",
    "white": "weiß",
}
INVARIABLE = ("orange", "rosa")
SIZES: dict[Size, str] = {"small": "klein", "large": "groß"}
NUMBERS = {2: "zwei", 3: "drei"}

# Article and adjective ending, by case and then masculine, feminine, neuter.
GENDERS: tuple[Gender, ...] = ("masculine", "feminine", "neuter")
INDEFINITE: dict[Case, tuple[tuple[str, str], ...]] = {
    "nominative": (("ein", "er"), ("eine", "e"), ("ein", "es")),
    "accusative": (("einen", "en"), ("eine", "e"), ("ein", "es")),
    "dative": (("einem", "en"), ("einer", "en"), ("einem", "en")),
}
DEFINITE: dict[Case, tuple[tuple[str, str], ...]] = {
    "nominative": (("der", "e"), ("die", "e"), ("das", "e")),
    "accusative": (("den", "en"), ("die", "e"), ("das", "e")),
    "dative": (("dem", "en"), ("der", "en"), ("dem", "en")),
}
PLURAL_ENDINGS: dict[Case, str] = {"nominative": "e", "accusative": "e", "dative": "en"}

SIDES = {"left": "links", "right": "rechts", "above": "über", "below": "unter"}
PLACE_SIDES = {"left": "linken", "right": "rechten"}
PLACE_HEIGHTS = {"top": "oberen", "bottom": "unteren"}


def describe(scene: Scene) -> Sentence:
    """The one German description of a scene, each word with its roles."""
    name = scene.relations[0].name
    if name == "inside":
        return _inside(scene)
    if name in ("above", "below"):
        there = (Word("es", ("there",)), Word("gibt", ("verb",)))
        where = (Word(SIDES[name], ("relation",)), *_phrase(scene, 1, "der", "dative"))
        return sentence((*there, *_phrase(scene, 0, "ein", "accusative"), *where))
    subject = _phrase(scene, 0, "ein", "nominative")
    if name == "between":
        verb = (Word("liegt" if scene.things[0].count == 1 else "liegen", ("verb",)),)
        return sentence((*_between(scene), *verb, *subject))
    where = _beside(scene) if name in ("left", "right") else _place(name)
    return sentence((*where, *_is(scene.things[0]), *subject))


def _inside(scene: Scene) -> Sentence:
    """The frame becomes the subject: "Der rote Kreis umschließt einen kleinen blauen Stern.\""""
    verb = Word("umschließt", ("relation",), ("verb",))
    frame = _phrase(scene, 1, "der", "nominative")
    return sentence((*frame, verb, *_phrase(scene, 0, "ein", "accusative")))


def _between(scene: Scene) -> Sentence:
    first, second = (_phrase(scene, index, "der", "dative") for index in (1, 2))
    return (Word("zwischen", ("relation",)), *first, Word("und", ("and",)), *second)


def _beside(scene: Scene) -> Sentence:
    """Up to the main verb; a second relation is a relative clause, its verb last."""
    side = (Word(SIDES[scene.relations[0].name], ("relation",)), Word("von", ("of",)))
    anchor = _phrase(scene, 1, "der", "dative")
    if len(scene.relations) == 1:
        return (*side, *anchor)
    gender = NOUNS[scene.things[1].shape].gender
    pronoun = Word(DEFINITE["nominative"][GENDERS.index(gender)][0], ("relative",))
    second = Word(SIDES[scene.relations[1].name], ("second relation",))
    third = _phrase(scene, 2, "ein", "dative")
    verb = Word("liegt,", ("second verb",))
    return (*side, *end_with(",", anchor), pronoun, second, *third, verb)


def _place(name: str) -> Sentence:
    start = (Word("in", ("in",)), Word("der", ("place article",)))
    if name == "center":
        return (*start, Word("Mitte", ("place",)))
    height, side = name.split()
    return (
        *start,
        Word(PLACE_SIDES[side], ("side",)),
        Word(PLACE_HEIGHTS[height], ("height",)),
        Word("Ecke", ("place",)),
    )


def _is(thing: Thing) -> Sentence:
    verb = "befindet" if thing.count == 1 else "befinden"
    return (Word(verb, ("verb",)), Word("sich", (), ("verb",)))


def _phrase(scene: Scene, index: int, article: Article, case: Case) -> Sentence:
    thing = scene.things[index]
    return _noun_phrase(index, thing.shape, thing.color, thing.size, thing.count, article, case)


@cache
def _noun_phrase(
    index: int,
    shape: Shape,
    color: Color,
    size: Size | None,
    count: int,
    article: Article,
    case: Case,
) -> Sentence:
    """A noun phrase: mixed endings after "ein", weak after "der", strong after a number."""
    noun = NOUNS[shape]
    if count == 1:
        table = INDEFINITE if article == "ein" else DEFINITE
        first, ending = table[case][GENDERS.index(noun.gender)]
        name = noun.dative if case == "dative" else noun.singular
    else:
        first, ending = NUMBERS[count], PLURAL_ENDINGS[case]
        name = noun.dative_plural if case == "dative" else noun.plural
    words = [Word(first, (f"{index}.article",))]
    if size is not None:
        words.append(Word(SIZES[size] + ending, (f"{index}.size",)))
    shade = COLORS[color] if COLORS[color] in INVARIABLE else COLORS[color] + ending
    return (*words, Word(shade, (f"{index}.color",)), Word(name, (f"{index}.noun",)))
