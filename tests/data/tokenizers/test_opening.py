"""Symbols never seen get ids of their own sentence, and come back as what they were."""

import pytest

from regard.data.batches import encode_pairs
from regard.data.configuration import TokenizationConfiguration
from regard.data.pairs import Pair, Pairs
from regard.data.special import END, UNKNOWN
from regard.data.tokenizers import (
    Tokenizers,
    copy_table,
    open_source,
    open_target,
    train_tokenizers,
)

PAIRS = Pairs((Pair("a b c", "b c d"), Pair("c e", "d e")), "here")


def tokenizers(source: str, target: str = "", *, joint: bool = False, **more: object) -> Tokenizers:
    sides = {"joint": joint, "source": {"kind": source, **more}}
    sides["target"] = {"kind": target or source, **more}
    return train_tokenizers(TokenizationConfiguration.model_validate(sides), PAIRS)


def opened(both: Tokenizers, text: str) -> tuple[list[int], tuple[str, ...]]:
    ids = both.source.encode(text)
    found = open_source(both, text, [*ids, END])
    assert found.ids[-1] == END and len(found.ids) == len(ids) + 1
    return list(found.ids[:-1]), found.symbols


@pytest.mark.parametrize("kind", ["character", "space"])
def test_numbers_go_by_first_appearance(kind: str) -> None:
    both = tokenizers(kind, joint=True)
    ids, symbols = opened(both, "x a y x z a" if kind == "space" else "xayxza")
    (a,) = both.source.encode("a")
    first = both.source.size + both.target.size
    assert symbols == ("x", "y", "z")
    assert ids == [first, a, first + 1, first, first + 2, a]


@pytest.mark.parametrize("kind", ["character", "space"])
def test_the_target_reads_and_writes_them(kind: str) -> None:
    both = tokenizers(kind, joint=True)
    target = open_target(both.target, ("x", "yż"[: 1 if kind == "character" else 2]))
    x, y = both.target.size, both.target.size + 1
    text = "xay" if kind == "character" else "x a yż"
    ids = [x, *both.target.encode("a"), y]
    assert target.encode(text) == ids and target.decode(ids) == text
    shown = target.describe([*ids, END])
    assert shown.tokens == (*(text if kind == "character" else text.split()), "</s>")
    assert target.token_ids(shown.tokens) == [*ids, END]
    assert both.target.encode(text).count(UNKNOWN) == 2  # and the vocabulary is what it was
    assert open_target(both.target, ()) is both.target


def test_what_only_the_source_never_saw_is_what_it_is_to_the_target() -> None:
    both = tokenizers("space")
    ids, symbols = opened(both, "d x a")
    (d,) = both.target.encode("d")
    size = both.source.size
    assert ids == [size + d, size + both.target.size, *both.source.encode("a")]
    assert symbols == ("x",)


def test_texts_that_look_like_specials_are_symbols() -> None:
    both = tokenizers("space")
    ids, symbols = opened(both, "</s> <unk> <pad> </s>")
    first = both.source.size + both.target.size
    assert ids == [first, first + 1, first + 2, first] and symbols == ("</s>", "<unk>", "<pad>")
    target = open_target(both.target, symbols)
    assert target.decode([number - both.source.size for number in ids]) == "</s> <unk> <pad> </s>"


def test_symbols_are_as_they_are_read() -> None:
    """Composed, as the tokenizer has it, and in lower case where it has that."""
    both = tokenizers("character", joint=True, lowercase=True)
    _, symbols = opened(both, "Z\u0307Ż")
    assert symbols == ("ż",)


def test_nothing_unseen_nothing_opened() -> None:
    both = tokenizers("character", joint=True)
    assert opened(both, "abc") == (both.source.encode("abc"), ())


@pytest.mark.parametrize(
    ("source", "target"), [("subword", "subword"), ("space", "character"), ("character", "space")]
)
def test_kinds_that_cannot_be_opened(source: str, target: str) -> None:
    sides = {
        "joint": False,
        **{
            name: {"kind": kind, "size": 30}
            for name, kind in (("source", source), ("target", target))
        },
    }
    both = train_tokenizers(TokenizationConfiguration.model_validate(sides), PAIRS)
    ids, symbols = opened(both, "a ☃ c")
    assert UNKNOWN in ids and symbols == ()


def test_the_table_of_two_vocabularies() -> None:
    both = tokenizers("space")
    table = copy_table(both)
    assert table[:4] == [-1] * 4 and len(table) == both.source.size
    for symbol in "abce":
        (number,), (written,) = both.source.encode(symbol), both.target.encode(symbol)
        assert table[number] == (-1 if written == UNKNOWN else written)
    assert table[both.source.encode("a")[0]] == -1  # the target never had it


def test_the_table_of_one_vocabulary() -> None:
    both = tokenizers("character", joint=True)
    assert copy_table(both) == [-1] * 4 + list(range(4, both.source.size))


def test_features_are_never_copied_and_never_opened() -> None:
    """A feature that looks like a letter, or that was never seen, is no letter."""
    pairs = Pairs((Pair("ab", "abb", "a;N"), Pair("ba", "b", "PL")), "here")
    configuration = TokenizationConfiguration.model_validate(
        {"source": {"kind": "character"}, "target": {"kind": "character"}, "features": {}}
    )
    both = train_tokenizers(configuration, pairs)
    assert both.features is not None
    first = both.features.first
    assert copy_table(both) == [-1] * 4 + list(range(4, first)) + [-1] * both.features.size
    asked = [Pair("xab", "xx", "a;DU")]
    (example,) = encode_pairs(asked, both, opened=True)
    features = both.features.encode("a;DU")
    x = both.target.size
    ab = both.target.encode("ab")
    assert example.source == (*features, both.source.size + x, *ab, END)
    assert example.target == (x, x, END)
    assert both.features.first in features  # the one that was never seen


def test_pairs_are_opened_on_both_sides() -> None:
    """A target's symbol that its own source has not stays unknown."""
    both = tokenizers("character", joint=True)
    pairs = [Pair("xay", "yzx"), Pair("abc", "x"), Pair("z", "zb")]
    plain, found = encode_pairs(pairs, both), encode_pairs(pairs, both, opened=True)
    x = both.target.size
    assert found[0].target == (x + 1, UNKNOWN, x, END)
    assert found[1] == plain[1] and found[1].target == (UNKNOWN, END)
    assert found[2].source == (both.source.size + x, END)
    assert found[2].target == (x, *both.target.encode("b"), END)
