"""Word: a written word of a description together with what it says."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A word without spaces, and the roles it plays in the scene.

    roles: what it says outright ("0.noun" is the noun of thing 0, "relation", "verb", ...). Words
        of two languages that share one are surely linked.
    loose: roles it only helps with, such as the reflexive pronoun of a verb: a possible link.
    """

    text: str
    roles: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()


Sentence = tuple[Word, ...]


def sentence(words: Iterable[Word]) -> Sentence:
    """Capitalize the first word and end the last one with a period, as people write.

    The words that carry the periods of two languages are possibly linked.
    """
    first, *rest, last = words
    capital = Word(first.text[0].upper() + first.text[1:], first.roles, first.loose)
    return (capital, *rest, Word(last.text + ".", last.roles, (*last.loose, "period")))


def end_with(mark: str, words: Sentence) -> Sentence:
    """The words with a punctuation mark written onto the last one."""
    last = words[-1]
    return (*words[:-1], Word(last.text + mark, last.roles, last.loose))


def text(words: Iterable[Word]) -> str:
    """The line as it is written into a file."""
    return " ".join(word.text for word in words)
