"""A model's two tokenizers: one for each side, or one for both."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.data.configuration import TokenizationConfiguration, TokenizerConfiguration
from regard.data.pairs import Pairs
from regard.data.tokenizers.character import CharacterTokenizer
from regard.data.tokenizers.normalization import Normalizer, written_form
from regard.data.tokenizers.protocol import Tokenizer
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
    """The tokenizers of source and target; the same object when `joint`."""

    source: Tokenizer
    target: Tokenizer
    joint: bool

    def save(self, directory: Path) -> None:
        """Write both into `directory`, which is made when it is missing."""
        save_tokenizers(self, directory)


def train_tokenizers(
    configuration: TokenizationConfiguration, pairs: Pairs, seed: int = 0
) -> Tokenizers:
    """Tokenizers whose vocabularies are made from `pairs` alone.

    Nothing in making them is random: the same pairs give the same vocabularies for every seed.
    Decoded text has the Unicode form (composed or decomposed) that most training targets have.
    Raises UserError when a subword vocabulary's size is too small for its characters.
    """
    sources, targets = pairs.sources(), pairs.targets()
    if configuration.joint:
        key = "the size in tokenization.source and tokenization.target"
        both = _train(configuration.target, [*sources, *targets], written_form(targets), key)
        return Tokenizers(both, both, joint=True)
    source, target = configuration.source, configuration.target
    return Tokenizers(
        _train(source, sources, written_form(sources), "tokenization.source.size"),
        _train(target, targets, written_form(targets), "tokenization.target.size"),
        joint=False,
    )


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
    write_text(directory / _SIDES, json.dumps({"joint": tokenizers.joint}) + "\n")


def load_tokenizers(directory: Path) -> Tokenizers:
    """The tokenizers in `directory`. Raises UserError, naming the file, for what is damaged."""
    require_directory(directory, "a model's tokenizer directory")
    joint = _read_json(directory / _SIDES).get("joint")
    if not isinstance(joint, bool):
        raise UserError(f"{directory / _SIDES} is damaged: joint should be true or false")
    if joint:
        both = load_tokenizer(directory, "joint")
        return Tokenizers(both, both, joint=True)
    source, target = load_tokenizer(directory, "source"), load_tokenizer(directory, "target")
    return Tokenizers(source, target, joint=False)


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
