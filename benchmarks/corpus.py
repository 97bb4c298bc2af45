"""The data and the one vocabulary that every tool is given."""

from dataclasses import dataclass
from pathlib import Path

from regard.data.configuration import TokenizationConfiguration, TokenizerConfiguration
from regard.data.pairs import Pairs, read_pairs
from regard.data.special import SPECIAL_TOKENS
from regard.data.tokenizers import train_tokenizers
from regard.data.tokenizers.subword import SubwordTokenizer
from workload import Workload


@dataclass(frozen=True)
class Corpus:
    """Prefixes of plain text files, one text a line, and the vocabulary made from `train`.

    train, valid: prefixes; the files end in `.source` and `.target` of `source` and `target`.
    subwords: a sentencepiece model; vocabulary: its pieces, one a line, without the specials.
    """

    train: Path
    valid: Path
    source: str
    target: str
    subwords: Path
    vocabulary: Path
    pairs: int
    target_tokens: int


def prepare(
    train: str, valid: str, source: str, target: str, workload: Workload, directory: Path
) -> Corpus:
    """Write the corpus under `directory`, with the subwords that regard itself would train.

    A tool gets the text as regard's tokenizer reads it (Unicode form NFC) with runs of white space
    as one space, which changes no subword and keeps line ends apart. Raises UserError.
    """
    side = TokenizerConfiguration(size=workload.vocabulary)
    pairs = read_pairs(train, source, target)
    tokenizer = train_tokenizers(
        TokenizationConfiguration(source=side, target=side), pairs, workload.seed
    ).target
    assert isinstance(tokenizer, SubwordTokenizer)
    directory.mkdir(parents=True, exist_ok=True)
    subwords, vocabulary = directory / "subwords.model", directory / "vocabulary.txt"
    subwords.write_bytes(tokenizer.model)
    pieces = map(tokenizer.processor.id_to_piece, range(len(SPECIAL_TOKENS), tokenizer.size))
    vocabulary.write_bytes("".join(f"{piece}\n" for piece in pieces).encode())
    _write(pairs, directory / "train", source, target, tokenizer)
    _write(read_pairs(valid, source, target), directory / "valid", source, target, tokenizer)
    return Corpus(
        directory / "train",
        directory / "valid",
        source,
        target,
        subwords,
        vocabulary,
        len(pairs),
        sum(len(ids) + 1 for ids in tokenizer.encode_all(pairs.targets())),
    )


def _write(
    pairs: Pairs, prefix: Path, source: str, target: str, tokenizer: SubwordTokenizer
) -> None:
    for suffix, texts in ((source, pairs.sources()), (target, pairs.targets())):
        lines = (" ".join(tokenizer.normalizer.read(text).split()) for text in texts)
        Path(f"{prefix}.{suffix}").write_bytes("".join(f"{line}\n" for line in lines).encode())
