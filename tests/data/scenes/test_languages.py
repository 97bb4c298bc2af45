"""Descriptions are the sentences a person would write, and say every attribute of a scene."""

import pytest

from regard.data.scenes import LANGUAGES, Scene, describe, scene_pairs, scene_text
from regard.data.scenes.scene import COLORS, SHAPES
from regard.errors import UserError

from .drawn import drawn, scene

EXAMPLES: list[tuple[Scene, str, str, str]] = [
    (
        scene("top left", "small red heart"),
        "A small red heart is in the top left corner.",
        "In der linken oberen Ecke befindet sich ein kleines rotes Herz.",
        "Dans le coin supérieur gauche se trouve un petit cœur rouge.",
    ),
    (
        scene("bottom right", "large white moon"),
        "A large white moon is in the bottom right corner.",
        "In der rechten unteren Ecke befindet sich ein großer weißer Mond.",
        "Dans le coin inférieur droit se trouve une grande lune blanche.",
    ),
    (
        scene("center", "large purple flower"),
        "A large purple flower is in the center.",
        "In der Mitte befindet sich eine große violette Blume.",
        "Au centre se trouve une grande fleur violette.",
    ),
    (
        scene("left", "small blue star", "large red circle"),
        "A small blue star is to the left of the large red circle.",
        "Links von dem großen roten Kreis befindet sich ein kleiner blauer Stern.",
        "À gauche du grand cercle rouge se trouve une petite étoile bleue.",
    ),
    (
        scene("right", "large black cross", "small yellow heart", count=3),
        "Three large black crosses are to the right of the small yellow heart.",
        "Rechts von dem kleinen gelben Herzen befinden sich drei große schwarze Kreuze.",
        "À droite du petit cœur jaune se trouvent trois grandes croix noires.",
    ),
    (
        scene("above", "small pink drop", "large orange cloud"),
        "There is a small pink drop above the large orange cloud.",
        "Es gibt einen kleinen rosa Tropfen über der großen orange Wolke.",
        "Au-dessus du grand nuage orange, il y a une petite goutte rose.",
    ),
    (
        scene("below", "small green ring", "small orange star", count=2),
        "There are two small green rings below the small orange star.",
        "Es gibt zwei kleine grüne Ringe unter dem kleinen orange Stern.",
        "Au-dessous de la petite étoile orange, il y a deux petits anneaux verts.",
    ),
    (
        scene("inside", "large white moon", "red circle"),
        "A large white moon is inside the red circle.",
        "Der rote Kreis umschließt einen großen weißen Mond.",
        "Le cercle rouge entoure une grande lune blanche.",
    ),
    (
        scene("inside", "small red square", "black diamond"),
        "A small red square is inside the black diamond.",
        "Die schwarze Raute umschließt ein kleines rotes Quadrat.",
        "Le losange noir entoure un petit carré rouge.",
    ),
    (
        scene("inside", "small black diamond", "pink ring"),
        "A small black diamond is inside the pink ring.",
        "Der rosa Ring umschließt eine kleine schwarze Raute.",
        "L'anneau rose entoure un petit losange noir.",
    ),
    (
        scene("inside", "small blue triangle", "green heart"),
        "A small blue triangle is inside the green heart.",
        "Das grüne Herz umschließt ein kleines blaues Dreieck.",
        "Le cœur vert entoure un petit triangle bleu.",
    ),
    (
        scene("between", "small green square", "large red moon", "small white flower"),
        "A small green square is between the large red moon and the small white flower.",
        "Zwischen dem großen roten Mond und der kleinen weißen Blume liegt ein kleines grünes "
        "Quadrat.",
        "Un petit carré vert se trouve entre la grande lune rouge et la petite fleur blanche.",
    ),
    (
        scene("between", "large purple cloud", "large red drop", "small red cross", count=2),
        "Two large purple clouds are between the large red drop and the small red cross.",
        "Zwischen dem großen roten Tropfen und dem kleinen roten Kreuz liegen zwei große violette "
        "Wolken.",
        "Deux grands nuages violets se trouvent entre la grande goutte rouge et la petite croix "
        "rouge.",
    ),
    (
        scene("left", "small blue star", "large red circle", "small green cross", then="above"),
        "A small blue star is to the left of the large red circle, which is above a small green "
        "cross.",
        "Links von dem großen roten Kreis, der über einem kleinen grünen Kreuz liegt, befindet "
        "sich ein kleiner blauer Stern.",
        "Une petite étoile bleue se trouve à gauche du grand cercle rouge, qui est au-dessus "
        "d'une petite croix verte.",
    ),
    (
        scene("right", "small blue star", "large pink flower", "large red ring", then="below"),
        "A small blue star is to the right of the large pink flower, which is below a large red "
        "ring.",
        "Rechts von der großen rosa Blume, die unter einem großen roten Ring liegt, befindet sich "
        "ein kleiner blauer Stern.",
        "Une petite étoile bleue se trouve à droite de la grande fleur rose, qui est au-dessous "
        "d'un grand anneau rouge.",
    ),
    (
        scene(
            "right",
            "small red star",
            "small blue square",
            "large white heart",
            third=2,
            then="above",
        ),
        "A small red star is to the right of the small blue square, which is above two large "
        "white hearts.",
        "Rechts von dem kleinen blauen Quadrat, das über zwei großen weißen Herzen liegt, befindet "
        "sich ein kleiner roter Stern.",
        "Une petite étoile rouge se trouve à droite du petit carré bleu, qui est au-dessus de deux "
        "grands cœurs blancs.",
    ),
    (
        scene(
            "left",
            "large red moon",
            "small blue moon",
            "small orange circle",
            third=3,
            then="below",
        ),
        "A large red moon is to the left of the small blue moon, which is below three small "
        "orange circles.",
        "Links von dem kleinen blauen Mond, der unter drei kleinen orange Kreisen liegt, befindet "
        "sich ein großer roter Mond.",
        "Une grande lune rouge se trouve à gauche de la petite lune bleue, qui est au-dessous de "
        "trois petits cercles orange.",
    ),
]


@pytest.mark.parametrize(("shown", "english", "german", "french"), EXAMPLES)
def test_examples(shown: Scene, english: str, german: str, french: str) -> None:
    assert scene_text(shown, "en") == english
    assert scene_text(shown, "de") == german
    assert scene_text(shown, "fr") == french


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_attribute_is_needed(language: str) -> None:
    """Change one thing about a thing, and the text changes."""
    base = scene("left", "small blue star", "large red circle", "small green cross", then="above")
    texts = {scene_text(base, language)}
    for index in range(3):
        looks = ["small blue star", "large red circle", "small green cross"]
        size, color, shape = looks[index].split()
        others = [f"{size} {color} {other}" for other in SHAPES if other != shape]
        others += [f"{size} {other} {shape}" for other in COLORS if other != color]
        others.append(f"{'small' if size == 'large' else 'large'} {color} {shape}")
        for look in others:
            looks[index] = look
            texts.add(scene_text(scene("left", *looks, then="above"), language))
    for changed in (
        scene("right", "small blue star", "large red circle", "small green cross", then="above"),
        scene("left", "small blue star", "large red circle", "small green cross", then="below"),
        scene(
            "left",
            "small blue star",
            "large red circle",
            "small green cross",
            then="above",
            count=2,
        ),
        scene(
            "left",
            "small blue star",
            "large red circle",
            "small green cross",
            then="above",
            third=3,
        ),
    ):
        texts.add(scene_text(changed, language))
    assert len(texts) == 1 + 3 * (len(SHAPES) - 1 + len(COLORS) - 1 + 1) + 4


@pytest.mark.parametrize("language", LANGUAGES)
def test_lines_are_ordinary_writing(language: str) -> None:
    for drawn_scene in drawn():
        text = scene_text(drawn_scene, language)
        assert text[0].isupper()
        assert text.endswith(".") and text.count(".") == 1
        assert text == " ".join(text.split())
        assert " ," not in text
        assert text == " ".join(word.text for word in describe(drawn_scene, language))


def test_pairs_have_the_source_first() -> None:
    scenes = drawn()[:20]
    pairs = scene_pairs(scenes, "de", "en")
    assert len(pairs) == 20 and pairs.blank == 0
    assert pairs[3].source == scene_text(scenes[3], "de")
    assert pairs[3].target == scene_text(scenes[3], "en")


def test_an_unknown_language_names_those_there_are() -> None:
    with pytest.raises(UserError, match="'it'; there are en, de, fr"):
        scene_pairs(drawn()[:1], "en", "it")
