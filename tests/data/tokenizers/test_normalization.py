import unicodedata

import pytest

from regard.data.tokenizers.normalization import Normalizer, word_indices, written_form

from .texts import nasty_texts

EXTRA = [
    "\u00a8 \u0301a",
    "\u2000\u0301x \u3000",
    "Σ ΑΣ. ΑΣΣ İ",
    "한 \u1112\u1161",
    "™ \ufdfa",
    "",
]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC"])
def test_reading_word_by_word_is_reading_the_whole(form: str, lowercase: bool) -> None:
    normalizer = Normalizer(form, lowercase)  # type: ignore[arg-type]
    for text in [*nasty_texts(300, seed=5, spaces=3), *EXTRA]:
        read, words = normalizer.read_words(text)
        assert read == normalizer.read(text)
        assert unicodedata.is_normalized(form, read)
        assert len(words) == len(read)
        assert set(words) - {-1} == set(range(len(text.split())))
        assert [word for word in words if word >= 0] == sorted(word for word in words if word >= 0)


def test_read() -> None:
    assert Normalizer().read("e\u0301") == "é"
    assert Normalizer("NFD").read("é") == "e\u0301"
    assert Normalizer("NFKC").read("ﬁ½") == "fi1\u20442"
    assert Normalizer().read("ﬁ") == "ﬁ"
    assert Normalizer("NFKC", lowercase=True).read("™A") == "tma"
    assert Normalizer().read("a\ud800b") == "a\ufffdb"


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        ([], "NFC"),
        (["plain"], "NFC"),
        (["é", "e\u0301"], "NFC"),
        (["é", "e\u0301", "o\u0301"], "NFD"),
        (["é", "ó", "o\u0301"], "NFC"),
        (["☃", "ø"], "NFC"),
    ],
)
def test_the_form_of_most_texts(texts: list[str], form: str) -> None:
    assert written_form(texts) == form


def test_word_indices() -> None:
    assert word_indices(["ab", "c", " ", "d", " e f", "", "\u00a0", "g"]) == (
        0,
        0,
        -1,
        1,
        2,
        -1,
        -1,
        4,
    )
    assert word_indices([" a", "b", " c"]) == (0, 0, 1)
    assert word_indices([]) == ()
