"""Symbols of features behind the source's own: ids, surfaces, files."""

import json
from pathlib import Path

import pytest

from regard.data.batches import encode_pairs
from regard.data.configuration import FeaturesConfiguration, TokenizationConfiguration
from regard.data.pairs import Pair, Pairs
from regard.data.special import END, UNKNOWN
from regard.data.tokenizers import Tokenizers, load_tokenizers, save_tokenizers, train_tokenizers
from regard.errors import UserError

PAIRS = Pairs(
    (
        Pair("ab cd", "abx", "N;ABL(PL;PSS(2,PL))"),
        Pair("ba", "bax", "N;PL"),
        Pair("ba", "bay", "V;ABL"),
    ),
    "test",
)


def tokenizers(kind: str = "character", joint: bool = True, minimum: int = 1) -> Tokenizers:
    side = {"kind": kind, **({"size": 20, "sampling": 0.5} if kind == "subword" else {})}
    sections = {"joint": joint, "source": side, "target": side}
    configuration = TokenizationConfiguration.model_validate(
        {**sections, "features": {"minimum_count": minimum}}
    )
    return train_tokenizers(configuration, PAIRS)


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("kind", ["character", "space", "subword"])
def test_ids_of_features_follow_those_of_the_source(kind: str, joint: bool) -> None:
    both = tokenizers(kind, joint)
    features = both.features
    assert features is not None
    texts, tags = [pair.source for pair in PAIRS], [pair.features for pair in PAIRS]
    base = both.source.size - features.size
    assert features.first == base
    assert features.size == 1 + len(("N", "ABL", "(", "PL", "PSS", "2", ")", "V"))
    if joint:
        assert both.target.size == base
    for row, text, tag in zip(both.encode_sources(texts, tags), texts, tags, strict=True):
        count = len(features.encode(tag))
        assert row == features.encode(tag) + both.source.encode(text)
        assert all(base < number < both.source.size for number in row[:count])
        assert all(number < base for number in row[count:])


def test_surfaces_come_first_and_belong_to_no_word() -> None:
    both = tokenizers()
    read = both.tokenize_source("ab cd", "N;ABL(XYZ)")
    assert read.tokens == ("N", "ABL", "(", "XYZ", ")", "a", "b", " ", "c", "d")
    assert read.words == (-1, -1, -1, -1, -1, 0, 0, -1, 1, 1)
    assert list(read.ids) == both.encode_sources(["ab cd"], ["N;ABL(XYZ)"])[0]
    told = both.source.describe(read.ids)
    assert told.tokens == ("N", "ABL", "(", "<unknown feature>", *read.tokens[4:])
    assert told.words == read.words and both.source.decode(read.ids) == "ab cd"


def test_what_was_never_seen_is_the_unknown_feature() -> None:
    features = tokenizers().features
    assert features is not None
    assert features.encode("XYZ;N;ABC") == [features.first, features.ids["N"], features.first]
    assert features.unseen("XYZ;N;ABC;XYZ") == ("XYZ", "ABC") and features.unseen("N;V") == ()
    assert features.first > UNKNOWN
    rarer = tokenizers(minimum=2).features
    assert rarer is not None and set(rarer.ids) == {"N", "ABL", "(", "PL", ")"}


def test_examples_have_them_with_sampling_too() -> None:
    for kind in ("character", "subword"):
        both = tokenizers(kind)
        features = both.features
        assert features is not None
        for sample in (False, True):
            for pair, example in zip(
                PAIRS, encode_pairs(PAIRS, both, sample=sample, seed=1), strict=True
            ):
                tag = features.encode(pair.features)
                assert list(example.source[: len(tag)]) == tag and example.source[-1] == END
                assert both.source.decode(example.source) == pair.source
                assert max(example.target) < both.target.size


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("kind", ["character", "subword"])
def test_files(tmp_path: Path, kind: str, joint: bool) -> None:
    both = tokenizers(kind, joint)
    save_tokenizers(both, tmp_path)
    loaded = load_tokenizers(tmp_path)
    assert loaded.features == both.features and loaded.joint == joint
    assert loaded.source.size == both.source.size and loaded.source.kind == kind
    texts, tags = ["ba ab"], ["V;PL(2)"]
    assert loaded.encode_sources(texts, tags) == both.encode_sources(texts, tags)
    assert json.loads((tmp_path / "sides.json").read_bytes()) == {"joint": joint, "features": True}


def test_damage_is_named(tmp_path: Path) -> None:
    save_tokenizers(tokenizers(), tmp_path)
    (tmp_path / "features.json").write_text('{"symbols": ["N", "N"]}', encoding="utf-8")
    with pytest.raises(UserError, match=r"features\.json is damaged"):
        load_tokenizers(tmp_path)
    (tmp_path / "features.json").unlink()
    with pytest.raises(UserError, match=r"features\.json"):
        load_tokenizers(tmp_path)
    (tmp_path / "sides.json").write_text('{"joint": true, "features": 3}', encoding="utf-8")
    with pytest.raises(UserError, match=r"sides\.json is damaged: features"):
        load_tokenizers(tmp_path)


def test_features_on_one_side_only_are_errors() -> None:
    plain = Pairs((Pair("a", "b"),), "plain.tsv")
    configuration = TokenizationConfiguration.model_validate(
        {"source": {"kind": "character"}, "target": {"kind": "character"}}
    )
    with pytest.raises(UserError, match="test has features, but the configuration"):
        train_tokenizers(configuration, PAIRS)
    featured = configuration.model_copy(update={"features": FeaturesConfiguration()})
    with pytest.raises(UserError, match=r"plain\.tsv has no features"):
        train_tokenizers(featured, plain)
    without = train_tokenizers(configuration, plain)
    assert without.features is None
    with pytest.raises(UserError, match="trained without any"):
        without.encode_sources(["a"], ["N"])
    with pytest.raises(UserError, match="trained with features"):
        tokenizers().encode_sources(["a"])
    with pytest.raises(UserError, match="no features"):
        encode_pairs(Pairs((*PAIRS, Pair("a", "b")), "some"), tokenizers())
