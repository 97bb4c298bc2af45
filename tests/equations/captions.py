"""Caption metrics as their papers define them, slowly, in float64."""

import math
from collections import Counter
from itertools import combinations, pairwise

import numpy as np


def ngrams(tokens, order):
    return Counter(tuple(tokens[at : at + order]) for at in range(len(tokens) - order + 1))


def bleu(captions, references, longest):
    """Papineni et al. 2002, section 2: corpus BLEU with clipped precisions, closest lengths."""
    matched, total = np.zeros(longest), np.zeros(longest)
    length = closest = 0
    for caption, accepted in zip(captions, references, strict=True):
        length += len(caption)
        closest += min((abs(len(each) - len(caption)), len(each)) for each in accepted)[1]
        for order in range(1, longest + 1):
            most = Counter()
            for each in accepted:
                most |= ngrams(each, order)
            counts = ngrams(caption, order)
            matched[order - 1] += sum((counts & most).values())
            total[order - 1] += sum(counts.values())
    if not matched.all():
        return 0.0
    penalty = 1.0 if length > closest else math.exp(1 - closest / length)
    return 100 * penalty * math.exp(np.log(matched / total).mean())


def longest_common(first, second):
    table = np.zeros((len(first) + 1, len(second) + 1), dtype=int)
    for i, left in enumerate(first, start=1):
        for j, right in enumerate(second, start=1):
            best = max(table[i - 1, j], table[i, j - 1])
            table[i, j] = table[i - 1, j - 1] + 1 if left == right else best
    return int(table[-1, -1])


def rouge_l(caption, references, beta=1.2):
    """Lin 2004, equations 2 to 4, with the largest recall and precision of any reference."""
    lengths = [longest_common(each, caption) for each in references]
    precision = max(length / len(caption) for length in lengths)
    recall = max(
        length / len(each) for length, each in zip(lengths, references, strict=True) if each
    )
    if not precision:
        return 0.0
    return (1 + beta**2) * recall * precision / (recall + beta**2 * precision)


def cider_d(index, captions, references, sigma=6.0):
    """Vedantam et al. 2015, equations 1 and 3 over dense vectors; counts are not divided."""
    caption, accepted = captions[index], references[index]
    total = 0.0
    for order in (1, 2, 3, 4):
        every = Counter()
        for each in references:
            every.update({gram for tokens in each for gram in ngrams(tokens, order)})
        space = sorted(set(every) | set(ngrams(caption, order)), key=str)

        def vector(tokens, space=space, every=every, order=order):
            counts = ngrams(tokens, order)
            weights = [math.log(len(references) / max(1, every[gram])) for gram in space]
            return np.array([counts[gram] for gram in space]) * np.array(weights)

        given = vector(caption)
        for tokens in accepted:
            other = vector(tokens)
            norm = np.linalg.norm(given) * np.linalg.norm(other)
            penalty = math.exp(-((len(caption) - len(tokens)) ** 2) / (2 * sigma**2))
            if norm:
                total += penalty * (np.minimum(given, other) @ other) / norm
    return 10 * total / 4 / len(accepted)


def best_exact_alignment(caption, reference):
    """(matches, chunks) of the fullest exact alignment with the fewest chunks, by trying all."""
    pairs = [(i, j) for i, a in enumerate(caption) for j, b in enumerate(reference) if a == b]
    for size in range(min(len(caption), len(reference)), 0, -1):
        found = [
            chosen
            for chosen in combinations(pairs, size)
            if len({i for i, _ in chosen}) == size == len({j for _, j in chosen})
        ]
        if found:
            return size, min(chunks(sorted(chosen)) for chosen in found)
    return 0, 0


def chunks(alignment):
    steps = pairwise(alignment)
    return 1 + sum((c - a, d - b) != (1, 1) for (a, b), (c, d) in steps)


def meteor(caption, reference, matches, number_of_chunks, is_function_word):
    """Denkowski and Lavie 2014, section 2, for English.

    matches: (index in the caption, index in the reference, weight).
    """
    alpha, beta, gamma, delta = 0.85, 0.2, 0.6, 0.75

    def weighted(words):
        return sum(1 - delta if is_function_word(word) else delta for word in words)

    precision = sum(w * weighted([caption[i]]) for i, _, w in matches) / weighted(caption)
    recall = sum(w * weighted([reference[j]]) for _, j, w in matches) / weighted(reference)
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    return mean * (1 - gamma * (number_of_chunks / len(matches)) ** beta)
