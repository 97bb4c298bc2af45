"""What can be copied: slots, sums in them, the mixture; symbols hidden in training."""

import math

import pytest
import torch
from torch import Tensor

from regard.data.batches import Batch
from regard.errors import UserError
from regard.models import ModelConfiguration, build_model
from regard.models.copies import (
    NEVER,
    NOTHING,
    copied_as,
    find_copies,
    log_shares,
    mixture,
    sum_in_slots,
)
from regard.models.pointer_model import SPECIALS, UNKNOWN, PointerModel, joint_table
from regard.search import hypothesis
from regard.training.mixing import mixed_inputs

VOCABULARY = 13
#: Target ids of two sources; 13 and 14 are symbols that no vocabulary knows.
TARGETS = torch.tensor([[5, 13, 5, 14, 13, NEVER], [7, NEVER, NEVER, NEVER, NEVER, NEVER]])


def pointer(**decoder: object) -> PointerModel:
    """A tiny model over one vocabulary, every parameter random."""
    sections = {
        "embedding": {"size": 6},
        "encoder": {"kind": "recurrent", "size": 4},
        "decoder": {
            "kind": "recurrent",
            "size": 6,
            "attend": "after",
            "attention": {"score": "general", "heads": 2, "size": 6},
            "readout": "attentional",
            "copying": True,
            **decoder,
        },
    }
    torch.manual_seed(4)
    model = build_model(ModelConfiguration.model_validate(sections), VOCABULARY, VOCABULARY)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    assert isinstance(model, PointerModel)
    return model.double()


def sources(*rows: list[int]) -> tuple[Tensor, Tensor]:
    """Ids as a batch; a target id from 13 on stands for a symbol never seen."""
    longest = max(map(len, rows))
    ids = [[i if i < VOCABULARY else VOCABULARY + i for i in row] for row in rows]
    source = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
    return source, torch.tensor([[i < len(row) for i in range(longest)] for row in rows])


def test_equal_symbols_share_a_slot() -> None:
    copies = find_copies(TARGETS, VOCABULARY)
    assert copies.width == 15
    assert copies.symbols.tolist() == [[15, 5, 13, 14], [15, 7, 15, 15]]
    assert copies.slots.tolist() == [[1, 2, 1, 3, 2, 0], [1, 0, 0, 0, 0, 0]]
    chosen = copies.select(torch.tensor([1, 1]))
    assert chosen.symbols.tolist() == [[15, 7, 15, 15]] * 2 and chosen.width == 15


def test_a_table_says_what_is_copied_as_what() -> None:
    source = torch.tensor([[4, 6, 8, 10, 4]])
    mask = torch.tensor([[True, True, True, True, False]])
    table = torch.tensor([NEVER, NEVER, NEVER, NEVER, 9, 8, 7])
    assert copied_as(source, mask, table).tolist() == [[9, 7, 1, 3, NEVER]]


def test_a_joint_vocabulary_is_its_own_table() -> None:
    """Specials and features are never copied; they are those of search and of data."""
    assert joint_table(8, 6, 2) == [NEVER] * 4 + [4, 5] + [NEVER] * 2
    first = (hypothesis.PAD, hypothesis.UNKNOWN, hypothesis.START, hypothesis.END)
    assert first == tuple(range(SPECIALS))
    assert UNKNOWN == hypothesis.UNKNOWN
    with pytest.raises(ValueError, match="table"):
        joint_table(8, 9, 0)


def test_sums_are_those_of_each_slot() -> None:
    """Far apart too: what is added up in one slot does not depend on the others."""
    logarithms = torch.tensor([[[0.1, -300.0, -2.0, -math.inf, -301.0, -math.inf]]])
    sums = sum_in_slots(logarithms, find_copies(TARGETS[:1], VOCABULARY).slots, 5)[0, 0]
    expected = [math.log(math.exp(0.1) + math.exp(-2.0)), -300 + math.log(1 + math.exp(-1))]
    torch.testing.assert_close(sums[1:3], torch.tensor(expected))
    assert sums[0] == sums[3] == NOTHING and sums[4] <= NOTHING / 2


def test_gradients_of_the_sums() -> None:
    """Those of logsumexp; none where nothing is, and never NaN."""
    torch.manual_seed(1)
    logarithms = torch.randn(2, 3, 6, dtype=torch.float64)
    logarithms[:, :, 5] = -math.inf
    logarithms.requires_grad_()
    slots = find_copies(TARGETS, VOCABULARY).slots
    sums = sum_in_slots(logarithms, slots, 4)
    some = torch.stack([sums[0, :, 1], sums[0, :, 3], sums[1, :, 0]]).sum() + 0 * sums.sum()
    (found,) = torch.autograd.grad(some, logarithms)
    parts = (logarithms[0][:, [0, 2]], logarithms[0][:, [3]], logarithms[1][:, 1:5])
    (expected,) = torch.autograd.grad(sum(part.logsumexp(-1).sum() for part in parts), logarithms)
    torch.testing.assert_close(found, expected)


def test_the_shares_add_up_to_one() -> None:
    copies = find_copies(TARGETS, VOCABULARY)
    log_weights = torch.randn(2, 3, 6).log_softmax(-1)
    for gate in (-90.0, 0.3, 90.0):
        generate, copied = log_shares(log_weights, torch.full((2, 3), gate), copies)
        total = generate.exp() + copied.exp().sum(-1)
        torch.testing.assert_close(total, torch.ones(2, 3))
        log_p = torch.randn(2, 3, VOCABULARY).log_softmax(-1)
        mixed = mixture(log_p, generate, copied, copies)
        assert mixed.shape == (2, 3, 15)
        torch.testing.assert_close(mixed.exp().sum(-1), torch.ones(2, 3))
        assert (mixed[1, :, VOCABULARY:] == -math.inf).all() and mixed[0].isfinite().all()


def test_nothing_to_copy_is_written() -> None:
    """Sources of features, or of the end alone."""
    copies = find_copies(torch.full((1, 2), NEVER), VOCABULARY)
    log_p = torch.randn(1, 1, VOCABULARY).log_softmax(-1)
    log_weights = torch.tensor([[[0.25, 0.75]]]).log()
    shares = log_shares(log_weights, torch.full((1, 1), -3.0), copies)
    torch.testing.assert_close(mixture(log_p, *shares, copies), log_p)


@torch.no_grad()
def test_a_sentence_alone_is_a_sentence_in_a_batch() -> None:
    """Symbols that others of the batch hold make it wider, and change nothing else."""
    model = pointer().eval()
    source, mask = sources([5, 13, 6, 14, 13, 3], [7, 13, 3], [8, 3])
    inputs = torch.tensor([[2, 13, 14, 6], [2, 13, 5, 5], [2, 9, 9, 9]])
    together = model(source, mask, inputs).log_probabilities
    assert together.shape[2] == 15
    for row, (length, open_symbols) in enumerate(((6, 2), (3, 1), (2, 0))):
        one = slice(row, row + 1)
        alone = model(source[one, :length], mask[one, :length], inputs[one]).log_probabilities
        width = VOCABULARY + open_symbols
        torch.testing.assert_close(alone, together[one, :, :width], rtol=0, atol=1e-10)
        assert (together[row, :, width:] == -math.inf).all()


@torch.no_grad()
def test_unseen_symbols_are_read_as_unknown() -> None:
    """Which they are matters for where they are copied to alone."""
    model = pointer().eval()
    inputs = torch.tensor([[2, 13, 6, 14]])
    one = model(*sources([5, 13, 6, 14, 3]), inputs).log_probabilities
    other = model(*sources([5, 14, 6, 13, 3]), inputs).log_probabilities
    assert torch.equal(one[..., :VOCABULARY], other[..., :VOCABULARY])
    assert torch.equal(one[..., 13], other[..., 14]) and not torch.equal(one, other)


def test_a_hidden_symbol_is_read_as_unknown_and_copied_alone() -> None:
    """Hidden, a symbol costs what one that was never seen costs; the specials are never hidden."""
    model = pointer(copying_unseen=0.999, dropout=0.0)
    model.encoder.dropout = model.dropout = 0.0
    mask = torch.ones(1, 4, dtype=torch.bool)
    hidden = model.train().token_losses(
        *sources([5, 6, 5, 3]), *(torch.tensor([row]) for row in ([2, 6, 5, 8], [6, 5, 8, 3])), mask
    )
    unseen = model.eval().token_losses(
        *sources([13, 14, 13, 3]),
        *(torch.tensor([row]) for row in ([2, 14, 13, 8], [14, 13, 8, 3])),
        mask,
    )
    torch.testing.assert_close(hidden.negative_log_likelihood, unseen.negative_log_likelihood)


def test_only_some_symbols_are_hidden_and_only_in_training() -> None:
    model = pointer(copying_unseen=0.3, dropout=0.0)
    model.encoder.dropout = model.dropout = 0.0
    source, mask = sources([5, 6, 7, 8, 9, 3])
    rows = [torch.tensor([row]) for row in ([2, 5, 6, 7, 8, 9], [5, 6, 7, 8, 9, 3])]

    def cost() -> Tensor:
        return model.token_losses(source, mask, *rows, mask).negative_log_likelihood

    model.train()
    drawn = torch.stack([cost() for _ in range(40)])
    assert len(drawn.unique(dim=0)) > 5
    plain = model.eval().token_losses(source, mask, *rows, mask).negative_log_likelihood
    assert torch.equal(plain, cost())
    assert (drawn == plain).all(dim=1).any()  # none hidden: 0.7 to the 5th of the time


def test_own_predictions_may_be_symbols_never_seen() -> None:
    """In place of gold tokens, where both are mixed: read as unknown, like gold ones."""
    model = pointer().eval()
    torch.nn.init.constant_(model.decoder.generation_gate.linear.bias, -50.0)
    source, mask = sources([13, 14, 13], [14, 13, 3])
    gold = torch.tensor([[2, 5, 6], [2, 5, 6]])
    given = Batch(source, mask, gold, gold, gold > 0, [0, 1])
    mixed = mixed_inputs(model, given, 0.0)
    assert (mixed[0, 1:] >= VOCABULARY).all()
    losses = model.token_losses(source, mask, mixed, gold, gold > 0)
    assert losses.negative_log_likelihood.isfinite().all()


REFUSED = [
    ({"attend": "never", "constant_context": True, "readout": "maxout"}, "copying needs attention"),
    ({"attention": {"score": "general", "select": "sparsemax"}}, "reaches every symbol"),
    ({"attention": {"score": "general", "local": "monotonic"}}, "reaches every symbol"),
    ({"copying": False, "copying_unseen": 0.1}, "for a decoder with copying"),
]


@pytest.mark.parametrize(("decoder", "message"), REFUSED)
def test_what_cannot_copy(decoder: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pointer(**decoder)


def test_two_vocabularies_need_a_table() -> None:
    chosen = ModelConfiguration.model_validate(
        {"decoder": {"kind": "transformer", "copying": True, "heads": 4}}
    )
    with pytest.raises(UserError, match="needs a table"):
        build_model(chosen, 20, 21)
    assert isinstance(build_model(chosen, 6, 9, copies=[NEVER] * 4 + [5, 8]), PointerModel)
