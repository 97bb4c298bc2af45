"""Pictures in place of source texts: pairs, examples, batches."""

from pathlib import Path

import pytest
import torch

from regard.data.batches import Example, bucket, collate, encode_pairs, fit, split
from regard.data.captions.data import CaptionData, Captioned
from regard.data.captions.pairs import caption_pairs
from regard.data.configuration import (
    BatchingConfiguration,
    FeaturesConfiguration,
    TokenizationConfiguration,
    TokenizerConfiguration,
)
from regard.data.pairs import Pairs
from regard.data.pictures import HeldGrids, Picture
from regard.data.tokenizers import Tokenizers, load_tokenizers, save_tokenizers, train_tokenizers
from regard.errors import UserError

ROWS, COLUMNS, SIZE = 2, 3, 4
CAPTIONS = (("a dog", "a big dog runs"), ("a cat sits on a big mat",), ("dog and cat",))
TOKENIZATION = TokenizationConfiguration(source=None, target=TokenizerConfiguration(kind="space"))


def grids(count: int = 5) -> HeldGrids:
    generator = torch.Generator().manual_seed(1)
    features = torch.randn(count, ROWS * COLUMNS, SIZE, generator=generator)
    return HeldGrids(features, ROWS, COLUMNS)


def pairs() -> Pairs:
    examples = tuple(
        Captioned(Path(f"{number}.png"), captions, f"{number}.png")
        for number, captions in enumerate(CAPTIONS)
    )
    return caption_pairs(CaptionData(examples, "captions.csv", blank=2), grids())


def tokenizers() -> Tokenizers:
    return train_tokenizers(TOKENIZATION, pairs())


def examples() -> list[Example]:
    return encode_pairs(pairs(), tokenizers())


def test_every_caption_is_a_pair() -> None:
    made = pairs()
    assert made.targets() == [caption for captions in CAPTIONS for caption in captions]
    assert made.sources() == ["0.png", "0.png", "1.png", "2.png"]
    assert [pair.picture.number for pair in made if pair.picture] == [0, 0, 1, 2]
    assert (made.origin, made.blank, made.have_pictures) == ("captions.csv", 2, True)
    names, references = made.references()
    assert names == ["0.png", "1.png", "2.png"] and references == [list(each) for each in CAPTIONS]
    assert [pair.picture.number for pair in made.questions() if pair.picture] == [0, 1, 2]


def test_vocabulary_is_that_of_the_captions(tmp_path: Path) -> None:
    """Names of images are no text."""
    made = tokenizers()
    words = {word for captions in CAPTIONS for caption in captions for word in caption.split()}
    assert made.target.size == 4 + len(words)
    save_tokenizers(made, tmp_path)
    loaded = load_tokenizers(tmp_path)
    assert loaded.target.encode("a big cat") == made.target.encode("a big cat")


def test_features_are_for_texts() -> None:
    with pytest.raises(ValueError, match="a picture has none"):
        TokenizationConfiguration(source=None, features=FeaturesConfiguration())


def test_batches_hold_features() -> None:
    batch = collate(examples(), [3, 0, 1])
    held = grids().features
    assert torch.equal(batch.source, held[[2, 0, 0]])
    assert batch.source_mask.shape == (3, ROWS * COLUMNS) and batch.source_mask.all()
    assert batch.mask.sum(1).tolist() == [4, 3, 5]
    parts = split(batch, 2)
    assert torch.equal(torch.cat([part.source for part in parts]), batch.source)


def test_batches_are_cut_by_positions_and_sorted_by_captions() -> None:
    many = examples() * 50
    batching = BatchingConfiguration(tokens=60)
    batches = bucket(many, batching, seed=1, epoch=0)
    assert sorted(index for batch in batches for index in batch) == list(range(len(many)))
    widths = [[len(many[index].target) for index in batch] for batch in batches]
    assert all(len(each) * max(ROWS * COLUMNS, *each) <= 60 for each in widths)
    padding = sum(max(each) * len(each) - sum(each) for each in widths)
    assert padding < 0.05 * sum(map(sum, widths))


def test_only_captions_can_be_too_long() -> None:
    made = fit(pairs(), examples(), BatchingConfiguration(maximum_length=5))
    assert made.left_out == 1 and "mat" not in " ".join(made.pairs.targets())
    with pytest.raises(UserError, match=r"captions.csv: every pair has more than 2 tokens"):
        fit(pairs(), examples(), BatchingConfiguration(maximum_length=2))


def test_no_symbol_of_a_picture_is_unknown() -> None:
    assert not Example(Picture(grids(), 1), (3,)).unknown_source
    assert Example((5, 1, 3), (3,)).unknown_source
