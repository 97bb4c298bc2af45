"""The best candidates against sorting all of them."""

import math

import pytest
import torch

from regard.errors import UserError
from regard.search.candidates import BLOCK, best_candidates, stable_topk


def by_sorting(rows: torch.Tensor, scores: torch.Tensor, count: int, banned: tuple[int, ...]):
    """(score, parent, token) of the best, per sentence; ties by parent, then token."""
    sentences, width = scores.shape
    vocabulary = rows.shape[1]
    table = rows.view(sentences, width, vocabulary).double() + scores.unsqueeze(-1)
    found = []
    for sentence in table.tolist():
        every = [
            (score, parent, token)
            for parent, row in enumerate(sentence)
            for token, score in enumerate(row)
            if token not in banned and score > -math.inf
        ]
        every.sort(key=lambda one: (-one[0], one[1], one[2]))
        found.append(every[:count])
    return found


@pytest.mark.parametrize("vocabulary", [4, 5, BLOCK - 1, BLOCK, BLOCK + 1, 300, 1000])
@pytest.mark.parametrize(("width", "count"), [(1, 1), (1, 5), (5, 5), (3, 40)])
@pytest.mark.parametrize("ties", [False, True])
def test_equals_sorting(vocabulary: int, width: int, count: int, ties: bool) -> None:
    generator = torch.Generator().manual_seed(vocabulary)
    rows = torch.randn(4 * width, vocabulary, generator=generator)
    scores = torch.randn(4, width, generator=generator, dtype=torch.float64)
    if ties:  # few different values, so that the boundary is nearly always tied
        rows, scores = rows.round(), scores.round()
    scores[1, width // 2 :] = -torch.inf
    rows[0, vocabulary // 2 :] = -torch.inf
    untouched = rows.clone()
    for banned in ((0, 1, 2), (0, 1, 2, 3), (0, vocabulary - 1), ()):
        found = best_candidates(rows, scores, count, banned)
        assert found.scores.shape == (4, count)
        for sentence, expected in enumerate(by_sorting(rows, scores, count, banned)):
            taken = found.viable[sentence]
            assert taken.tolist() == [place < len(expected) for place in range(count)]
            triples = zip(
                found.scores[sentence][taken].tolist(),
                found.parents[sentence][taken].tolist(),
                found.tokens[sentence][taken].tolist(),
                strict=True,
            )
            assert list(triples) == expected
            for gain, (_, parent, token) in zip(
                found.log_probabilities[sentence], expected, strict=False
            ):
                assert gain == rows[sentence * width + parent, token]
    assert torch.equal(rows, untouched), "the decoder's tensor is left alone"


def test_sums_are_float64() -> None:
    """Two candidates that differ by less than float32 can tell at that sum."""
    rows = torch.full((2, 8), -torch.inf)
    rows[0, 4], rows[1, 5] = -1e-6, -2e-6
    scores = torch.tensor([[-100.0, -100.0 + 5e-7]], dtype=torch.float64)
    found = best_candidates(rows, scores, 2, ())
    assert found.scores.dtype == torch.float64
    assert found.tokens.tolist() == [[4, 5]]


def test_a_row_of_a_wider_tensor_is_read_in_place() -> None:
    wide = torch.randn(6, 3, 400)
    scores = torch.zeros(2, 3, dtype=torch.float64)
    sliced = best_candidates(wide[:, -1], scores, 5, (0, 1, 2))
    whole = best_candidates(wide[:, -1].contiguous(), scores, 5, (0, 1, 2))
    assert torch.equal(sliced.tokens, whole.tokens)
    assert torch.equal(sliced.scores, whole.scores)


def test_nan_is_refused_but_not_at_a_banned_id() -> None:
    rows = torch.randn(2, 2 * BLOCK)
    rows[1, 0] = torch.nan
    scores = torch.zeros(1, 2, dtype=torch.float64)
    assert best_candidates(rows, scores, 3, (0, 1, 2)).viable.all()
    rows[1, BLOCK + 7] = torch.nan
    with pytest.raises(UserError, match="not numbers"):
        best_candidates(rows, scores, 3, (0, 1, 2))


def test_stable_topk_takes_the_lower_places() -> None:
    values = torch.tensor([[1.0, 3.0, 3.0, 2.0, 3.0, 3.0], [5.0, 4.0, 3.0, 2.0, 1.0, 0.0]])
    best, places = stable_topk(values, 3)
    assert best.tolist() == [[3.0, 3.0, 3.0], [5.0, 4.0, 3.0]]
    assert places.tolist() == [[1, 2, 4], [0, 1, 2]]
    assert stable_topk(values, 99)[1].tolist() == [[1, 2, 4, 5, 3, 0], [0, 1, 2, 3, 4, 5]]
