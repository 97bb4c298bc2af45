"""Agreement, case, contraction and word order, checked against a second grammar."""

from itertools import pairwise

from regard.data.scenes import scene_text

from .drawn import drawn, singular

# What a grammar says, written down once more and independently of the tables of the package.
GERMAN_NOUNS = {
    "der": "Kreis Stern Mond Ring Tropfen",
    "die": "Raute Blume Wolke Mitte Ecke",
    "das": "Quadrat Dreieck Herz Kreuz Herzen",
    "plural": "Kreise Sterne Monde Ringe Tropfen Rauten Blumen Wolken Quadrate Dreiecke Herzen "
    "Kreuze",
    "dative plural": "Kreisen Sternen Monden Ringen Tropfen Rauten Blumen Wolken Quadraten "
    "Dreiecken Herzen Kreuzen",
}
# After these words, adjectives with this ending go with nouns of these kinds.
GERMAN = {
    "ein": {"er": ("der",), "es": ("das",)},
    "eine": {"e": ("die",)},
    "einen": {"en": ("der",)},
    "einem": {"en": ("der", "das")},
    "einer": {"en": ("die",)},
    "dem": {"en": ("der", "das")},
    "der": {"e": ("der",), "en": ("die",)},
    "die": {"e": ("die",)},
    "das": {"e": ("das",)},
    "zwei": {"e": ("plural",), "en": ("dative plural",)},
    "drei": {"e": ("plural",), "en": ("dative plural",)},
}
GERMAN_STEMS = "klein groß rot gelb grün blau violett schwarz weiß link recht ober unter"


def _german_phrases(words: list[str]) -> list[tuple[str, list[str], str]]:
    """Article, adjectives and noun of each noun phrase: nouns are what has a capital letter."""
    phrases, articles = [], []
    for index, word in enumerate(words):
        if word.lower() in GERMAN:
            articles.append(index)
        elif word[0].isupper() and index > 0 and word != "Links":
            start = articles[-1]
            phrases.append((words[start].lower(), words[start + 1 : index], word))
    return phrases


def test_german_agrees_in_case_gender_and_number() -> None:
    seen = set()
    for drawn_scene in drawn():
        words = [word.strip(".,") for word in scene_text(drawn_scene, "de").split()]
        phrases = _german_phrases(words)
        places = drawn_scene.relations[0].anchors == ()
        assert len(phrases) == len(drawn_scene.things) + places, words
        for article, adjectives, noun in phrases:
            kinds = {kind for kind, nouns in GERMAN_NOUNS.items() if noun in nouns.split()}
            for adjective in adjectives:
                if adjective in ("orange", "rosa"):
                    continue
                stem = next(stem for stem in GERMAN_STEMS.split() if adjective.startswith(stem))
                expected = GERMAN[article][adjective.removeprefix(stem)]
                assert kinds & set(expected), (article, adjective, noun)
                seen.add((article, adjective.removeprefix(stem), min(kinds)))
    assert len({article for article, _, _ in seen}) == len(GERMAN)


def test_german_verbs_agree_and_stand_where_they_must() -> None:
    for drawn_scene in drawn():
        text = scene_text(drawn_scene, "de")
        several = drawn_scene.things[0].count > 1
        assert (" befinden sich " in text or " liegen " in text) == (
            several and drawn_scene.relations[0].name not in ("above", "below")
        )
        if len(drawn_scene.relations) == 2:
            clause = text.split(", ")[1]
            assert clause.split()[0] in ("der", "die", "das")
            assert clause.split()[-1] == "liegt"
            assert text.split(", ")[2].startswith(("befindet sich ", "befinden sich "))


FRENCH_NOUNS = {
    "m": "cercle carré triangle losange cœur anneau nuage coin",
    "f": "étoile croix lune fleur goutte",
    "mp": "cercles carrés triangles losanges cœurs anneaux nuages",
    "fp": "étoiles croix lunes fleurs gouttes",
}
FRENCH = {
    "m": "un le du d'un petit grand rouge orange jaune vert bleu violet rose noir blanc",
    "f": "une la d'une petite grande rouge orange jaune verte bleue violette rose noire blanche",
    "mp": "deux trois petits grands rouges orange jaunes verts bleus violets roses noirs blancs",
    "fp": "deux trois petites grandes rouges orange jaunes vertes bleues violettes roses noires "
    "blanches",
}


def test_french_agrees_in_gender_and_number_and_contracts() -> None:
    for drawn_scene in drawn():
        text = scene_text(drawn_scene, "fr")
        words = [word.strip(".,").lower() for word in text.split()]
        assert not {"de le", "de un", "de une", "à le"} & {" ".join(two) for two in pairwise(words)}
        for index, word in enumerate(words):
            elided = word.removeprefix("l'")
            kinds = [kind for kind, nouns in FRENCH_NOUNS.items() if elided in nouns.split()]
            if not kinds or word == "coin":
                continue
            around = words[max(index - 1, 0)], words[index + 1]
            if elided == word and drawn_scene.relations[0].name != "inside":
                around = (words[index - 2], *around)
            fits = [kind for kind in kinds if all(w in FRENCH[kind].split() for w in around)]
            if elided != word:
                fits = [kind for kind in kinds if around[1] in FRENCH[kind].split()]
            assert fits, (text, around)
        several = drawn_scene.things[0].count > 1 and "il y a" not in text
        assert (" se trouvent " in text) == several


def test_french_elides_only_before_vowels() -> None:
    for drawn_scene in drawn():
        for word in scene_text(drawn_scene, "fr").split():
            head, mark, rest = word.lower().partition("'")
            assert not mark or rest[0] in "aeiouéœ", word
            assert not mark or head in ("l", "d")


def test_english_agrees_in_number() -> None:
    for drawn_scene in drawn():
        words = scene_text(drawn_scene, "en").lower().split()
        verb = words[1] if words[0] == "there" else words[4]
        assert verb == ("is" if drawn_scene.things[0].count == 1 else "are"), words
        for thing in drawn_scene.things:
            nouns = [word.strip(".,") for word in words]
            assert any(
                singular(noun) == thing.shape and (noun != thing.shape) == (thing.count > 1)
                for noun in nouns
            )
        articles = [i for i, word in enumerate(words) if word == "a"]
        assert all(words[i + 1][0] not in "aeiou" for i in articles)
