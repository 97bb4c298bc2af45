"""A small task that needs self-attention: the German form of every word of an English scene.

"red" is "roter", "rote", "rotes" or "roten" as the noun that it belongs to and the place of that
noun in the sentence have it, so a word alone does not tell: others must be looked at. Texts and
their word alignments come from the generator of scenes.
"""

from collections import defaultdict
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from regard.data.scenes import generate_scenes, scene_alignments, scene_text

PADDING = 0


@dataclass(frozen=True)
class Forms:
    """Sentences side by side, padded with 0 on the right.

    words: ids of the English words, ``[sentences, positions]``.
    mask: where there is a word.
    forms: ids of the German words; 0 where a word has none, or more than one.
    open: where the English word has several German forms: what the task is about.
    """

    words: Int[Tensor, "sentences positions"]
    mask: Bool[Tensor, "sentences positions"]
    forms: Int[Tensor, "sentences positions"]
    open: Bool[Tensor, "sentences positions"]


@dataclass(frozen=True)
class Task:
    """train, test: different sentences. vocabulary, answers: the words of ids 1, 2, ..."""

    train: Forms
    test: Forms
    vocabulary: tuple[str, ...]
    answers: tuple[str, ...]


def make_task(train: int, test: int, seed: int) -> Task:
    """As many sentences for training and for measuring, all different."""
    scenes = generate_scenes(train + test, seed)
    alignments = scene_alignments(scenes, "en", "de")
    sentences = []
    for scene, alignment in zip(scenes, alignments, strict=True):
        source, target = _words(scene_text(scene, "en")), _words(scene_text(scene, "de"))
        linked: dict[int, list[str]] = defaultdict(list)
        for i, j in sorted(alignment.sure):
            linked[i].append(target[j])
        answers = [linked[i][0] if len(linked[i]) == 1 else "" for i in range(len(source))]
        sentences.append((source, answers))
    vocabulary = tuple(sorted({word for source, _ in sentences for word in source}))
    answers = tuple(sorted({word for _, given in sentences for word in given if word}))
    known: dict[str, set[str]] = defaultdict(set)
    for source, given in sentences:
        for word, answer in zip(source, given, strict=True):
            known[word] |= {answer} - {""}
    several = {word for word, forms in known.items() if len(forms) > 1}
    parts = [
        _forms(part, vocabulary, answers, several)
        for part in (sentences[:train], sentences[train:])
    ]
    return Task(parts[0], parts[1], vocabulary, answers)


def _words(text: str) -> list[str]:
    return [word.strip(".,").lower() for word in text.split()]


def _forms(
    sentences: list[tuple[list[str], list[str]]],
    vocabulary: tuple[str, ...],
    answers: tuple[str, ...],
    several: set[str],
) -> Forms:
    longest = max(len(source) for source, _ in sentences)
    ids = {word: number for number, word in enumerate(vocabulary, start=1)}
    answer_ids = {word: number for number, word in enumerate(answers, start=1)} | {"": PADDING}
    words = torch.zeros(len(sentences), longest, dtype=torch.long)
    forms, open_ = torch.zeros_like(words), torch.zeros_like(words, dtype=torch.bool)
    for row, (source, given) in enumerate(sentences):
        for position, (word, answer) in enumerate(zip(source, given, strict=True)):
            words[row, position] = ids[word]
            forms[row, position] = answer_ids[answer]
            open_[row, position] = word in several and answer != ""
    return Forms(words, words != PADDING, forms, open_)
