import pytest

from regard.data.configuration import TokenizationConfiguration
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import Tokenizer, named, train_tokenizers, unseen_symbols

PAIRS = Pairs(tuple(Pair(f"the {word}", word) for word in ("cat", "hat", "chat", "tea")), "x")


def tokenizer(**side: object) -> Tokenizer:
    configuration = {"joint": False, "source": side, "target": {"kind": "character"}}
    return train_tokenizers(TokenizationConfiguration.model_validate(configuration), PAIRS).source


def test_characters() -> None:
    characters = tokenizer(kind="character")
    assert unseen_symbols(characters, "the cat") == ()
    assert unseen_symbols(characters, "☃ the ☃ żat") == ("☃", "ż")
    assert unseen_symbols(characters, "z\u0307") == ("ż",)  # as it is read
    assert unseen_symbols(characters, "") == ()


def test_symbols_between_spaces() -> None:
    assert unseen_symbols(tokenizer(kind="space"), "the tʃ  cat tʃ") == ("tʃ",)


def test_subwords() -> None:
    found = unseen_symbols(tokenizer(kind="subword", size=24), "the ☃ cat")
    assert "".join(found).strip("▁") == "☃"


@pytest.mark.parametrize("tokens", [["t", "☃", "</s>"], ["<unk>", "☃", "t"]])
def test_tokens(tokens: list[str]) -> None:
    expected = tuple(token for token in tokens if token in ("☃", "<unk>"))
    assert unseen_symbols(tokenizer(kind="character"), tokens) == expected


def test_names_that_can_be_seen() -> None:
    assert named(["☃", "tʃ"]) == "☃, tʃ"
    assert named(["\u0301", "\u200e", "\u00a0", "a\u200eb", ","]) == (
        "U+0301, U+200E, U+00A0, U+0061 U+200E U+0062, U+002C"
    )
    assert named("abcdefghij", most=8) == "a, b, c, d, e, f, g, h and 2 more"
    assert named("ab", most=1) == "a and 1 more"
