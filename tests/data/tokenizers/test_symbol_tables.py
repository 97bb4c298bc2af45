"""Characters and symbols between spaces."""

from regard.data.special import UNKNOWN
from regard.data.tokenizers.character import CharacterTokenizer
from regard.data.tokenizers.normalization import Normalizer
from regard.data.tokenizers.space import SpaceTokenizer
from regard.data.tokenizers.symbols import SymbolTable


def test_symbols_are_in_order_of_count_then_code_point() -> None:
    table = SymbolTable.count(["bca", "ab", "ad"])
    assert table.symbols == ("a", "b", "c", "d")
    assert table.ids == {"a": 4, "b": 5, "c": 6, "d": 7}
    assert len(table) == 8


def test_rare_symbols_are_left_out() -> None:
    assert SymbolTable.count(["aab"], minimum_count=2).symbols == ("a",)
    characters = CharacterTokenizer.train(["aab"], Normalizer(), minimum_count=2)
    assert characters.encode("ab") == [4, UNKNOWN]
    phones = SpaceTokenizer.train(["t͡s a", "t͡s b"], Normalizer(), minimum_count=2)
    assert phones.encode("t͡s a") == [4, UNKNOWN]


def test_characters_keep_every_space() -> None:
    tokenizer = CharacterTokenizer.train(["a b"], Normalizer())
    text = "  a   b "
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.tokenize(text).words == (-1, -1, 0, -1, -1, -1, 1, -1)


def test_symbols_are_split_at_spaces_alone() -> None:
    tokenizer = SpaceTokenizer.train(["t͡ʃ  a\u00a0b c\td "], Normalizer())
    assert sorted(tokenizer.table.symbols) == ["a\u00a0b", "c\td", "t͡ʃ"]
    tokenized = tokenizer.tokenize(" t͡ʃ  a\u00a0b c\td")
    assert tokenized.tokens == ("t͡ʃ", "a\u00a0b", "c\td")
    assert tokenized.words == (0, 1, 3)  # of t͡ʃ, a, b, c, d
    assert tokenizer.decode(tokenized.ids) == "t͡ʃ a\u00a0b c\td"


def test_symbols_named_like_specials_are_symbols() -> None:
    tokenizer = SpaceTokenizer.train(["<unk> </s> a"], Normalizer())
    ids = tokenizer.encode("</s> <unk> a")
    assert min(ids) > 3
    assert tokenizer.decode(ids) == "</s> <unk> a"
    assert tokenizer.token_ids(tokenizer.describe(ids).tokens) == ids
