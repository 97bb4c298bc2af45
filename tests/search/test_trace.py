"""Reading hypotheses back from what each step kept."""

import torch

from regard.search.trace import Ends, Shown, Trace


def test_follows_parents_while_sentences_leave() -> None:
    """Two sentences, two places; sentence 0 leaves after the first step, 1 crosses its places."""
    trace = Trace(2)
    sentences = torch.tensor([0, 1])
    trace.append(
        sentences,
        torch.tensor([[4, 5], [6, 7]]),
        torch.zeros(2, 2, dtype=torch.long),
        torch.tensor([[-0.1, -0.2], [-0.3, -0.4]]),
        Shown(
            torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
            torch.tensor([[1.0, 2.0], [3.0, 3.5]]),
        ),
    )
    rest = sentences[1:]
    trace.append(
        rest,
        torch.tensor([[8, 9]]),
        torch.tensor([[1, 0]]),
        torch.tensor([[-0.5, -0.6]]),
        Shown(
            torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]),
            torch.tensor([[5.0, 5.25], [2.0, 2.5]]),
        ),
    )
    ends = Ends(
        sentences=torch.tensor([1, 0, 1]),
        steps=torch.tensor([2, 1, 2]),
        places=torch.tensor([0, 1, 1]),
        scores=torch.tensor([-0.9, -0.2, -0.9], dtype=torch.float64),
        ended=torch.tensor([True, False, True]),
    )
    one, two, three = trace.hypotheses(ends, torch.tensor([2, 3]), 1.0)
    assert one.tokens == (7, 8)
    assert two.tokens == (5,)
    assert three.tokens == (6, 9)
    assert torch.equal(torch.tensor(one.log_probabilities), torch.tensor([-0.4, -0.5]))
    assert one.normalized_score == -0.45
    assert torch.equal(one.attention, torch.tensor([[0.0, 1.0, 0.0], [0.6, 0.4, 0.0]]))
    assert torch.equal(two.attention, torch.tensor([[1.0, 0.0]]))
    assert torch.equal(three.attention, torch.tensor([[0.0, 1.0, 0.0], [0.2, 0.3, 0.5]]))
    assert torch.equal(one.pondering, torch.tensor([[3.0, 3.5], [2.0, 2.5]]))
    assert torch.equal(two.pondering, torch.tensor([[1.0, 2.0]]))
    assert torch.equal(three.pondering, torch.tensor([[3.0, 3.5], [5.0, 5.25]]))
    assert not two.ended


def test_attention_owns_its_memory() -> None:
    """One kept hypothesis must not keep the whole batch alive."""
    trace = Trace(1)
    sentences = torch.tensor([0])
    for _ in range(3):
        column = torch.tensor([[4]])
        trace.append(sentences, column, column * 0, column.float(), Shown(torch.ones(1, 50)))
    ends = Ends(sentences, torch.tensor([2]), sentences * 0, torch.zeros(1), torch.tensor([True]))
    (found,) = trace.hypotheses(ends, torch.tensor([5]), 0.0)
    assert found.attention.shape == (2, 5)
    assert found.attention.untyped_storage().nbytes() == 2 * 5 * 4
