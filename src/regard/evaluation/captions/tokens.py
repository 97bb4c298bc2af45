"""Tokens of captions, as COCO's evaluation cuts them: Penn Treebank's rules, lower case, no marks.

COCO's evaluation (Chen et al. 2015, arXiv 1504.00325) runs a Java program, Stanford's PTBTokenizer,
and leaves out punctuation. These are the same rules, for captions in English. Texts in other
languages are cut at spaces and marks.
"""

import re
import unicodedata
from functools import cache

# Abbreviations keep their period: titles and units; months, days, American states, companies and
# streets; and those that are words too, and so must begin with a capital.
_ABBREVIATIONS = (
    "adj adm adv alex assoc asst atty ave brig capt cf cmdr col comdr cpl dept dr ens ft gen gov "
    "govs hon insp invt jos lieut lt maj mfg mlle mme mr mrs ms msgr mt mtg natl pfc ph ph.d pres "
    "prof profs pvt rep reps rev sen sens sgt st ste supt treas vs wm "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri al ala ariz "
    "calif colo conn ct dak fla ga ind kan kans ky md mich minn mo mont neb nev okla penn tenn va "
    "vt wis wisc wyo assn bldg blvd bros co corp cos esq est etc ext inc jr ltd rd rt seq sq sr "
    "tel univ"
)
_CAPITALS = "Ark Az Del Ill La Mass Miss Ore Pa Tex Wash"
# Behind a single letter and its period, these words begin a sentence: "so did I. The dog".
_OPENERS = (
    "A About According After An As At But He Her Here However If In It Last Many More Now Once One "
    "Our She Since So Some Such That The Their Then There These They This We What When While You"
)

_LETTER = r"[^\W\d_]"
_END = r"(?![^\W_])"  # neither a letter nor a digit follows
_SIGN = "SIGN"  # a vowel sign or an accent that is a character of its own: see _pattern
_WORD = rf"{_LETTER}(?:[^\W_]|{_SIGN})*"
_CLITIC = rf"'(?i:[smd]|re|ve|ll){_END}"
_CAPITAL = "|".join(f"{each[0]}(?i:{each[1:]})" for each in _CAPITALS.split())
_SENTENCE = rf"\s+(?:{'|'.join(_OPENERS.split())})\b"

#: What is a token, in the order in which it is tried. Marks that nothing here matches are left out.
_TOKENS = (
    # most words: what follows are the words that are two tokens, and those with marks inside
    r"(?!(?i:cannot|gonna|gotta|wanna|lemme|gimme))[A-Za-z]+(?=,?(?:\s|$))",
    r"(?i:can(?=not\b)|(?<=can)not\b|gon(?=na\b)|got(?=ta\b)|wan(?=na\b)|(?<=gon|got|wan)[nt]a\b)",
    r"(?i:(?:lem|gim)(?=me\b)|(?<=lem|gim)me\b)",
    # addresses and tags
    r"(?:https?://|www\.|[\w.-]+\.(?:com|net|org|edu)/)[^\s<>\"]*[^\s<>\"'.,;:!?)\]]",
    r"[\w.%+-]+@[\w-]+(?:\.[\w-]+)*",
    r"<[!?/]?[A-Za-z][^<>]*>",
    # what begins with an apostrophe, and words with apostrophes inside
    rf"{_CLITIC}|(?i:n't){_END}|'(?i:t(?=is|was)|em|till?|cause|n'|n{_END}|\d\ds?{_END})",
    rf"(?i:(?:ol|somethin|dunkin)'|(?:ma'am|c'mon|nor'easter|e'er|s'mores|ev'ry|li'l|nat'l){_END})",
    rf"[A-HJ-XZn]'(?!(?i:re|ve|ll){_END}){_LETTER}{{2,}}",
    rf"{_LETTER}+[aeiouyAEIOUY](?!{_CLITIC})'[aeiouA-Z]{_LETTER}*",
    rf"[jyJY](?!{_CLITIC})'(?=[A-Za-z])|{_LETTER}+?(?=(?i:n't){_END})",
    # fractions and dates
    rf"\d{{1,4}}-\d{{1,4}}/\d{{1,4}}{_END}|\d\d?[-/]\d\d?[-/]\d{{2,4}}{_END}",
    # initials and abbreviations
    rf"[A-Za-z](?:\.(?!{_LETTER}|{_SENTENCE})|(?:\.[A-Za-z])+\.(?!{_LETTER}))",
    rf"(?:(?i:{'|'.join(_ABBREVIATIONS.split())})|{_CAPITAL})\.(?!{_LETTER})|(?i:nos?)\.(?=\s*\d)",
    # compounds
    r"[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}(?:\\?/[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}){1,2}",
    r"[A-Za-z0-9][A-Za-z0-9.,]*(?:-[A-Za-z0-9]+)+",
    r"[A-Z]+(?:(?:&amp;|[+&])[A-Z]+)+",
    # words with marks inside, with a period before a comma, and all others
    rf"[A-Z]*\$|{_WORD}(?:[.!?]{_WORD})+|{_WORD}\.(?=\s*[,;:])",
    rf"(?:[dDoOlL](?!{_CLITIC})'(?={_LETTER}))?{_WORD}(?:[-_][^\W_]+)*",
    # numbers, and what begins with digits
    r"[-+]?\d*(?:[.,:]\d+)+|[^\W_]+(?:[-_][^\W_]+)*|[-+]\d+",
    # the rest: what is not a mark of punctuation stands alone
    r"&amp;|[@#][A-Za-z]\w*|[?!]{2,}|_+|\*+",
    r"[^\s\w.,:;?!'\"`‘’“”«»‹›–—…\U00010000-\U0010FFFF-]",
)

_BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
_SYMBOLS = {"€": "$", "£": "#", "¢": "cents", "½": "1/2", "¼": "1/4", "¾": "3/4"}
_WRITTEN = _BRACKETS | _SYMBOLS


def caption_tokens(text: str) -> list[str]:
    """The tokens of a caption, in lower case; none for one of marks alone."""
    plain = text.replace("\u2019", "'").replace("\u00ad", "")  # apostrophes; soft hyphens
    tokens = (match.group().replace("&amp;", "&").lower() for match in _pattern().finditer(plain))
    return " ".join(_WRITTEN.get(token, token) for token in tokens).split()


@cache
def _pattern() -> re.Pattern[str]:
    signs = "".join(
        character
        for character in map(chr, range(0x300, 0x10000))
        if unicodedata.category(character).startswith("M")
    )
    return re.compile("|".join(_TOKENS).replace(_SIGN, f"[{signs}]"))
