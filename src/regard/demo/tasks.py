"""What the demo trains, each a recipe, settings and data; the captioner is in its own file."""

from __future__ import annotations

from collections.abc import Callable

from regard.data.pronunciations import read_pronunciations
from regard.data.scenes import (
    generate_scenes,
    scene_alignments,
    scene_pairs,
    split_scenes,
)
from regard.demo.captioner import captioner
from regard.demo.task import Gold, Task


def pronouncer(seed: int) -> Task:
    """Italian letters to phones, out of gruut-lang-it; Bahdanau's model at a small size."""
    data = read_pronunciations(seed)
    gold = tuple(Gold(each.pair.source, each.pair.target, each.alignment) for each in data.aligned)
    return Task(
        name="pronouncer",
        heading="A pronouncer: Italian letters to phones",
        about=(
            f"Bahdanau's recurrent model, small, trained on {len(data.train):,} pronunciations "
            f"from the package gruut-lang-it. The {len(data.held_out.references()[0]):,} words "
            "it is measured on were held out, and so were their alignments."
        ),
        recipe="rnnsearch",
        settings=PRONOUNCER_SETTINGS,
        train=data.train,
        valid=data.valid,
        test=data.held_out,
        gold=gold,
        unit="letter",
        metrics=("word_error_rate", "symbol_error_rate"),
        shown=tuple(each for each in gold if len(set(each.lengths("letter"))) == 2),
    )


def translator(seed: int, pairs: int = 10_000) -> Task:
    """English to German descriptions of scenes; a small Transformer."""
    splits = split_scenes(generate_scenes(pairs, seed))
    test = splits["test"]
    texts = scene_pairs(test, "en", "de")
    gold = tuple(
        Gold(pair.source, pair.target, alignment)
        for pair, alignment in zip(texts, scene_alignments(test, "en", "de"), strict=True)
    )
    return Task(
        name="translator",
        heading="A translator: scenes, English to German",
        about=(
            f"A small Transformer, trained on {len(splits['train']):,} descriptions of pictures "
            "made by a seeded generator, which also knows which word says what. Word order "
            "differs between the two languages on purpose."
        ),
        recipe="transformer-tiny",
        settings=TRANSLATOR_SETTINGS,
        train=scene_pairs(splits["train"], "en", "de"),
        valid=scene_pairs(splits["valid"], "en", "de"),
        test=texts,
        gold=gold,
        unit="word",
        metrics=("bleu", "exact_match"),
        shown=gold,
        scenes=tuple(test[:4]),
    )


PRONOUNCER_SETTINGS = (
    "tokenization={joint: false, source: {kind: character}, target: {kind: space}}",
    "batching.tokens=700",
    "model.initialization=glorot",
    "model.embedding={size: 64, dropout: 0.05}",
    "model.encoder={kind: recurrent, size: 80, dropout: 0.1}",
    "model.decoder.size=96",
    "model.decoder.attention.size=64",
    "model.decoder.readout_size=64",
    "model.decoder.dropout=0.1",
    "training.learning_rate=0.006",
    "training.schedule=linear",
    "training.cooldown=0",
    "training.warmup=200",
    "training.label_smoothing=0.05",
    "training.maximum_updates=4000",
    "training.validation_interval=400",
    "training.metric=word_error_rate",
    "search.length_penalty=0",
)

TRANSLATOR_SETTINGS = (
    "tokenization={joint: true, source: {kind: space}, target: {kind: space}}",
    "batching.tokens=2048",
    "model.embedding.size=64",
    "model.encoder.layers=2",
    "model.decoder.layers=2",
    "training.learning_rate=0.004",
    "training.schedule=linear",
    "training.cooldown=0",
    "training.warmup=200",
    "training.maximum_updates=700",
    "training.validation_interval=175",
    "training.metric=exact_match",
)

TASKS: dict[str, Callable[[int], Task]] = {
    "pronouncer": pronouncer,
    "translator": translator,
    "captioner": captioner,
}
#: What is trained at the same time, a core each: of each lane one after the other.
LANES = (("pronouncer",), ("translator", "captioner"))
