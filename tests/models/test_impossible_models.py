"""Configurations that cannot be: one line that says what would be right."""

import pytest

from regard.errors import UserError
from regard.models import build_model
from regard.training.recipes import load_recipe


def refused(recipe: str, *overrides: str, vocabularies: tuple[int, int] = (20, 20)) -> str:
    """What is said."""
    with pytest.raises(UserError) as caught:
        build_model(load_recipe(recipe, overrides).model, *vocabularies)
    said = str(caught.value)
    assert said and "\n" not in said
    return said


SIZES = [
    ("luong-dot", ["model.decoder.size=300", "model.decoder.start.projection=tanh"], "300 and 512"),
    (
        "luong-general",
        ["model.decoder.size=300"],
        "start with projection 'none' needs encoder states of size 300, not 512",
    ),
    ("rnnsearch", ["model.decoder.attention.heads=3"], "does not divide into 3 heads"),
    ("rnnsearch", ["model.encoder.bidirectional=false"], "needs a bidirectional encoder"),
    ("transformer-tiny", ["model.encoder.heads=5"], "size 128 does not divide into 5 heads"),
    ("hard-monotonic", ["model.decoder.attention.score=dot"], "of one size per head"),
    (
        "rnnsearch",
        ["model.embedding.tie_output=true", "model.decoder.readout_size=99"],
        "tied output",
    ),
]


@pytest.mark.parametrize(("recipe", "overrides", "message"), SIZES)
def test_sizes_that_cannot_be_joined(recipe: str, overrides: list[str], message: str) -> None:
    said = refused(recipe, *overrides)
    assert said.startswith("model: ")
    assert message in said


def test_a_shared_embedding_needs_one_vocabulary() -> None:
    assert "tokenization.joint" in refused("rnnsearch", vocabularies=(20, 21))


CHOICES = [
    ("seq2seq", ["model.decoder.readout=attentional"], "needs attention"),
    ("rnnsearch", ["model.decoder.input_feeding=true"], "input_feeding needs attend 'after'"),
    (
        "rnnsearch",
        ["model.decoder.constant_context=true"],
        "constant_context is for attend 'never'",
    ),
    ("luong-dot", ["model.decoder.readout=none"], "a readout that reads the context"),
    (
        "seq2seq",
        ["model.decoder.constant_context=false", "model.decoder.start.from=zero"],
        "reads nothing of the source",
    ),
    ("transformer-tiny", ["model.decoder.shown_layer=5"], "shown_layer 5 is beyond layers 4"),
    ("rnnsearch", ["model.decoder.attention.score=cosine"], "cosine"),
    ("rnnsearch", ["model.encoder.cell=rnn"], "model.encoder"),
    ("rnnsearch", ["model.encoder.residual=true"], "residual needs 2 layers or more"),
    ("rnnsearch", ["model.decoder.residual=true"], "residual needs 2 layers or more"),
    ("rnnsearch", ["model.embedding.dropout=1.0"], "model.embedding.dropout"),
    ("rnnsearch", ["model.encoder.size=0"], "model.encoder"),
    ("rnnsearch", ["model.decoder.kind=lstm"], "model.decoder"),
    ("hard-monotonic", ["model.decoder.order=2"], "model.decoder.order"),
    ("hard-monotonic", ["model.decoder.jump=0"], "model.decoder.jump"),
    ("hard-monotonic", ["model.decoder.copying=true"], "model.decoder.copying"),
    (
        "hard-monotonic",
        ["model.decoder.attention.score=location", "model.decoder.attention.maximum_positions=9"],
        "maximum_positions (9)",
    ),
]


@pytest.mark.parametrize(("recipe", "overrides", "message"), CHOICES)
def test_choices_that_exclude_each_other(recipe: str, overrides: list[str], message: str) -> None:
    assert message in refused(recipe, *overrides)
