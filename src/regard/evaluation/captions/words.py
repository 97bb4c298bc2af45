"""Words as METEOR sees them: tokens cut further, stems, and which words are function words."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

#: English words with more than a thousandth of a large corpus, as METEOR 1.5 lists them (Denkowski
#: and Lavie 2011, section 3.2), with the signs among them that can be left of a caption.
_FUNCTION_WORDS = (
    "the to of and a in that for is on it with was as said at he be by from have has are his but "
    "an this not i will they who their had we which were been more or s its would about new one "
    "after you also up when there than all out her people she year two can if last first over "
    "other into some what so no time years could 's 't ' . : $ -lrb- -rrb-"
)
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())

_LETTER = r"[^\W\d_]"
# METEOR's own tokenizer: signs stand alone, an apostrophe inside a word begins another, and words
# are cut at hyphens.
_RULES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([^\w\s.',-]|_)", r" \1 "),
        (r"(?<!\d),|,(?!\d)", r" , "),
        (rf"(?<!{_LETTER})'|'(?!{_LETTER})", r" ' "),
        (r"(\w)'(\w)", r"\1 '\2"),
        (r"([\w.])-(\w)", r"\1 \2"),
    )
)


def meteor_words(tokens: Sequence[str]) -> list[str]:
    """The words of a caption's tokens."""
    text = " ".join(tokens)
    if not text.replace(" ", "").isalnum():
        for pattern, replacement in _RULES:
            text = pattern.sub(replacement, text)
    words = text.split()
    if "." in text:
        last = len(words) - 1
        return [part for at, word in enumerate(words) for part in _periods(word, at == last)]
    return words


def _periods(word: str, is_last: bool) -> list[str]:
    """A word without the periods of initials, and parted from the one that ends the text."""
    before, ending = word[:-1], word[-1]
    if ending != "." or not before:
        return [word]
    if "." in before:
        return [word.replace(".", "")]
    return [before, "."] if is_last else [word]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The Snowball stem of an English word (Porter2)."""
    return str(_stemmer().stemWord(word))


def stemmer_version() -> str:
    """The version of the package that makes the stems."""
    from importlib.metadata import version

    return version("snowballstemmer")


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")
