"""Pronunciations: words and their phones, out of the packages gruut-lang-it and -de (MIT)."""

import importlib.util
import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from regard.data.alignment import Alignment
from regard.data.pairs import Pair, Pairs
from regard.errors import UserError

#: The languages, by the end of their package's name.
LANGUAGES = {"it": "Italian", "de": "German"}
STRESS = "ˈ"
NOTHING = "_"


@dataclass(frozen=True)
class AlignedPronunciation:
    """A word and the one of its pronunciations that the package aligns with its letters.

    alignment: sure links (character of the word, phone), every letter of a group with every phone
        of it ("ch" with "k"); a silent letter has none.
    """

    pair: Pair
    alignment: Alignment


@dataclass(frozen=True)
class Pronunciations:
    """Pairs of a word and its phones, separated by spaces, the stress mark on its phone.

    A word has a pair for each of its pronunciations, all in the same split, in random order.

    aligned: of the held-out words, those whose alignment can be scored against.
    unaligned: how many held-out words have none, or one that does not spell the word or fit any
        of its pronunciations.
    left_out: how many entries of the package were not taken, by reason.
    """

    train: Pairs
    valid: Pairs
    held_out: Pairs
    aligned: tuple[AlignedPronunciation, ...]
    unaligned: int
    left_out: dict[str, int]


def read_pronunciations(
    seed: int = 1,
    *,
    language: str = "it",
    valid: int = 500,
    held_out: int = 1500,
    lexicon: Path | None = None,
) -> Pronunciations:
    """The pronunciations, split by word; the same seed gives the same split.

    language: of `LANGUAGES`. valid, held_out: how many words each gets; the others are for
    training. lexicon: the database; by default the one inside the installed package.
    Raises UserError when the package is missing, its database cannot be read, or it holds too few
    words for the split.
    """
    path = _installed(language) if lexicon is None else lexicon
    entries, groups = _read(path, language)
    accepted, left_out = _accepted(entries)
    words = sorted(accepted)
    if len(words) <= valid + held_out:
        raise UserError(
            f"{path}: {len(words)} words are too few for {valid} to validate on and {held_out} "
            "to hold out; ask for fewer"
        )
    Random(seed).shuffle(words)
    held, chosen, rest = (
        words[:held_out],
        words[held_out : held_out + valid],
        words[held_out + valid :],
    )
    aligned = [_aligned(word, groups[word], accepted[word]) for word in held if word in groups]
    usable = tuple(one for one in aligned if one is not None)

    def pairs(split: Sequence[str], name: str) -> Pairs:
        every = tuple(Pair(word, phones) for word in split for phones in accepted[word])
        return Pairs(every, origin=f"{_package(language)} ({name})", blank=0)

    return Pronunciations(
        train=pairs(rest, "train"),
        valid=pairs(chosen, "valid"),
        held_out=pairs(held, "held out"),
        aligned=usable,
        unaligned=len(held) - len(usable),
        left_out=left_out,
    )


def _package(language: str) -> str:
    return f"gruut_lang_{language}"


def _repair(language: str) -> str:
    return f"pip install gruut-lang-{language} --force-reinstall brings it back"


def _installed(language: str) -> Path:
    """The lexicon of the installed package, which is not imported. Not the one in espeak/."""
    spec = importlib.util.find_spec(_package(language))
    if spec is None or not spec.submodule_search_locations:
        package = f"gruut-lang-{language}"
        raise UserError(
            f"{LANGUAGES[language]} pronunciations need {package}, which is missing; "
            f"pip install {package}"
        )
    path = Path(next(iter(spec.submodule_search_locations))) / "lexicon.db"
    if not path.is_file():
        raise UserError(f"{path} does not exist; {_repair(language)}")
    return path


def _read(path: Path, language: str) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """All (word, phones) in the package's order, and each word's alignment as it is written.

    Words are in lower case in the one table, and of German not in the other.
    """
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            entries = database.execute(
                "SELECT word, phonemes FROM word_phonemes ORDER BY word, pron_order, id"
            ).fetchall()
            groups = database.execute("SELECT word, alignment FROM g2p_alignments").fetchall()
    except sqlite3.Error as error:
        raise UserError(
            f"{path} is not a readable lexicon ({error}); {_repair(language)}"
        ) from error
    return entries, {word.lower(): alignment for word, alignment in groups}


def _accepted(entries: Iterable[tuple[str, str]]) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The pronunciations of every word that is one, and how many entries were left out and why.

    The package also lists affixes ("-accio"), a digit, the names of letters ("f": "ɛ f f e"), and
    entries in which two readings have run together, which shows in a second main stress.
    """
    accepted: dict[str, list[str]] = {}
    left_out: Counter[str] = Counter()
    for word, phones in entries:
        if not word.isalpha():
            left_out["not only letters"] += 1
        elif len(word) == 1:
            left_out["a single letter"] += 1
        elif phones.count(STRESS) > 1:
            left_out["more than one main stress"] += 1
        else:
            accepted.setdefault(word, []).append(phones)
    return accepted, dict(left_out)


def _aligned(word: str, groups: str, accepted: list[str]) -> AlignedPronunciation | None:
    """A word's links from groups such as "c|h}ˈk" and "x}_"; None when they do not fit it.

    Letters are taken in lower case, as words are.
    """
    letters: list[str] = []
    phones: list[str] = []
    links: set[tuple[int, int]] = set()
    for group in groups.split():
        if "}" not in group:
            return None
        spelled, said = (
            [symbol for symbol in side.split("|") if symbol != NOTHING]
            for side in group.split("}", 1)
        )
        links.update(
            (len(letters) + i, len(phones) + j)
            for i in range(len(spelled))
            for j in range(len(said))
        )
        letters += [letter.lower() for letter in spelled]
        phones += said
    if "".join(letters) != word or len(letters) != len(word) or " ".join(phones) not in accepted:
        return None
    return AlignedPronunciation(Pair(word, " ".join(phones)), Alignment(frozenset(links)))
