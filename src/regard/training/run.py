"""A run directory: all that a trained model is, with nothing needed outside it.

config.yaml         the resolved configuration, vocabulary sizes, the version of regard
model.safetensors   the best weights so far: usable while training goes on
tokenizer/          both tokenizers
backbone.safetensors   where sources are pictures, the weights of what makes their features
metrics.jsonl       what happened, a line each time
checkpoints/        what `--resume` needs; may be deleted once training is over
report.html         what `regard train` found out about the model when it ended
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from regard import __version__
from regard.data.images.backbone import Backbone, load_backbone
from regard.data.tokenizers import Tokenizers, copy_table, load_tokenizers
from regard.errors import UserError
from regard.files import require_directory, write_bytes, write_text
from regard.models import GridShape, Model, build_model
from regard.training.configuration import Configuration
from regard.training.problems import resolve
from regard.training.tensors import encode_tensors, fill_model, model_tensors, read_tensors
from regard.training.yaml_text import read_yaml, to_yaml

CONFIGURATION = "config.yaml"
MODEL = "model.safetensors"
TOKENIZER = "tokenizer"
METRICS = "metrics.jsonl"
CHECKPOINTS = "checkpoints"
BACKBONE = "backbone.safetensors"
REPORT = "report.html"
PARTS = (CONFIGURATION, MODEL, TOKENIZER, METRICS, CHECKPOINTS, BACKBONE, REPORT)


@dataclass(frozen=True)
class Vocabulary:
    """How many symbols each side has, the specials included.

    source: 0 where sources are pictures.
    features: how many of the source's symbols, the last ones, are those of features.
    grid: what is read of pictures; None where sources are texts.
    """

    source: int
    target: int
    features: int = 0
    grid: GridShape | None = None

    def as_dict(self) -> dict[str, int]:
        """The sizes of what there is."""
        sizes = {"source": self.source, "target": self.target, "features": self.features}
        return {side: size for side, size in sizes.items() if size}


@dataclass(frozen=True)
class Run:
    """A trained model and all that belongs to it; the model is in evaluation mode.

    backbone: what makes features of pictures; None for texts, or where features were ready-made.
    """

    directory: Path
    configuration: Configuration
    vocabulary: Vocabulary
    tokenizers: Tokenizers
    model: Model
    version: str
    backbone: Backbone | None = None


def load_run(directory: Path | str, steps: int | None = None) -> Run:
    """The run in `directory`, with its best weights.

    steps: of a Universal Transformer, in place of those that it was trained with.

    Raises UserError naming the file that is missing, damaged, or does not fit the others, or the
    run that has no steps to choose.
    """
    directory = Path(directory)
    configuration, vocabulary, version = read_configuration(directory)
    if steps is not None:
        configuration = _with_steps(configuration, steps, directory)
    tokenizers = read_tokenizers(directory, vocabulary)
    path = directory / MODEL
    if not path.exists():
        raise UserError(
            f"{path} does not exist: the run has no model yet; train on with --resume until it "
            "has been validated once"
        )
    tensors, _ = read_tensors(path, "a model's weights")
    with torch.random.fork_rng(devices=[]):  # weights are read, not drawn: leave the user's state
        model = model_for(configuration, tokenizers, vocabulary.grid)
    fill_model(model, tensors, path)
    backbone = read_backbone(directory, configuration)
    return Run(directory, configuration, vocabulary, tokenizers, model.eval(), version, backbone)


def read_configuration(directory: Path) -> tuple[Configuration, Vocabulary, str]:
    """What config.yaml says: configuration, vocabulary sizes, the version that wrote it."""
    require_directory(directory, "a run directory")
    path = directory / CONFIGURATION
    if not path.exists():
        raise UserError(f"{directory} is not a run directory: it has no {CONFIGURATION}")
    data = read_yaml(path, "a run's configuration")
    version, sizes = data.pop("regard", None), data.pop("vocabulary", None)
    grid = data.pop("grid", None)
    if not isinstance(version, str):
        raise UserError(
            f"{path}: regard should be the version that wrote it, as in '{__version__}'"
        )
    configuration = resolve(data, str(path))
    return configuration, _vocabulary(sizes, grid, configuration, path), version


def write_configuration(
    directory: Path, configuration: Configuration, vocabulary: Vocabulary
) -> None:
    """Write config.yaml."""
    facts: dict[str, Any] = {"regard": __version__, "vocabulary": vocabulary.as_dict()}
    if vocabulary.grid is not None:
        facts["grid"] = vocabulary.grid._asdict()
    write_text(directory / CONFIGURATION, to_yaml(facts | configuration.as_dict()))


def read_tokenizers(directory: Path, vocabulary: Vocabulary) -> Tokenizers:
    """The run's tokenizers, which must have the vocabulary that config.yaml tells of."""
    tokenizers = load_tokenizers(directory / TOKENIZER)
    found = vocabulary_of(tokenizers, vocabulary.grid)
    for side in ("source", "target", "features"):
        size, expected = getattr(found, side), getattr(vocabulary, side)
        if size != expected:
            raise UserError(
                f"{directory / TOKENIZER} does not fit {CONFIGURATION}: the {side} side has "
                f"{size} symbols, it should have {expected}"
            )
    return tokenizers


def vocabulary_of(tokenizers: Tokenizers, grid: GridShape | None = None) -> Vocabulary:
    """The sizes that a run directory keeps of its tokenizers, and of pictures in place of texts."""
    if grid is not None:
        return Vocabulary(0, tokenizers.target.size, grid=grid)
    features = tokenizers.features
    size = 0 if features is None else features.size
    return Vocabulary(tokenizers.source.size, tokenizers.target.size, size)


def model_for(
    configuration: Configuration, tokenizers: Tokenizers, grid: GridShape | None = None
) -> Model:
    """A freshly initialised model for these vocabularies (from torch's global random state).

    grid: what it reads, where sources are pictures.
    """
    sizes = vocabulary_of(tokenizers, grid)
    copies = copy_table(tokenizers) if configuration.model.copies else None
    return build_model(
        configuration.model, sizes.source, sizes.target, sizes.features, copies, grid
    )


def read_backbone(directory: Path, configuration: Configuration) -> Backbone | None:
    """What makes features of pictures, from the run directory alone; None where nothing does."""
    if configuration.backbone is None:
        return None
    path = directory / BACKBONE
    weights = read_tensors(path, "a backbone's weights")[0] if path.exists() else None
    return load_backbone(configuration.backbone, weights)


def write_backbone(directory: Path, backbone: Backbone) -> None:
    """Keep the weights of a backbone that has any."""
    weights = backbone.weights()
    if weights:
        data = encode_tensors(weights, {"regard": __version__, "backbone": backbone.fingerprint})
        write_bytes(directory / BACKBONE, data)


def encode_model(model: nn.Module) -> bytes:
    """The content of model.safetensors."""
    return encode_tensors(model_tensors(model), {"regard": __version__})


def write_model(directory: Path, data: bytes) -> None:
    """Put the weights in `data` in the place of the run's model."""
    write_bytes(directory / MODEL, data)


def _with_steps(configuration: Configuration, steps: int, directory: Path) -> Configuration:
    try:
        model = configuration.model.with_steps(steps)
    except ValueError as error:
        raise UserError(f"{directory}: {error}") from error
    return configuration.model_copy(update={"model": model})


def _vocabulary(sizes: Any, grid: Any, configuration: Configuration, path: Path) -> Vocabulary:
    pictures = configuration.model.reads_pictures
    sides = {"target"} if pictures else {"source", "target"}
    if not isinstance(sizes, dict) or set(sizes) - {"features"} != sides:
        names = " and ".join(sorted(sides))
        raise UserError(f"{path}: vocabulary should have the sizes of {names}")
    _check_numbers(sizes, "vocabulary", path)
    if not pictures:
        return Vocabulary(**sizes)
    if not isinstance(grid, dict) or set(grid) != set(GridShape._fields):
        raise UserError(f"{path}: grid should have {', '.join(GridShape._fields)}")
    _check_numbers(grid, "grid", path)
    return Vocabulary(0, sizes["target"], grid=GridShape(**grid))


def _check_numbers(numbers: dict[str, Any], section: str, path: Path) -> None:
    for key, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise UserError(f"{path}: {section}.{key} is {value}; it must be a number >= 1")


def check_goes_with(other: Run, one: Run) -> None:
    """Raises UserError for a run that cannot answer together with the first one."""
    if _tokenizer_files(one.directory) != _tokenizer_files(other.directory):
        raise UserError(
            f"{other.directory} has other tokenizers than {one.directory}: models that answer "
            "together must be trained on the same data with the same tokenization"
        )
    prints = [None if run.backbone is None else run.backbone.fingerprint for run in (one, other)]
    if prints[0] != prints[1] or one.vocabulary.grid != other.vocabulary.grid:
        raise UserError(
            f"{other.directory} sees images otherwise than {one.directory}: models that answer "
            "together must have the same backbone"
        )


def _tokenizer_files(directory: Path) -> dict[str, bytes]:
    files = (directory / TOKENIZER).iterdir()
    return {path.name: path.read_bytes() for path in files if path.is_file()}
