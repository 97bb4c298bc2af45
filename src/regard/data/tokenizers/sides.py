"""A model's two tokenizers: one for each side, or one for both."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.configuration import TokenizationConfiguration, TokenizerConfiguration
from regard.data.pairs import Pairs
from regard.data.tokenizers.character import CharacterTokenizer
from regard.data.tokenizers.featured import FEATURES, FeaturedTokenizer
from regard.data.tokenizers.features import FeatureSymbols
from regard.data.tokenizers.normalization import Normalizer, written_form
from regard.data.tokenizers.protocol import Tokenized, Tokenizer
from regard.data.tokenizers.space import SpaceTokenizer
from regard.data.tokenizers.subword import SubwordTokenizer
from regard.errors import UserError
from regard.files import make_directory, require_directory, require_file, write_text

_KINDS: dict[str, Any] = {
    "subword": SubwordTokenizer,
    "character": CharacterTokenizer,
    "space": SpaceTokenizer,
}
_SIDES = "sides.json"


@dataclass(frozen=True)
class Tokenizers:
    """The tokenizers of source and target; the same object when `joint`.

    With features the source's is a `FeaturedTokenizer`, whose `base` is that object when `joint`.
    Where sources are pictures, they are `joint`, and no source is read by either.
    """

    source: Tokenizer
    target: Tokenizer
    joint: bool

    @property
    def features(self) -> FeatureSymbols | None:
        """The symbols of features; None where pairs have none."""
        return self.source.features if isinstance(self.source, FeaturedTokenizer) else None

    def encode_sources(
        self, texts: Sequence[str], tags: Sequence[str] | None = None, *, sample: bool = False
    ) -> list[list[int]]:
        """The ids of sources, without END: the symbols of each one's tag, then those of its text.

        tags: the features of each text; given where the model has features, and only there.
        sample: with subword sampling, where the tokenizer has it.
        Raises UserError where tags are missing or given for nothing, FeaturesError for one that
        cannot be taken apart.
        """
        self.check_tags(tags)
        ids = self.source.sample_all(texts) if sample else self.source.encode_all(texts)
        if self.features is None or tags is None:
            return ids
        encode = self.features.encode
        return [encode(tag) + text for tag, text in zip(tags, ids, strict=True)]

    def tokenize_source(self, text: str, tag: str | None = None) -> Tokenized:
        """The ids of `encode_sources` with their surfaces and words; features have no word."""
        self.check_tags(None if tag is None else [tag])
        read = self.source.tokenize(text)
        if self.features is None or tag is None:
            return read
        told = self.features.tokenize(tag)
        return Tokenized(told.ids + read.ids, told.tokens + read.tokens, told.words + read.words)

    def check_tags(self, tags: Sequence[str] | None) -> None:
        """Raises UserError where features are missing, or given to a model that reads none."""
        if self.features is None and tags is not None:
            raise UserError(
                "features are given, but the model was trained without any: leave them out, or "
                "train one with --features"
            )
        if self.features is not None and tags is None:
            raise UserError(
                "the model was trained with features, which say what is asked of each source: "
                "give them too (--features; features= in Python)"
            )

    def save(self, directory: Path) -> None:
        """Write both into `directory`, which is made when it is missing."""
        save_tokenizers(self, directory)


def train_tokenizers(
    configuration: TokenizationConfiguration, pairs: Pairs, seed: int = 0
) -> Tokenizers:
    """Tokenizers whose vocabularies are made from `pairs` alone.

    Nothing in making them is random: the same pairs give the same vocabularies for every seed.
    Decoded text has the Unicode form (composed or decomposed) that most training targets have.
    Raises UserError when a subword vocabulary's size is too small for its characters, or the pairs
    have features and the configuration does not, or the other way round.
    """
    _check_features(configuration, pairs)
    sources, targets = pairs.sources(), pairs.targets()
    if configuration.source is None:
        alone = _train(
            configuration.target, targets, written_form(targets), "tokenization.target.size"
        )
        return Tokenizers(alone, alone, joint=True)
    if configuration.joint:
        key = "the size in tokenization.source and tokenization.target"
        both = _train(configuration.target, [*sources, *targets], written_form(targets), key)
        return Tokenizers(_with_features(both, configuration, pairs), both, joint=True)
    source, target = configuration.source, configuration.target
    reads = _train(source, sources, written_form(sources), "tokenization.source.size")
    return Tokenizers(
        _with_features(reads, configuration, pairs),
        _train(target, targets, written_form(targets), "tokenization.target.size"),
        joint=False,
    )


def _check_features(configuration: TokenizationConfiguration, pairs: Pairs) -> None:
    if configuration.features is None and pairs.have_features:
        raise UserError(
            f"{pairs.origin} has features, but the configuration has no tokenization.features"
        )
    if configuration.features is not None and not pairs.have_features:
        raise UserError(
            f"tokenization.features is set, but {pairs.origin} has no features: give --features, "
            "or take the section out"
        )


def _with_features(
    base: Tokenizer, configuration: TokenizationConfiguration, pairs: Pairs
) -> Tokenizer:
    tags = pairs.features()
    if configuration.features is None or tags is None:
        return base
    minimum = configuration.features.minimum_count
    return FeaturedTokenizer(base, FeatureSymbols.train(tags, base.size, minimum))


def _train(
    configuration: TokenizerConfiguration, texts: Sequence[str], written: Any, key: str
) -> Tokenizer:
    normalizer = Normalizer(configuration.normalization, configuration.lowercase, written)
    if configuration.kind == "character":
        return CharacterTokenizer.train(texts, normalizer, configuration.minimum_count)
    if configuration.kind == "space":
        return SpaceTokenizer.train(texts, normalizer, configuration.minimum_count)
    return SubwordTokenizer.train(
        texts,
        normalizer,
        size=configuration.size,
        algorithm=configuration.algorithm,
        sampling=configuration.sampling,
        key=key,
    )


def save_tokenizers(tokenizers: Tokenizers, directory: Path) -> None:
    """Write the tokenizers into `directory`. Raises UserError when it cannot be written."""
    make_directory(directory)
    if tokenizers.joint:
        tokenizers.source.save(directory, "joint")
    else:
        tokenizers.source.save(directory, "source")
        tokenizers.target.save(directory, "target")
    sides = {"joint": tokenizers.joint}
    if tokenizers.features is not None:
        sides["features"] = True
    write_text(directory / _SIDES, json.dumps(sides) + "\n")


def load_tokenizers(directory: Path) -> Tokenizers:
    """The tokenizers in `directory`. Raises UserError, naming the file, for what is damaged."""
    require_directory(directory, "a model's tokenizer directory")
    sides = _read_json(directory / _SIDES)
    joint, has_features = sides.get("joint"), sides.get("features", False)
    for name, value in (("joint", joint), ("features", has_features)):
        if not isinstance(value, bool):
            raise UserError(f"{directory / _SIDES} is damaged: {name} should be true or false")
    source = load_tokenizer(directory, "joint" if joint else "source")
    target = source if joint else load_tokenizer(directory, "target")
    if has_features:
        path = directory / FEATURES
        features = FeatureSymbols.parse(_read_json(path), source.size, path)
        source = FeaturedTokenizer(source, features)
    return Tokenizers(source, target, joint=bool(joint))


def load_tokenizer(directory: Path, name: str) -> Tokenizer:
    """The tokenizer that was saved under `name`. Raises UserError when missing or damaged."""
    path = directory / f"{name}.json"
    data = _read_json(path)
    kind = _KINDS.get(str(data.get("kind")))
    if kind is None:
        raise UserError(f"{path} is damaged: kind should be one of {', '.join(_KINDS)}")
    tokenizer: Tokenizer = kind.parse(data, _normalizer(data.get("normalizer"), path), path)
    return tokenizer


def _normalizer(data: Any, path: Path) -> Normalizer:
    allowed: dict[str, tuple[Any, ...]] = {
        "form": ("NFC", "NFD", "NFKC"),
        "lowercase": (True, False),
        "written": ("NFC", "NFD"),
    }
    if (
        not isinstance(data, dict)
        or set(data) != set(allowed)
        or any(data[field] not in values for field, values in allowed.items())
    ):
        raise UserError(f"{path} is damaged: normalizer should have form, lowercase and written")
    return Normalizer(**data)


def _read_json(path: Path) -> dict[str, Any]:
    require_file(path, "a part of a model's tokenizer")
    try:
        data = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} is damaged: it should be JSON ({error})") from error
    if not isinstance(data, dict):
        raise UserError(f"{path} is damaged: it should be a JSON object")
    return data
