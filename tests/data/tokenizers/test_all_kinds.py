"""What holds for every kind of tokenizer."""

import unicodedata
from collections.abc import Callable
from typing import Any, Literal

import pytest

from regard.data.special import END, PAD, START, UNKNOWN
from regard.data.tokenizers.character import CharacterTokenizer
from regard.data.tokenizers.normalization import Normalizer
from regard.data.tokenizers.protocol import Tokenizer
from regard.data.tokenizers.space import SpaceTokenizer
from regard.data.tokenizers.subword import SubwordTokenizer

from .texts import SENTENCES, nasty_texts

TRAINING = [*nasty_texts(300, seed=1), *SENTENCES]
Make = Callable[..., Tokenizer]


def subwords(algorithm: Literal["unigram", "bpe"]) -> Make:
    def make(texts: list[str] | None = None, **normalization: Any) -> Tokenizer:
        normalizer = Normalizer(**normalization)
        return SubwordTokenizer.train(texts or TRAINING, normalizer, size=300, algorithm=algorithm)

    return make


def symbols(kind: type[CharacterTokenizer] | type[SpaceTokenizer]) -> Make:
    def make(texts: list[str] | None = None, **normalization: Any) -> Tokenizer:
        return kind.train(texts or TRAINING, Normalizer(**normalization))

    return make


KINDS: dict[str, Make] = {
    "unigram": subwords("unigram"),
    "bpe": subwords("bpe"),
    "character": symbols(CharacterTokenizer),
    "space": symbols(SpaceTokenizer),
}
_made: dict[str, Tokenizer] = {}


@pytest.fixture(params=list(KINDS))
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    if request.param not in _made:
        _made[request.param] = KINDS[request.param]()
    return _made[request.param]


@pytest.fixture(params=list(KINDS))
def make(request: pytest.FixtureRequest) -> Make:
    return KINDS[request.param]


SEEN = set().union(*(unicodedata.normalize("NFC", text) for text in TRAINING))
OTHERS = [
    text for text in nasty_texts(400, seed=2) if SEEN.issuperset(unicodedata.normalize("NFC", text))
]


def texts_of(tokenizer: Tokenizer) -> list[str]:
    """Texts of seen symbols: for `space` only whole words of training are."""
    return TRAINING if tokenizer.kind == "space" else OTHERS


def test_every_text_of_seen_symbols_comes_back(tokenizer: Tokenizer) -> None:
    assert len(OTHERS) > 300
    for text in texts_of(tokenizer):
        ids = tokenizer.encode(text)
        assert UNKNOWN not in ids, text
        assert tokenizer.decode(ids) == unicodedata.normalize("NFC", text)


def test_ids_lie_in_the_vocabulary_after_the_specials(tokenizer: Tokenizer) -> None:
    used = {number for text in TRAINING for number in tokenizer.encode(text)}
    assert min(used) > END
    assert max(used) < tokenizer.size


def test_all_at_once_is_one_by_one(tokenizer: Tokenizer) -> None:
    texts = [*texts_of(tokenizer), "", " ", "unseen ☃"]
    assert tokenizer.encode_all(texts) == [tokenizer.encode(text) for text in texts]
    assert tokenizer.encode_all([]) == []
    assert tokenizer.sample_all(texts) == tokenizer.encode_all(texts)  # sampling is off
    assert tokenizer.sample(texts[0]) == tokenizer.encode(texts[0])


def test_tokenize_has_the_ids_of_encode(tokenizer: Tokenizer) -> None:
    for text in [*nasty_texts(200, seed=3, spaces=3), " a  ☃b ☃", "", "   "]:
        tokenized = tokenizer.tokenize(text)
        assert list(tokenized.ids) == tokenizer.encode(text)
        assert len(tokenized.ids) == len(tokenized.tokens) == len(tokenized.words)


def spelled(tokenizer: Tokenizer, tokens: list[str]) -> str:
    """The word that tokens of one word spell."""
    word = "".join(tokens)
    return word.removeprefix("\u2581") if tokenizer.kind == "subword" else word


@pytest.mark.parametrize(
    "text",
    [
        "A dog runs.",
        "  A  dog   runs. ",
        "a\u2581b \u2581 \u2581c d\u2581",
        "☃☃ a☃b ☃",
        "<s> </s> a<unk>b <pad>",
        "läuft über 你好 😀\u200d😀",
    ],
)
def test_the_tokens_of_a_word_spell_it(tokenizer: Tokenizer, text: str) -> None:
    tokenized = tokenizer.tokenize(text)
    for index, word in enumerate(text.split()):
        of_word = zip(tokenized.tokens, tokenized.words, strict=True)
        assert spelled(tokenizer, [token for token, which in of_word if which == index]) == word
    rest = [
        token for token, word in zip(tokenized.tokens, tokenized.words, strict=True) if word < 0
    ]
    assert set(rest) <= ({" "} if tokenizer.kind == "character" else set())


def test_words_are_those_of_the_users_own_text(make: Make) -> None:
    # NFKC makes a space and a mark of U+00A8, three letters of U+FB03, a space of U+00A0
    text = "x\u00a8y\u00a0z \ufb03 İ \u2003w"
    tokenizer = make([text, "x y z ffi i w \u0308 \u0307"], form="NFKC", lowercase=True)
    tokenized = tokenizer.tokenize(text)
    words = text.split()
    assert len(words) == 5
    for number, index in zip(tokenized.ids, tokenized.words, strict=True):
        surface = tokenizer.decode([number]).strip()
        if surface:
            assert surface in unicodedata.normalize("NFKC", words[index]).lower()
    assert set(tokenized.words) - {-1} == set(range(5))


def test_an_unseen_symbol_is_unknown_and_keeps_its_surface(tokenizer: Tokenizer) -> None:
    tokenized = tokenizer.tokenize("A ☃ dog")
    at = tokenized.tokens.index("☃")
    assert (tokenized.ids[at], tokenized.words[at]) == (UNKNOWN, 1)
    assert tokenized.ids.count(UNKNOWN) == 1
    assert "☃" not in tokenizer.decode(tokenized.ids)


def test_half_a_surrogate_pair_does_not_crash(tokenizer: Tokenizer) -> None:
    tokenized = tokenizer.tokenize("a\ud800 b")
    assert list(tokenized.ids) == tokenizer.encode("a\ud800 b")
    "".join(tokenized.tokens).encode("utf-8")


def test_a_blank_text(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == ""
    assert tokenizer.tokenize("").tokens == ()
    if tokenizer.kind != "character":
        assert tokenizer.encode("   ") == []


def test_decode_skips_specials(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("A dog runs across the green grass.")
    mixed = [START, PAD, *ids[:2], UNKNOWN, *ids[2:], END, PAD]
    assert tokenizer.decode(mixed) == tokenizer.decode(ids)


def test_describe_lists_what_was_decoded(tokenizer: Tokenizer) -> None:
    for text in texts_of(tokenizer)[:100]:
        ids = tokenizer.encode(text)
        described = tokenizer.describe([*ids, END])
        assert described.ids == (*ids, END)
        assert (described.tokens[-1], described.words[-1]) == ("</s>", -1)
        assert described.tokens[:-1] == tokenizer.tokenize(text).tokens
        assert described.words[:-1] == tokenizer.tokenize(text).words


def test_described_words_are_those_of_the_decoded_text(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("A dog runs across the green grass.")
    mixed = [*ids[:1], UNKNOWN, *ids[1:], START, *ids, END]
    described = tokenizer.describe(mixed)
    words = tokenizer.decode(mixed).split()
    assert max(described.words) == len(words) - 1
    for token, word in zip(described.tokens, described.words, strict=True):
        bare = token.replace("\u2581", "").strip()
        if word >= 0 and bare:
            assert bare in words[word]
    assert described.tokens[1] == "<unk>"
    assert described.words[1] == -1


def test_shown_tokens_lead_back_to_their_ids(tokenizer: Tokenizer) -> None:
    # one piece may spell the word mark itself: only there two pieces look alike
    for text in [text for text in texts_of(tokenizer) if "\u2581" not in text]:
        ids = [*tokenizer.encode(text), END]
        assert tokenizer.token_ids(tokenizer.describe(ids).tokens) == ids
    assert tokenizer.token_ids(["no such token", "<pad> <s>"]) == [UNKNOWN, UNKNOWN]
    assert tokenizer.token_ids([]) == []


def test_lower_case(make: Make) -> None:
    texts = ["Ein Hund", "ÄÖÜ ΣΑΣ İ"]
    tokenizer = make(texts, lowercase=True)
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text.lower()


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC"])
def test_output_is_in_the_form_that_was_written(make: Make, form: str, written: str) -> None:
    text = "한국어 e\u0301a\u0308 \u212b"
    tokenizer = make([text], form=form, written=written)
    for variant in ("NFC", "NFD"):
        ids = tokenizer.encode(unicodedata.normalize(variant, text))
        assert UNKNOWN not in ids
        assert tokenizer.decode(ids) == unicodedata.normalize(written, text)


def test_training_is_deterministic(make: Make) -> None:
    assert make() == make()
