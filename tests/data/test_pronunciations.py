"""Italian words and phones: real, clean, split by word, with links that fit."""

import importlib.util
import sqlite3
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest

from regard.data.pairs import Pairs
from regard.data.pronunciations import Pronunciations, read_pronunciations
from regard.errors import UserError
from regard.evaluation.alignment import alignment_error_rate, diagonal

INSTALLED = importlib.util.find_spec("gruut_lang_it") is not None
real = pytest.mark.skipif(not INSTALLED, reason="gruut-lang-it is not installed")


@pytest.fixture(scope="module")
def italian() -> Pronunciations:
    return read_pronunciations(1)


def _words(pairs: Pairs) -> set[str]:
    return set(pairs.sources())


@real
def test_splits_are_by_word_and_of_the_asked_sizes(italian: Pronunciations) -> None:
    train, valid, held_out = map(_words, (italian.train, italian.valid, italian.held_out))
    assert (len(valid), len(held_out)) == (500, 1500)
    assert len(train) > 26_000
    assert not train & valid and not train & held_out and not valid & held_out
    assert len(italian.train) > len(train)
    sources, targets = italian.held_out.references()
    assert len(sources) == 1500
    assert any(len(accepted) > 1 for accepted in targets)


@real
def test_same_seed_same_split(italian: Pronunciations) -> None:
    assert read_pronunciations(1) == italian
    other = read_pronunciations(2)
    assert _words(other.held_out) != _words(italian.held_out)
    everything = [_words(p.train) | _words(p.valid) | _words(p.held_out) for p in (italian, other)]
    assert everything[0] == everything[1]


@real
def test_words_and_phones_are_clean(italian: Pronunciations) -> None:
    for pairs in (italian.train, italian.valid, italian.held_out):
        assert len(set(pairs.pairs)) == len(pairs)
        for pair in pairs:
            assert pair.source.isalpha() and len(pair.source) > 1
            assert pair.source == pair.source.lower()
            assert unicodedata.is_normalized("NFC", pair.source + pair.target)
            assert pair.target == " ".join(pair.target.split()) != ""
            assert pair.target.count("ˈ") <= 1
    known = {phone for pair in italian.train for phone in pair.target.split()}
    assert "ˈt͡s" in known and "ˈ" not in known


@real
def test_known_words(italian: Pronunciations) -> None:
    parts = (italian.train, italian.valid, italian.held_out)
    pairs = {(pair.source, pair.target) for part in parts for pair in part}
    assert ("cantonese", "k a n t o ˈn e s e") in pairs
    words = {word for word, _ in pairs}
    assert not words & {"-accio", "po'", "6", "–itano", "f"}
    assert "architetto" not in words  # its one entry is two that ran together
    assert sum(italian.left_out.values()) + len(pairs) == 29_487


@real
def test_links_fit_their_words(italian: Pronunciations) -> None:
    accepted = dict(zip(*italian.held_out.references(), strict=True))
    assert len(italian.aligned) + italian.unaligned == 1500
    assert italian.unaligned < 30
    assert len({one.pair.source for one in italian.aligned}) == len(italian.aligned)
    for one in italian.aligned:
        assert one.pair.target in accepted[one.pair.source]
        phones = one.pair.target.split()
        assert {j for _, j in one.alignment.sure} == set(range(len(phones)))
        assert max(i for i, _ in one.alignment.sure) < len(one.pair.source)
        assert not one.alignment.possible
    links = [
        (one.pair.source[i], one.pair.target.split()[j].strip("ˈˌ"))
        for one in italian.aligned
        for i, j in one.alignment.sure
        if one.pair.source[i] in "bdfmpqrtv"
    ]
    same = sum(phone == {"q": "k"}.get(letter, letter) for letter, phone in links)
    assert same > 0.99 * len(links) > 1000


@real
def test_the_diagonal_is_good_at_italian_but_not_where_letters_and_phones_differ(
    italian: Pronunciations,
) -> None:
    def error(aligned: list) -> float:  # type: ignore[type-arg]
        sure = [one.alignment.sure for one in aligned]
        guess = [diagonal(len(one.pair.source), len(one.pair.target.split())) for one in aligned]
        return alignment_error_rate(guess, sure, [frozenset()] * len(sure))

    uneven = [o for o in italian.aligned if len(o.pair.source) != len(o.pair.target.split())]
    assert 0.02 < error(list(italian.aligned)) < 0.06
    assert error(uneven) > 0.12


def _lexicon(path: Path, entries: list[tuple[str, str]], groups: dict[str, str]) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE word_phonemes (id INTEGER PRIMARY KEY, word TEXT, pron_order INTEGER, "
            "phonemes TEXT, role TEXT)"
        )
        database.execute("CREATE TABLE g2p_alignments (id INTEGER, word TEXT, alignment TEXT)")
        for order, (word, phones) in enumerate(entries):
            row = (word, order, phones, "")
            database.execute(
                "INSERT INTO word_phonemes (word, pron_order, phonemes, role) VALUES (?, ?, ?, ?)",
                row,
            )
        database.executemany("INSERT INTO g2p_alignments VALUES (0, ?, ?)", groups.items())
        database.commit()
    return path


def test_links_come_from_the_groups_and_what_does_not_fit_is_counted(tmp_path: Path) -> None:
    entries = [
        ("chiedo", "ˈk j ɛ d o"),
        ("hai", "ˈa i"),
        ("pizza", "ˈp i t t͡s a"),
        ("pizza", "ˈp i t͡s a"),
        ("wrong", "ˈv r ɔ n ɡ"),
        ("other", "ˈɔ t e r"),
        ("bare", "ˈb a r e"),
        ("broken", "b r o"),
        ("train", "t r a i n"),
    ]
    groups = {
        "chiedo": "c|h}ˈk i}j e}ɛ d}d o}o",
        "hai": "h}_ a}ˈa i}i",
        "pizza": "p}ˈp i}i z|z}t|t͡s a}a",
        "wrong": "w}ˈv r}r o}ɔ n}n",  # does not spell the word
        "other": "o}o t}t h}_ e}e r}r",  # is not its pronunciation
        "broken": "b r}r",
    }
    lexicon = _lexicon(tmp_path / "lexicon.db", entries, groups)
    for seed in range(4):
        found = read_pronunciations(seed, valid=0, held_out=7, lexicon=lexicon)
        lines = {one.pair.source: one.alignment.pharaoh() for one in found.aligned}
        held = _words(found.held_out)
        expected = {
            "chiedo": "0-0 1-0 2-1 3-2 4-3 5-4",
            "hai": "1-0 2-1",
            "pizza": "0-0 1-1 2-2 2-3 3-2 3-3 4-4",
        }
        assert lines == {word: line for word, line in expected.items() if word in held}
        assert found.unaligned == 7 - len(lines)
        assert len(found.train) >= 1 and len(found.valid) == 0


def test_german_alignments_may_be_in_upper_case(tmp_path: Path) -> None:
    entries = [("aals", "ʔ aː l s"), ("abrupt", "ʔ a p ʁ ʊ p t"), ("train", "t ʁ eː n")]
    groups = {"Aals": "A}ʔ a}aː l}l s}s", "abrupt": "a}ʔ|a b}p r}ʁ u}ʊ p}p t}t"}
    lexicon = _lexicon(tmp_path / "lexicon.db", entries, groups)
    seen: dict[str, str] = {}
    for seed in range(4):
        found = read_pronunciations(seed, language="de", valid=0, held_out=2, lexicon=lexicon)
        seen |= {one.pair.source: one.alignment.pharaoh() for one in found.aligned}
        assert found.held_out.origin == "gruut_lang_de (held out)"
    assert seen == {"aals": "0-0 1-1 2-2 3-3", "abrupt": "0-0 0-1 1-2 2-3 3-4 4-5 5-6"}


def test_entries_that_are_no_words_are_left_out_and_counted(tmp_path: Path) -> None:
    entries = [
        ("-ata", "a t a"),
        ("po'", "ˈp ɔ"),
        ("6", "s ɛ j"),
        ("al fine", "a l f i n e"),
        ("f", "ˈɛ f f e"),
        ("coso", "ˈk ɔ s o"),
        ("coso", "ˈk ɔ z o o ˈk ɔ s o"),
        ("perché", "p e r ˈk e"),
    ]
    found = read_pronunciations(
        valid=0, held_out=1, lexicon=_lexicon(tmp_path / "lexicon.db", entries, {})
    )
    assert found.left_out == {
        "not only letters": 4,
        "a single letter": 1,
        "more than one main stress": 1,
    }
    assert {*found.train.pairs, *found.held_out.pairs} == {
        pair
        for pair in (*found.train, *found.held_out)
        if (pair.source, pair.target) in (("coso", "ˈk ɔ s o"), ("perché", "p e r ˈk e"))
    }
    assert len(found.train) + len(found.held_out) == 2


def test_too_few_words_for_the_split_is_an_error(tmp_path: Path) -> None:
    lexicon = _lexicon(tmp_path / "lexicon.db", [("uno", "u n o"), ("due", "d u e")], {})
    with pytest.raises(UserError, match="2 words are too few for 1 to validate on and 1 to hold"):
        read_pronunciations(valid=1, held_out=1, lexicon=lexicon)


def test_a_missing_package_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install gruut-lang-it$"):
        read_pronunciations()
    with pytest.raises(UserError, match=r"German .* pip install gruut-lang-de$"):
        read_pronunciations(language="de")


@pytest.mark.parametrize("data", [b"not a database at all" * 100, b""])
def test_a_damaged_lexicon_is_named(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a b%20c.db").write_bytes(data)
    with pytest.raises(UserError, match=r"a b%20c\.db is not a readable lexicon"):
        read_pronunciations(lexicon=tmp_path / "a b%20c.db")
    with pytest.raises(UserError, match="is not a readable lexicon"):
        read_pronunciations(lexicon=tmp_path / "missing.db")
    assert not (tmp_path / "missing.db").exists()


@real
def test_the_package_itself_is_not_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from regard.data.pronunciations import read_pronunciations; "
        "read_pronunciations(); print({'gruut_lang_it', 'torch'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
