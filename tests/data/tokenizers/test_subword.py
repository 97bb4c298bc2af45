from dataclasses import replace
from typing import Literal

import pytest

from regard.data.special import END, UNKNOWN
from regard.data.tokenizers import seed_sampling
from regard.data.tokenizers.normalization import Normalizer
from regard.data.tokenizers.subword import SubwordTokenizer
from regard.errors import UserError

from .texts import SENTENCES, nasty_texts

Algorithm = Literal["unigram", "bpe"]
both = pytest.mark.parametrize("algorithm", ["unigram", "bpe"])


def train(
    texts: list[str], size: int = 200, algorithm: Algorithm = "unigram", sampling: float = 0
) -> SubwordTokenizer:
    return SubwordTokenizer.train(
        texts, Normalizer(), size=size, algorithm=algorithm, sampling=sampling
    )


@both
@pytest.mark.parametrize(
    "texts", [["a"], ["a", "b"], ["a b c"], ["x" * 500], ["aaaa"], ["a\tb"], ["\u2585"], ["1 1"]]
)
def test_small_data_shrink_the_vocabulary(texts: list[str], algorithm: Algorithm) -> None:
    tokenizer = train(texts, 8000, algorithm)
    assert tokenizer.size < 60
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text


@both
def test_the_size_is_what_was_asked_for(algorithm: Algorithm) -> None:
    assert train(nasty_texts(300, seed=6), 150, algorithm).size == 150


@both
def test_too_small_a_size_names_the_key_and_the_least(algorithm: Algorithm) -> None:
    texts = ["abc de", "f\tg"]  # eight characters, the space mark and four specials
    with pytest.raises(UserError, match=r"^size is 12, but .* need 13; set it to 13 or more"):
        train(texts, 12, algorithm)
    tokenizer = train(texts, 13, algorithm)
    assert tokenizer.size == 13
    assert [tokenizer.decode(tokenizer.encode(text)) for text in texts] == texts


@both
def test_no_line_is_too_long_to_learn_from(algorithm: Algorithm) -> None:
    words = (f"word{number} " for number in range(1000))
    long = "".join(words) + "Ω"  # sentencepiece leaves out lines over 4,192 bytes by default
    tokenizer = train([*SENTENCES, long], algorithm=algorithm)
    assert UNKNOWN not in tokenizer.encode(long)


def test_frequent_words_are_one_piece() -> None:
    tokenizer = train(["the cat saw the dog", "the dog saw the bird"] * 20, 60, "bpe")
    assert tokenizer.tokenize("the dog").tokens == ("▁the", "▁dog")


def test_a_mark_of_its_own_belongs_to_the_word_it_begins() -> None:
    tokenizer = train(["abc abd", "cab dab"], 12)
    tokenized = tokenizer.tokenize("a ☃b")
    at = tokenized.tokens.index("☃")
    assert tokenized.tokens[at - 1] == "▁"
    assert tokenized.words[at - 1 : at + 1] == (1, 1)


def test_a_generated_mark_without_a_word_belongs_to_none() -> None:
    tokenizer = train(["abc abd", "cab dab"], 12)
    mark = tokenizer.token_ids(["▁"])[0]
    ids = [*tokenizer.encode("ab"), mark, mark, *tokenizer.encode("c"), mark, END]
    described = tokenizer.describe(ids)
    assert tokenizer.decode(ids) == "ab c"
    assert described.words[-2:] == (-1, -1)
    assert max(described.words) == 1


@pytest.mark.parametrize("noncharacter", ["\ufdd0", "\ufdd3", "\ufddf", "\ufdef"])
def test_noncharacters_are_unknown(noncharacter: str) -> None:
    tokenizer = train(["a" + noncharacter + "\tb\u2585", *SENTENCES])
    tokenized = tokenizer.tokenize(f"a {noncharacter} b")
    assert tokenized.tokens[tokenized.ids.index(UNKNOWN)] == noncharacter
    assert tokenizer.decode(tokenizer.encode("a\tb")) == "a\tb"


def test_texts_without_any_character_to_learn() -> None:
    with pytest.raises(UserError, match="the training data hold no character to make subwords of"):
        train(["\ufdd0"])
    with pytest.raises(UserError, match="the training data hold no character to make subwords of"):
        train([])


def test_the_word_mark_in_a_text_is_no_space() -> None:
    tokenizer = train(["a▁b", "▁", *SENTENCES])
    assert tokenizer.decode(tokenizer.encode("a▁b ▁ c▁")) == "a▁b ▁ c▁"
    assert tokenizer.token_ids(["▁dog"]) != tokenizer.token_ids(["dog"])


@both
class TestSampling:
    texts = list(SENTENCES) * 10

    def test_other_segmentations_of_the_same_text(self, algorithm: Algorithm) -> None:
        tokenizer = train(self.texts, 200, algorithm, sampling=0.2)
        sampled = tokenizer.sample_all(self.texts)
        assert (
            sum(a != b for a, b in zip(sampled, tokenizer.encode_all(self.texts), strict=True)) > 60
        )
        assert [tokenizer.decode(ids) for ids in sampled] == self.texts
        assert len({tuple(tokenizer.sample(self.texts[0])) for _ in range(50)}) > 5

    def test_the_seed_decides(self, algorithm: Algorithm) -> None:
        tokenizer = train(self.texts, 200, algorithm, sampling=0.2)

        def draw(seed: int) -> list[list[int]]:
            seed_sampling(seed)
            return [*tokenizer.sample_all(self.texts), tokenizer.sample(self.texts[0])]

        first = draw(7)
        other = draw(8)
        assert draw(7) == first
        assert other != first
        assert tokenizer.sample_all(self.texts) != tokenizer.sample_all(self.texts)

    def test_use_is_not_sampled(self, algorithm: Algorithm) -> None:
        plain = train(self.texts, 200, algorithm)
        sampling = replace(plain, sampling=0.5)
        assert sampling.encode_all(self.texts) == plain.encode_all(self.texts)
        assert sampling.tokenize(self.texts[0]) == plain.tokenize(self.texts[0])


def test_training_and_loading_say_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    train(["a"], 8000).encode("a")
    train(["a"], 8000, "bpe").encode("a")
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_words_are_the_same_whatever_stands_between_them(form: Literal["NFC", "NFKC"]) -> None:
    """Single spaces are read word by word, all else character by character."""
    tokenizer = SubwordTokenizer.train(SENTENCES, Normalizer(form), size=150)
    for text in ("ﬁn é ½ a", "e\u0301e ¨ x", "▁ a▁b ▁", "Größe 日本", "a"):
        read = tokenizer.tokenize(text)
        spaced = tokenizer.tokenize(f"  {text} ".replace(" ", "  "))
        assert (spaced.ids, spaced.tokens, spaced.words) == (read.ids, read.tokens, read.words)
        assert max(read.words) == len(text.split()) - 1
