"""French: "À gauche du grand cercle rouge se trouve une petite étoile bleue.\""""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from regard.data.scenes.scene import Color, Scene, Shape, Size, Thing
from regard.data.scenes.words import Sentence, Word, end_with, sentence

Gender = Literal["masculine", "feminine"]
Article = Literal["un", "le"]


@dataclass(frozen=True)
class Noun:
    """A noun's gender and forms."""

    gender: Gender
    singular: str
    plural: str


@dataclass(frozen=True)
class Adjective:
    """The four forms of an adjective."""

    masculine: str
    feminine: str
    masculine_plural: str
    feminine_plural: str

    def form(self, gender: Gender, count: int) -> str:
        """The form that agrees with a noun."""
        if count == 1:
            return self.masculine if gender == "masculine" else self.feminine
        return self.masculine_plural if gender == "masculine" else self.feminine_plural


NOUNS: dict[Shape, Noun] = {
    "circle": Noun("masculine", "cercle", "cercles"),
    "square": Noun("masculine", "carré", "carrés"),
    "triangle": Noun("masculine", "triangle", "triangles"),
    "diamond": Noun("masculine", "losange", "losanges"),
    "star": Noun("feminine", "étoile", "étoiles"),
    "heart": Noun("masculine", "cœur", "cœurs"),
    "cross": Noun("feminine", "croix", "croix"),
    "moon": Noun("feminine", "lune", "lunes"),
    "ring": Noun("masculine", "anneau", "anneaux"),
    "flower": Noun("feminine", "fleur", "fleurs"),
    "cloud": Noun("masculine", "nuage", "nuages"),
    "drop": Noun("feminine", "goutte", "gouttes"),
}
COLORS: dict[Color, Adjective] = {
    "red": Adjective("rouge", "rouge", "rouges", "rouges"),
    "orange": Adjective("orange", "orange", "orange", "orange"),  # invariable: it is a fruit
    "yellow": Adjective("jaune", "jaune", "jaunes", "jaunes"),
    "green": Adjective("vert", "verte", "verts", "vertes"),
    "blue": Adjective("bleu", "bleue", "bleus", "bleues"),
    "purple": Adjective("violet", "violette", "violets", "violettes"),
    "pink": Adjective("rose", "rose", "roses", "roses"),
    "black": Adjective("noir", "noire", "noirs", "noires"),
    "white": Adjective("blanc", "blanche", "blancs", "blanches"),
}
SIZES: dict[Size, Adjective] = {
    "small": Adjective("petit", "petite", "petits", "petites"),
    "large": Adjective("grand", "grande", "grands", "grandes"),
}
NUMBERS = {2: "deux", 3: "trois"}
VOWELS = "aeiouéœ"

SIDES = {"left": "gauche", "right": "droite", "above": "au-dessus", "below": "au-dessous"}
PLACE_SIDES = {"left": "gauche", "right": "droit"}
PLACE_HEIGHTS = {"top": "supérieur", "bottom": "inférieur"}


def describe(scene: Scene) -> Sentence:
    """The one French description of a scene, each word with its roles."""
    name = scene.relations[0].name
    subject = _phrase(scene, 0, "un")
    if name == "inside":
        surrounds = Word("entoure", ("relation",), ("verb",))
        return sentence((*_phrase(scene, 1, "le"), surrounds, *subject))
    if name in ("above", "below"):
        where = (Word(SIDES[name], ("relation",)), *_of(scene, 1, "le", loose=("relation",)))
        there = (Word("il", ("there",)), Word("y", (), ("there", "verb")), Word("a", ("verb",)))
        return sentence((*end_with(",", where), *there, *subject))
    verb = _is(scene.things[0])
    if name == "between":
        return sentence((*subject, *verb, *_between(scene)))
    if len(scene.relations) == 2:
        where = end_with(",", _beside(scene))
        return sentence((*subject, *verb, *where, *_which(scene)))
    where = _beside(scene) if name in ("left", "right") else _place(name)
    return sentence((*where, *verb, *subject))


def _between(scene: Scene) -> Sentence:
    first, second = _phrase(scene, 1, "le"), _phrase(scene, 2, "le")
    return (Word("entre", ("relation",)), *first, Word("et", ("and",)), *second)


def _beside(scene: Scene) -> Sentence:
    side = Word(SIDES[scene.relations[0].name], ("relation",))
    return (Word("à", ("to",), ("relation",)), side, *_of(scene, 1, "le", roles=("of",)))


def _which(scene: Scene) -> Sentence:
    """The relative clause about the anchor, which has just been named."""
    which = (Word("qui", ("relative",)), Word("est", ("second verb",)))
    second = Word(SIDES[scene.relations[1].name], ("second relation",))
    return (*which, second, *_of(scene, 2, "un", loose=("second relation",)))


def _place(name: str) -> Sentence:
    if name == "center":
        return (Word("au", ("in", "place article")), Word("centre", ("place",)))
    height, side = name.split()
    return (
        Word("dans", ("in",)),
        Word("le", ("place article",)),
        Word("coin", ("place",)),
        Word(PLACE_HEIGHTS[height], ("height",)),
        Word(PLACE_SIDES[side], ("side",)),
    )


def _is(thing: Thing) -> Sentence:
    verb = "trouve" if thing.count == 1 else "trouvent"
    return (Word("se", (), ("verb",)), Word(verb, ("verb",)))


def _of(
    scene: Scene,
    index: int,
    article: Article,
    *,
    roles: tuple[str, ...] = (),
    loose: tuple[str, ...] = (),
) -> Sentence:
    """ "de" and a noun phrase, with "de" contracted into the article where French does so.

    roles, loose: those of "de"; the contracted word has the article's as well.
    """
    first, *rest = _phrase(scene, index, article)
    contracted = {"le": "du", "un": "d'un", "une": "d'une"}.get(first.text)
    if contracted is None:
        return (Word("de", roles, loose), first, *rest)
    return (Word(contracted, (*roles, *first.roles), (*loose, *first.loose)), *rest)


def _phrase(scene: Scene, index: int, article: Article) -> Sentence:
    thing = scene.things[index]
    return _noun_phrase(index, thing.shape, thing.color, thing.size, thing.count, article)


@cache
def _noun_phrase(
    index: int, shape: Shape, color: Color, size: Size | None, count: int, article: Article
) -> Sentence:
    """A noun phrase: size before the noun, color after it, both agreeing with it."""
    noun = NOUNS[shape]
    name = Word(noun.singular if count == 1 else noun.plural, (f"{index}.noun",))
    words = [name, Word(COLORS[color].form(noun.gender, count), (f"{index}.color",))]
    if size is not None:
        words.insert(0, Word(SIZES[size].form(noun.gender, count), (f"{index}.size",)))
    if count > 1:
        return (Word(NUMBERS[count], (f"{index}.article",)), *words)
    if article == "le" and words[0].text[0] in VOWELS:  # "l'anneau" is one word: article and noun
        elided = Word("l'" + words[0].text, (f"{index}.article", *words[0].roles))
        return (elided, *words[1:])
    definite, indefinite = ("le", "un") if noun.gender == "masculine" else ("la", "une")
    return (Word(definite if article == "le" else indefinite, (f"{index}.article",)), *words)
