"""Caption metrics beside their papers' equations, on captions of random words and of scenes."""

import random
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.scenes import generate_scenes, scene_text
from regard.evaluation.captions import (
    Captions,
    CiderD,
    DocumentFrequencies,
    bleu_scores,
    caption_tokens,
    cider_d_score,
    rouge_l,
)
from regard.evaluation.captions.matching import count_chunks, match_words
from regard.evaluation.captions.meteor import meteor, pair_counts
from regard.evaluation.captions.words import FUNCTION_WORDS

from . import captions as equations

WORDS = ["a", "the", "dog", "cat", "runs", "red", "small", "on", "grass"]
words = st.lists(st.sampled_from(WORDS), max_size=12)
some_words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12)


def drawn(images=40, seed=4):
    """Captions of random words with two to five references each, some of them empty."""
    generator = random.Random(seed)

    def tokens(least):
        return generator.choices(WORDS[:4], k=generator.randint(least, 14))

    hypotheses = [tokens(0) for _ in range(images)]
    references = [[tokens(1) for _ in range(generator.randint(2, 5))] for _ in range(images)]
    return Captions(hypotheses, references)


def scenes(images=25):
    """Descriptions of scenes; the references of each are those of its neighbours too."""
    texts = [caption_tokens(scene_text(scene, "en")) for scene in generate_scenes(images + 4, 3)]
    return Captions(texts[:images], [texts[at + 1 : at + 5] for at in range(images)])


CORPORA = {"random": drawn(), "scenes": scenes()}


@pytest.mark.parametrize("name", CORPORA)
def test_bleu(name):
    corpus = CORPORA[name]
    for order, score in enumerate(bleu_scores(corpus), start=1):
        wanted = equations.bleu(corpus.hypotheses, corpus.references, order)
        assert score.value == pytest.approx(wanted, abs=1e-9)
        assert 0 < score.value < 100


@pytest.mark.parametrize("name", CORPORA)
def test_cider_d(name):
    corpus = CORPORA[name]
    metric = CiderD(DocumentFrequencies.of(corpus.references))
    values = []
    for index, (caption, accepted) in enumerate(
        zip(corpus.hypotheses, corpus.references, strict=True)
    ):
        wanted = equations.cider_d(index, corpus.hypotheses, corpus.references)
        values.append(metric.score(caption, metric.prepare(accepted)))
        assert values[-1] == pytest.approx(wanted, abs=1e-10)
    assert max(values) > 0.5
    assert cider_d_score(corpus).value == pytest.approx(100 * sum(values) / len(values))


@settings(max_examples=50, deadline=None)
@given(some_words, st.lists(some_words, min_size=1, max_size=4))
def test_rouge_l(caption, references):
    wanted = equations.rouge_l(caption, references)
    assert rouge_l(caption, references) == pytest.approx(wanted, abs=1e-12)


def test_the_exact_matches_of_meteor_are_the_most_there_can_be_in_the_fewest_chunks():
    # words that come twice at most: the beam of 40 then holds every alignment
    captions = sorted(set(permutations(("a", "a", "dog", "the", "cat"))))
    for caption, reference in product(captions[::3], captions[::4]):
        reference = [*reference[:-1], "runs"]
        found = match_words(caption, reference)
        assert len({match.caption for match in found}) == len(found)
        assert len({match.reference for match in found}) == len(found)
        assert all(caption[match.caption] == reference[match.reference] for match in found)
        wanted = equations.best_exact_alignment(caption, reference)
        assert (len(found), count_chunks(found)) == wanted


@settings(max_examples=50, deadline=None)
@given(some_words, some_words)
def test_meteor(caption, reference):
    found = match_words(caption, reference)
    value = meteor(pair_counts(caption, reference))
    if not found or caption == reference:
        assert value == float(caption == reference)
        return
    wanted = equations.meteor(
        caption,
        reference,
        [(match.caption, match.reference, 1.0) for match in found],
        count_chunks(found),
        FUNCTION_WORDS.__contains__,
    )
    assert value == pytest.approx(wanted, abs=1e-12)
